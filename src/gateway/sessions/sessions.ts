// Sessions of requests: which one a request belongs to, what is known of it, and what is remembered when it was answered.
// Behaviour 5.20, 5.21.

import { hash } from "node:crypto";
import { type ChatRequest, promptTokens, type Usage } from "../../core/chat.ts";
import type { Decision } from "../../core/decision.ts";
import type { HostedModel } from "../../core/model.ts";
import { type CachedPrefix, type SeenPrefix, type SessionTurn, type SessionView, UNNAMED } from "../../core/session.ts";
import { namedSession, type SessionFacts, sessionOf } from "../../routing/session.ts";
import {
  charsUpTo,
  hashEnd,
  hashLasting,
  type Opening,
  type Prefixes,
  prefixesOf,
  type ReadPrompt,
  readOpening,
  threadOf,
} from "../../routing/sessions/prefix.ts";
import type { Call } from "../call.ts";
import { callNames, openCallNames } from "./loops.ts";
import { Generations, isContinued, type SessionMemory } from "./memory.ts";
import { createTextHash, hashText } from "./texts.ts";

type AskingCall = Pick<Call, "request" | "caller" | "headers" | "prompt">;

/** What the last step knows of an answered call. */
interface AnsweredTurn {
  readonly call: Call;
  readonly decision: Decision;
  readonly model: HostedModel;
  readonly keyId: string | undefined;
  readonly usage: Usage | null;
  readonly toolCallIds: readonly string[];
}

export interface RoutingSessions {
  /** Null where sessions are switched off. */
  view(call: AskingCall): SessionView | null;
  /** The model that made the calls whose results a request brings; null where none is known. */
  loopModel(call: AskingCall): string | null;
  note(turn: AnsweredTurn): void;
}

export interface SessionsOptions {
  readonly memory: SessionMemory;
  /** Off, each request is decided for itself, and only tool loops stay. */
  readonly isOn: boolean;
  readonly now: () => number;
  /** Told of turns that other processes, and this one after a restart, should know. */
  readonly share: (turn: SessionTurn) => void;
}

export function createSessions({ memory, isOn, now, share }: SessionsOptions): RoutingSessions {
  const prompts = createPrompts();
  const digest = createDigest();
  const idOf = (call: AskingCall): string => sessionId(call, { memory, digest, opening: () => prompts.opening(call) });
  // Some hosts count their calls from zero in every conversation: the session's own turn comes before others with the same ids.
  const loopOf = ({ request, caller }: AskingCall, own: SessionTurn | null): SessionTurn | null => {
    const names = openCallNames(caller.key.accountId, request.chat.messages);
    if (names.length === 0) return null;
    return own?.calls.some((call) => names.includes(call)) === true ? own : memory.turnOfCalls(names);
  };
  return {
    view(call) {
      if (!isOn) return null;
      const id = idOf(call);
      const thread = threadIn(id, call);
      const turns = turnsOf(id, thread, memory);
      const own = turns[0] ?? null;
      const loop = loopOf(call, own);
      const cached = isCacheable(call) ? memory.cached(prompts.prefixes(call), turns) : NONE;
      const newest = loop?.session === id ? loop : (own ?? loop);
      const last = newest === null ? null : withOwnEvidence(newest, call);
      return thread === undefined
        ? { id, last, loop, cached, nowMs: now() }
        : { id, thread, last, loop, cached, nowMs: now() };
    },
    loopModel: (call) => loopOf(call, null)?.model ?? null,
    note(answered) {
      const { call } = answered;
      const id = answered.decision.session?.id ?? idOf(call);
      const turns = turnsOf(id, threadIn(id, call), memory);
      const prefixes = isOn ? () => prompts.prefixes(call) : null;
      const turn = turnOf(answered, { id, turns, memory, prefixes, nowMs: now() });
      memory.learn(turn);
      if (isWorthSharing(turn, turns.length > 0, call)) share(turn);
    },
  };
}

/** Conversations that nobody named may begin alike: the turns of this one, or else those without an answer yet. */
function turnsOf(id: string, thread: number | undefined, memory: SessionMemory): readonly SessionTurn[] {
  const own = thread === undefined ? NO_TURNS : memory.turns(id, thread);
  return own.length > 0 ? own : memory.turns(id);
}

const NO_TURNS: readonly SessionTurn[] = [];

function threadIn(id: string, { request }: AskingCall): number | undefined {
  return id.startsWith(UNNAMED) ? threadOf(request.chat.messages, hashText) : undefined;
}

/** Another conversation of the thread may have been raised, not this one. */
function withOwnEvidence(turn: SessionTurn, { request: { chat } }: AskingCall): SessionTurn {
  const { end, escalation } = turn;
  if (end === undefined || escalation === 0) return turn;
  return chat.messages.some((message) => hashLasting(message, hashText) === end) ? turn : { ...turn, escalation: 0 };
}

const NONE: readonly CachedPrefix[] = [];

/** Below this many bytes no host caches a prompt. */
const CACHEABLE_BYTES = 3_000;

function isCacheable({ request: { source } }: AskingCall): boolean {
  return source.bytes.length >= CACHEABLE_BYTES;
}

interface Prompts {
  opening(call: AskingCall): Opening;
  prefixes(call: AskingCall): Prefixes;
}

/**
 * Each prompt is hashed once. It is kept with its call: from a WeakMap, the young collection would take it for alive, and
 * the messages with it, so every long request would be copied twice (17 November 2026).
 */
function createPrompts(): Prompts {
  const hashOnce = createTextHash();
  const read = (call: AskingCall): ReadPrompt => {
    call.prompt ??= { opening: readOpening(call.request.chat.messages, hashOnce), prefixes: null };
    return call.prompt;
  };
  return {
    opening: (call) => read(call).opening,
    prefixes(call) {
      const { request, caller } = call;
      const prompt = read(call);
      prompt.prefixes ??= prefixesOf(request.chat, caller.key.accountId, prompt.opening);
      return prompt.prefixes;
    },
  };
}

