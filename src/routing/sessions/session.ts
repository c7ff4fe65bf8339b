// One session, without any state: which conversation a request belongs to, its open tool loop, and the turn that an
// answer leaves. `gateway/sessions` remembers turns. Behaviour 5.20, 5.21.

import { type ChatMessage, type ChatRequest, promptTokens, toolCallIds, type Usage } from "../../core/chat.ts";
import { type Decision, effortOf } from "../../core/decision.ts";
import type { HostedModel } from "../../core/model.ts";
import { type CachedPrefix, type SeenPrefix, type SessionTurn, UNNAMED } from "../../core/session.ts";
import { askBefore, isAsk } from "../ask.ts";
import { charsUpTo, hashEnd, hashLasting, type Opening, type Prefixes, type TextHash, threadOf } from "./prefix.ts";

/** Facts of a request about its conversation. */
export interface SessionFacts {
  readonly accountId: string;
  /** `service_session`. */
  readonly named: string | null;
  readonly headers: BodyFields;
  /** The body as the client sent it. */
  readonly body: BodyFields;
  /** Read where nothing else names it, with the earlier turns of a response that it continues. */
  readonly opening: () => Opening;
}

type BodyFields = Readonly<Record<string, unknown>>;

/** Headers in which clients name a session. */
const HEADERS = ["session_id", "x-session-id"] as const;

/** The first name that a request has; null where it has none. A response id is none: it changes with every turn. */
export function namedSession({ named, headers, body }: SessionFacts): string | null {
  return (
    named ??
    textOf(headers[HEADERS[0]]) ??
    textOf(headers[HEADERS[1]]) ??
    textOf(body.prompt_cache_key) ??
    anthropicSession(body.metadata) ??
    conversationOf(body.conversation)
  );
}

/** By its name, or by how it began: instructions and first human message stay as they are while a conversation grows. */
export function sessionOf(facts: SessionFacts): string {
  return `${facts.accountId}\n${namedSession(facts) ?? fingerprint(facts.opening())}`;
}

function fingerprint({ instructions, human }: Opening): string {
  return `#${instructions >>> 0}.${human >>> 0}`;
}

function isObject(value: unknown): value is BodyFields {
  return typeof value === "object" && value !== null;
}

