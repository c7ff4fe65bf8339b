// Sessions in a replay of past requests: what each turn would have left in the caches of its host. A session that began
// before the first request of the replay starts with what its decision counted as cached.

import type { Catalog } from "../../catalog/catalog.ts";
import { promptTokens } from "../../core/chat.ts";
import type { HostedModel } from "../../core/model.ts";
import type { PastRequest } from "../../core/requests/log.ts";
import {
  type CachedPrefix,
  type DecidedSession,
  type SessionTurn,
  type SessionView,
  turnKey,
  UNNAMED,
} from "../../core/session.ts";
import type { Tier } from "../../core/tiers.ts";

/** The destination of a request. `catalog`: the one in use. */
interface Routed {
  readonly host: HostedModel;
  readonly keyId: string | null;
  readonly tier: Tier;
  readonly catalog: Catalog;
}

/** The knowledge of one conversation. */
interface ReplayedThread {
  readonly last: SessionTurn | null;
  /** By host key. */
  readonly cached: ReadonlyMap<string, CachedPrefix>;
}

/** Fed with the requests in the order of their times. */
export class ReplayedSessions {
  /** By session and thread, as in the memory of live ones. */
  readonly #threads = new Map<string, ReplayedThread>();

  /** Returns null for a request that was decided without a session. */
  viewOf(past: PastRequest, catalog: Catalog): SessionView | null {
    const { session } = past.decision;
    if (session === undefined) return null;
    const { last, cached } = this.#threadOf(past) ?? { last: null, cached: firstCached(past, catalog) };
    const loop = session.isLoop === true ? last : null;
    return { id: session.id, last, loop, cached: [...cached.values()], nowMs: past.atMs };
  }

  /** Tells whether an earlier turn of its conversation was replayed. */
  knows(past: PastRequest): boolean {
    return this.#threadOf(past) !== undefined;
  }

  /** A conversation that nobody named begins in the session's first turn, and is known by itself from the first answer on. */
  #threadOf(past: PastRequest): ReplayedThread | undefined {
    const { session } = past.decision;
    if (session === undefined || isLost(past, session)) return undefined;
    return this.#threads.get(turnKey(threadName(session))) ?? this.#threads.get(session.id);
  }

  /** The request went to this model and host. */
  note(past: PastRequest, { host, keyId, tier, catalog }: Routed): void {
    const { session } = past.decision;
    if (session === undefined || isLost(past, session)) return;
    const tokens = sentTokens(past);
    const cached = new Map(this.#threadOf(past)?.cached ?? firstCached(past, catalog));
    const prefix = { session: session.id, hostKey: host.hostKey, keyId, tokens, trust: 1, atMs: past.atMs };
    if (host.cache !== undefined) cached.set(host.hostKey, prefix);
    const last: SessionTurn = {
      ...threadName(session),
      model: host.id,
      hostKey: host.hostKey,
      keyId,
      tier,
      promptTokens: tokens,
      cachedTokens: 0,
      atMs: past.atMs,
      escalation: session.escalation,
      task: session.task,
      prefixes: [],
      trust: 1,
      calls: [],
      response: null,
    };
    this.#threads.set(turnKey(last), { last, cached });
  }
}

/** Records of earlier versions do not say which of the conversations that begin alike a later turn belongs to. */
function isLost({ features }: PastRequest, { id, thread }: DecidedSession): boolean {
  return thread === undefined && id.startsWith(UNNAMED) && isLaterTurn(features);
}

/** Tells whether the prompt has an answer in it. */
export function isLaterTurn(features: PastRequest["features"]): boolean {
  return (features?.otherChars ?? 0) + (features?.toolCalls ?? 0) > 0;
}

function threadName({ id, thread }: DecidedSession): Pick<SessionTurn, "session" | "thread"> {
  return thread === undefined ? { session: id } : { session: id, thread };
}

function sentTokens({ answer, decision }: PastRequest): number {
  return answer === null ? decision.estimatedTokens.input : promptTokens(answer.buckets);
}

function firstCached({ decision, atMs }: PastRequest, catalog: Catalog): Map<string, CachedPrefix> {
  const { session, model, hosts } = decision;
  const known = catalog.models.get(model)?.hosts ?? [];
  const host = known.find((each) => each.host === hosts?.[model]?.[0]) ?? known[0];
  if (session === undefined || session.cachedTokens === 0 || host === undefined) return new Map();
  const { id, cachedTokens: tokens, keyId } = session;
  return new Map([[host.hostKey, { session: id, hostKey: host.hostKey, keyId, tokens, trust: 1, atMs }]]);
}