const ID_CHARS = 20;
const NAMED = "s";

interface Identification extends Pick<SessionFacts, "opening"> {
  readonly memory: SessionMemory;
  readonly digest: (text: string) => string;
}

/** The first that a request has: a name, the response that it continues, its beginning. */
function sessionId(call: AskingCall, { memory, digest, opening }: Identification): string {
  const facts = factsOf(call, opening);
  const named = namedSession(facts);
  if (named !== null) return NAMED + digest(`${facts.accountId}\n${named}`);
  const previous = call.request.body.previous_response_id;
  const continued =
    typeof previous === "string" ? memory.sessionOfResponse(responseName(facts.accountId, previous)) : null;
  return continued ?? UNNAMED + digest(sessionOf(facts));
}

/** Which conversation a call belongs to, for choosing among equal keys and hosts where sessions are off. */
export function conversationOf(call: AskingCall): string {
  return sessionOf(factsOf(call, () => readOpening(call.request.chat.messages, hashText)));
}

function factsOf({ request, caller, headers = {} }: AskingCall, opening: SessionFacts["opening"]): SessionFacts {
  const { controls, body } = request;
  return { accountId: caller.key.accountId, named: controls.session, headers, body, opening };
}

const DIGESTS_MAX = 5_000;
/** A name may be as long as its client likes. */
const KNOWN_CHARS_MAX = 300;

/** A conversation asks again and again. Looking up takes a third of the time of a digest, which no account can forge. */
function createDigest(): Identification["digest"] {
  const known = new Generations<string, string>(DIGESTS_MAX);
  return (text) => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const made = hash("sha256", text, "base64url").slice(0, ID_CHARS);
    if (text.length <= KNOWN_CHARS_MAX) known.set(text, made);
    return made;
  };
}

/** Ids of two accounts may be equal. An answer is named without the prefix of its response, and with dashes. */
function responseName(accountId: string, id: string): string {
  return `${accountId}\n${id.replace(/^resp_/, "").replaceAll("-", "")}`;
}

interface TurnContext {
  readonly id: string;
  /** The turns before. */
  readonly turns: readonly SessionTurn[];
  readonly memory: SessionMemory;
  /** Null where sessions are off. */
  readonly prefixes: (() => Prefixes) | null;
  readonly nowMs: number;
}

function turnOf(answered: AnsweredTurn, context: TurnContext): SessionTurn {
  const { call, decision, model, keyId, usage, toolCallIds } = answered;
  const { id, turns, nowMs } = context;
  const { accountId } = call.caller.key;
  const tokens = usage === null ? decision.estimatedTokens.input : promptTokens(usage.buckets);
  const thread = threadIn(id, call);
  const escalation = decision.session?.escalation ?? 0;
  const { prefixes, trust } = cacheOf(answered, tokens, context);
  const turn: { -readonly [Name in keyof SessionTurn]: SessionTurn[Name] } = {
    session: id,
    model: model.id,
    route: model.route,
    keyId: keyId ?? null,
    tier: decision.tier,
    promptTokens: tokens,
    cachedTokens: usage?.buckets.cacheRead ?? 0,
    atMs: nowMs,
    escalation,
    task: decision.session?.task ?? turns[0]?.task ?? 0,
    prefixes,
    trust,
    calls: toolCallIds.length === 0 ? NO_CALLS : callNames(accountId, call.requestId, toolCallIds),
    response: call.state === null ? null : responseName(accountId, call.state.answerId),
  };
  if (thread !== undefined) turn.thread = thread;
  if (escalation > 0 && !id.startsWith(NAMED)) turn.end = hashEnd(call.request.chat.messages, hashText);
  return turn;
}

const NO_CALLS: readonly number[] = [];
const NO_PREFIXES: readonly SeenPrefix[] = [];

/** What the host has now seen, cached or not, and how far its counts bore out what was expected of it before. */
function cacheOf(
  { call, model, keyId, usage }: AnsweredTurn,
  tokens: number,
  { turns, memory, prefixes: read, nowMs }: TurnContext,
): Pick<SessionTurn, "prefixes" | "trust"> {
  const { cache } = model;
  const trusted = turns[0]?.route === model.route ? turns[0].trust : 1;
  if (read === null || cache === undefined || tokens < cache.tokensMin)
    return { prefixes: NO_PREFIXES, trust: trusted };
  const prefixes = read();
  const expected = memory
    .cached(prefixes, turns)
    .find(({ route, keyId: key }) => route === model.route && key === (keyId ?? null));
  const isAlive = expected !== undefined && nowMs - expected.atMs < cache.seconds * 1000;
  const isProven = isAlive && usage !== null && expected.tokens >= cache.tokensMin;
  const share = isProven ? Math.min(1, usage.buckets.cacheRead / Math.min(expected.tokens, tokens)) : 0;
  const trust = isProven ? (expected.trust + share) / 2 : (expected?.trust ?? trusted);
  const kept = cache.isExplicit === true ? (usage?.buckets.cacheRead ?? 0) + (usage?.buckets.cacheWrite ?? 0) : tokens;
  return { prefixes: seenPrefixes(call.request.chat, prefixes, { tokens, kept }), trust };
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

/** A short request that nobody named and nothing follows is not worth a write. */
function isWorthSharing(turn: SessionTurn, isKnown: boolean, { request }: Call): boolean {
  if (turn.session.startsWith(NAMED) || turn.prefixes.length > 0 || turn.calls.length > 0) return true;
  return isKnown || turn.response !== null || isContinued(request.chat.messages);
}