function textOf(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

/** Claude Code writes `user_…_account_…_session_…`, newer versions a JSON object with `session_id`. */
function anthropicSession(metadata: unknown): string | null {
  const userId = isObject(metadata) ? textOf(metadata.user_id) : null;
  return /(?:_session_|"session_id"\s*:\s*")([\w-]+)/.exec(userId ?? "")?.[1] ?? null;
}

/** The Responses API names a conversation by its id, or by an object that has it. */
function conversationOf(conversation: unknown): string | null {
  return textOf(isObject(conversation) ? conversation.id : conversation);
}

/** The messages that an open loop was opened with: everything before its first call. Null when no loop is open. */
export function openingOf(messages: readonly ChatMessage[]): readonly ChatMessage[] | null {
  if (openCallIds(messages).length === 0) return null;
  const askedAt = askBefore(messages, messages.length)?.index ?? -1;
  const calledAt = messages.findIndex(({ role }, index) => index > askedAt && role === "assistant");
  return calledAt > 0 ? messages.slice(0, calledAt) : null;
}

const NONE: readonly never[] = [];

/** A loop is open while results are all that came since the call: notes of client programs may stand among them, but no new ask. */
export function openCallIds(messages: readonly ChatMessage[]): readonly string[] {
  let hasResult = false;
  for (let at = messages.length - 1; at >= 0; at--) {
    const message = messages[at] as ChatMessage;
    if (message.role === "assistant") return hasResult ? toolCallIds(message) : NONE;
    if (isAsk(message)) return NONE;
    hasResult ||= message.role === "tool";
  }
  return NONE;
}

/** Tells whether a conversation has begun to go back and forth. */
export function isContinued(messages: readonly ChatMessage[]): boolean {
  return messages.some(({ role }) => role === "assistant");
}

/** The first letter of the id of a session that a client has named. */
export const NAMED = "s";

/** Tells conversations apart that begin alike; undefined for a session with a name, and before the first answer. */
export function threadIn(id: string, messages: readonly ChatMessage[], hashText: TextHash): number | undefined {
  return id.startsWith(UNNAMED) ? threadOf(messages, hashText) : undefined;
}

/** The turn without its escalation where that belongs to another conversation of the thread. */
export function withOwnEvidence(turn: SessionTurn, messages: readonly ChatMessage[], hashText: TextHash): SessionTurn {
  const { end, escalation } = turn;
  if (end === undefined || escalation === 0) return turn;
  // It stands near the end.
  const isOwn = messages.findLastIndex((message) => hashLasting(message, hashText) === end) >= 0;
  return isOwn ? turn : { ...turn, escalation: 0 };
}

/** An answered request, and the session it belongs to. */
export interface AnsweredTurn {
  readonly id: string;
  readonly thread: number | undefined;
  /** The turns before. */
  readonly turns: readonly SessionTurn[];
  readonly chat: ChatRequest;
  readonly decision: Decision;
  readonly model: HostedModel;
  readonly keyId: string | undefined;
  readonly usage: Usage | null;
  /** The names of its tool calls, and of its response where that can be continued. */
  readonly calls: readonly number[];
  readonly response: string | null;
  /** The prompt that was cached. */
  readonly prompt: CachedPrompt;
  readonly app: number;
  readonly nowMs: number;
}

/** A prompt, and what of it was cached when it was sent. Both are read only where the host caches. */
interface CachedPrompt {
  prefixes(): Prefixes;
  cached(): readonly CachedPrefix[];
}

export function turnOf(answered: AnsweredTurn, hashText: TextHash): SessionTurn {
  const { id, thread, turns, chat, decision, model, keyId, usage, calls, response, nowMs } = answered;
  const tokens = usage === null ? decision.estimatedTokens.input : promptTokens(usage.buckets);
  const escalation = decision.session?.escalation ?? 0;
  const { prefixes, trust, share, isSteady } = cacheOf(answered, tokens);
  const turn: { -readonly [Name in keyof SessionTurn]: SessionTurn[Name] } = {
    session: id,
    model: model.id,
    hostKey: model.hostKey,
    keyId: keyId ?? null,
    tier: decision.tier,
    promptTokens: tokens,
    cachedTokens: usage?.buckets.cacheRead ?? 0,
    atMs: nowMs,
    escalation,
    task: decision.session?.task ?? turns[0]?.task ?? 0,
    prefixes,
    trust,
    calls,
    response,
    app: answered.app,
    number: (turns[0]?.number ?? 0) + 1,
    gaps: gapsOf(turns[0], nowMs),
    output: usage?.buckets.output ?? 0,
    thought: Math.min(usage?.reasoning ?? 0, usage?.buckets.output ?? 0),
  };
  if (share !== undefined) turn.share = share;
  if (isSteady !== undefined) turn.isSteady = isSteady;
  const effort = effortOf(decision, model.id);
  if (effort !== null) turn.effort = effort;
  if (thread !== undefined) turn.thread = thread;
  if (escalation > 0 && !id.startsWith(NAMED)) turn.end = hashEnd(chat.messages, hashText);
  return turn;
}

const GAPS_MAX = 4;

function gapsOf(last: SessionTurn | undefined, nowMs: number): readonly number[] {
  return last === undefined ? [] : [...(last.gaps ?? []), Math.round((nowMs - last.atMs) / 1000)].slice(-GAPS_MAX);
}

const NO_PREFIXES: readonly SeenPrefix[] = [];

/** The prefixes that the host has now seen, and how far its counts bore out what was expected of its cache. */
function cacheOf(
  { chat, model, keyId, usage, turns, prompt, nowMs }: AnsweredTurn,
  tokens: number,
): Pick<SessionTurn, "prefixes" | "trust" | "share" | "isSteady"> {
  const { cache } = model;
  const trusted = turns[0]?.hostKey === model.hostKey ? turns[0].trust : 1;
  if (cache === undefined || tokens < cache.tokensMin) return { prefixes: NO_PREFIXES, trust: trusted };
  const cached = prompt.cached();
  const expected = cached.find(({ hostKey, keyId: key }) => hostKey === model.hostKey && key === (keyId ?? null));
  const isAlive = expected !== undefined && nowMs - expected.atMs < cache.seconds * 1000;
  const isProven = isAlive && usage !== null && expected.tokens >= cache.tokensMin;
  const share = isProven ? Math.min(1, usage.buckets.cacheRead / Math.min(expected.tokens, tokens)) : 0;
  const trust = isProven ? (expected.trust + share) / 2 : (expected?.trust ?? trusted);
  // Some host has seen the conversation before, unless its beginning changes.
  const isTelling = isContinued(chat.messages) && (turns[0] === undefined || turns[0].prefixes.length > 0);
  const isSteady = isTelling ? { isSteady: cached.length > 0 } : {};
  const kept = cache.isExplicit === true ? (usage?.buckets.cacheRead ?? 0) + (usage?.buckets.cacheWrite ?? 0) : tokens;
  const seen = seenPrefixes(chat, prompt.prefixes(), { tokens, kept });
  return { prefixes: seen, trust, ...(isProven ? { share } : {}), ...isSteady };
}

/** The whole prompt, the prompt without its last message, which clients may rewrite, and the instructions. */
function seenPrefixes(
  chat: ChatRequest,
  { first, length, instructions, hashAt }: Prefixes,
  { tokens, kept }: { readonly tokens: number; readonly kept: number },
): readonly SeenPrefix[] {
  if (length === first) return NO_PREFIXES;
  const chars = charsUpTo(chat, length);
  const seenUpTo = (place: number, hash: number): SeenPrefix => ({
    hash,
    tokens: Math.min(Math.round((tokens * charsUpTo(chat, place)) / chars), kept),
  });
  const seen = [seenUpTo(length, hashAt(length))];
  if (length - 1 > first) seen.push(seenUpTo(length - 1, hashAt(length - 1)));
  if (instructions !== null) seen.push(seenUpTo(first, instructions));
  return seen;
}

/**
 * Tells whether other processes should know a turn. A short request that nobody named and nothing follows is not worth
 * a write.
 */
export function isWorthSharing(turn: SessionTurn, isKnown: boolean, messages: readonly ChatMessage[]): boolean {
  if (turn.session.startsWith(NAMED) || turn.prefixes.length > 0 || turn.calls.length > 0) return true;
  return isKnown || turn.response !== null || isContinued(messages);
}
