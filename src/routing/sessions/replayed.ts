// Sessions in a replay of past requests: what each turn would have left in the caches of its host. A session that began
// before the first request of the replay starts with what its decision counted as cached.

import type { Catalog } from "../../catalog/catalog.ts";
import { promptTokens } from "../../core/chat.ts";
import type { HostedModel } from "../../core/model.ts";
import type { PastRequest } from "../../core/requests/log.ts";
import type { CachedPrefix, SessionTurn, SessionView } from "../../core/session.ts";
import type { Tier } from "../../core/tiers.ts";

/** Fed with the requests in the order of their times. */
export class ReplayedSessions {
  readonly #turns = new Map<string, SessionTurn>();
  /** By session, then by route. */
  readonly #cached = new Map<string, Map<string, CachedPrefix>>();

  /** Null for a request that was decided without a session. */
  viewOf(past: PastRequest, catalog: Catalog): SessionView | null {
    const { session } = past.decision;
    if (session === undefined) return null;
    if (!this.#cached.has(session.id)) this.#cached.set(session.id, firstCached(past, catalog));
    const cached = [...(this.#cached.get(session.id)?.values() ?? [])];
    return { id: session.id, last: this.#turns.get(session.id) ?? null, loop: null, cached, nowMs: past.atMs };
  }

  /** The request went to this model and host. */
  note(past: PastRequest, host: HostedModel, tier: Tier): void {
    const { session } = past.decision;
    if (session === undefined) return;
    const tokens = sentTokens(past);
    const prefix = { session: session.id, route: host.route, keyId: null, tokens, trust: 1, atMs: past.atMs };
    if (host.cache !== undefined) this.#cached.get(session.id)?.set(host.route, prefix);
    this.#turns.set(session.id, {
      session: session.id,
      model: host.id,
      route: host.route,
      keyId: null,
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
    });
  }
}

function sentTokens({ answer, decision }: PastRequest): number {
  return answer === null ? decision.estimatedTokens.input : promptTokens(answer.buckets);
}

function firstCached({ decision, atMs }: PastRequest, catalog: Catalog): Map<string, CachedPrefix> {
  const { session, model, hosts } = decision;
  const known = catalog.models.get(model)?.hosts ?? [];
  const host = known.find((each) => each.host === hosts?.[model]?.[0]) ?? known[0];
  if (session === undefined || session.cachedTokens === 0 || host === undefined) return new Map();
  const { id, cachedTokens: tokens } = session;
  return new Map([[host.route, { session: id, route: host.route, keyId: null, tokens, trust: 1, atMs }]]);
}
