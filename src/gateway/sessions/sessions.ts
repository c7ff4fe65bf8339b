// Sessions of requests, with their state: which session a request belongs to, what is known of it, and what is remembered
// when it was answered. Behaviour 5.20, 5.21.

import { hash } from "node:crypto";
import { crc32 } from "node:zlib";
import type { Settings } from "../../config/settings.ts";
import { UNREAD, type UnreadMessage, type UnreadText, type Usage } from "../../core/chat.ts";
import type { Decision } from "../../core/decision.ts";
import type { HostedModel } from "../../core/model.ts";
import { type CachedPrefix, type Habit, type SessionTurn, type SessionView, UNNAMED } from "../../core/session.ts";
import type { CacheHelp } from "../../formats/format.ts";
import { isMarkWorthwhile } from "../../routing/sessions/outlook.ts";
import {
  appOf,
  mixEnds,
  type Opening,
  type Prefixes,
  prefixesOf,
  type ReadPrompt,
  readOpening,
  type TextHash,
} from "../../routing/sessions/prefix.ts";
import {
  isContinued,
  isWorthSharing,
  NAMED,
  namedSession,
  type SessionFacts,
  sessionOf,
  threadIn,
  turnOf,
  withOwnEvidence,
} from "../../routing/sessions/session.ts";
import type { Call } from "../call.ts";
import { Generations } from "./generations.ts";
import { callNames, openCallNames, type SessionMemory } from "./memory.ts";

type AskingCall = Pick<Call, "request" | "headers" | "prompt"> & {
  readonly caller: { readonly key: Pick<Call["caller"]["key"], "accountId"> };
};

/** An answered call, as the last step knows it. */
interface NotedAnswer {
  readonly call: Call;
  readonly decision: Decision;
  readonly model: HostedModel;
  readonly keyId: string | undefined;
  readonly usage: Usage | null;
  readonly toolCallIds: readonly string[];
}

export interface RoutingSessions {
  /** The session of a call; null where sessions are switched off. */
  view(call: AskingCall): SessionView | null;
  /** The model that made the calls whose results a request brings; null where none is known. */
  loopModel(call: AskingCall): string | null;
  /** Help to ask the host for, so that it caches the prompt; null for none. */
  cacheHelp(call: AskingCall, decision: Decision, model: HostedModel, settings: CacheSettings): CacheHelp | null;
  note(answered: NotedAnswer): void;
}

type CacheSettings = Pick<Settings["routing"], "marksCaches" | "sendsCacheKeys">;

export interface SessionsOptions {
  readonly memory: SessionMemory;
  /** Off, each request is decided for itself, and only tool loops stay. */
  readonly isOn: () => boolean;
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
  const { habitOf, marksOf } = createCacheAdvice({ memory, prompts, now });
  return {
    view(call) {
      if (!isOn()) return null;
      const id = idOf(call);
      const thread = threadIn(id, call.request.chat.messages, hashText);
      const turns = turnsOf(id, thread, memory);
      const own = turns[0] ?? null;
      const loop = loopOf(call, own);
      const cached = isCacheable(call) ? memory.cached(prompts.prefixes(call), turns) : NONE;
      const newest = loop?.session === id ? loop : (own ?? loop);
      const last = newest === null ? null : withOwnEvidence(newest, call.request.chat.messages, hashText);
      const view = { id, last, loop, cached, habit: habitOf(call, own), nowMs: now() };
      return thread === undefined ? view : { ...view, thread };
    },
    cacheHelp(call, { session, estimatedTokens }, model, { marksCaches, sendsCacheKeys }) {
      const { cache } = model;
      const { input: promptTokens } = estimatedTokens;
      if (cache === undefined || promptTokens < cache.tokensMin) return null;
      const id = session?.id ?? idOf(call);
      const key = cache.takesKey === true && sendsCacheKeys ? id : null;
      const marks = cache.isExplicit === true && marksCaches ? marksOf(call, id, { model, promptTokens }) : null;
      return key === null && marks === null ? null : { key, marks, tokensMin: cache.tokensMin };
    },
    loopModel: (call) => loopOf(call, null)?.model ?? null,
    note({ call, decision, model, keyId, usage, toolCallIds }) {
      const { chat } = call.request;
      const { accountId } = call.caller.key;
      const id = decision.session?.id ?? idOf(call);
      const thread = threadIn(id, chat.messages, hashText);
      const turns = turnsOf(id, thread, memory);
      const prefixes = () => prompts.prefixes(call);
      const prompt = { prefixes, cached: () => memory.cached(prefixes(), turns) };
      const app = appOf(chat, accountId, prompts.opening(call));
      const calls = callNames(accountId, call.requestId, toolCallIds);
      const response = call.state === null ? null : responseName(accountId, call.state.answerId);
      const turn = turnOf(
        { decision, model, keyId, usage, id, thread, turns, chat, calls, response, prompt, app, nowMs: now() },
        hashText,
      );
      memory.learn(turn);
      if (isWorthSharing(turn, turns.length > 0, chat.messages)) share(turn);
    },
  };
}

interface CacheAdvice {
  habitOf(call: AskingCall, last: SessionTurn | null): Habit;
  /** The part of a prompt to mark for a host that caches only what is marked, where that pays. Behaviour 5.24. */
  marksOf(call: AskingCall, id: string, sent: { model: HostedModel; promptTokens: number }): CacheHelp["marks"];
}

function createCacheAdvice({
  memory,
  prompts,
  now,
}: Pick<SessionsOptions, "memory" | "now"> & { readonly prompts: Prompts }): CacheAdvice {
  const habitOf: CacheAdvice["habitOf"] = (call, last) => {
    const { chat } = call.request;
    const app = appOf(chat, call.caller.key.accountId, prompts.opening(call));
    const isLater = isContinued(chat.messages);
    return memory.habitOf({ app, hasTools: chat.tools.length > 0, isContinued: isLater, last, nowMs: now() });
  };
  return {
    habitOf,
    marksOf(call, id, { model, promptTokens }) {
      const { messages, tools } = call.request.chat;
      const turns = turnsOf(id, threadIn(id, messages, hashText), memory);
      const aliveMs = (model.cache?.seconds ?? 0) * 1000;
      const isPrefixSeen = memory.cached(prompts.prefixes(call), turns).some(({ atMs }) => now() - atMs < aliveMs);
      const wanted = marksFor({ hasTools: tools.length > 0, isContinued: isContinued(messages), isPrefixSeen });
      if (wanted === null) return null;
      const habit = habitOf(call, turns[0] ?? null);
      if (wanted === "conversation" && isMarkWorthwhile(model, promptTokens, habit)) return wanted;
      // Instructions that came a moment ago will come again.
      const comesAgain = { ...habit, next: 1, steady: 1, alive: () => 1 };
      return isPrefixSeen && isMarkWorthwhile(model, promptTokens, comesAgain) ? "instructions" : null;
    },
  };
}

/** Conversations that nobody named may begin alike: the turns of this one, or else those without an answer yet. */
function turnsOf(id: string, thread: number | undefined, memory: SessionMemory): readonly SessionTurn[] {
  const own = thread === undefined ? NO_TURNS : memory.turns(id, thread);
  return own.length > 0 ? own : memory.turns(id);
}

const NO_TURNS: readonly SessionTurn[] = [];

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

/** Names the conversation of a call, for choosing among equal keys and hosts where sessions are off. */
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

interface MarkQuestion {
  readonly hasTools: boolean;
  readonly isContinued: boolean;
  readonly isPrefixSeen: boolean;
}

/** Conversations and agents go on; instructions that were seen of late come again. */
function marksFor({ hasTools, isContinued: isLater, isPrefixSeen }: MarkQuestion): CacheHelp["marks"] {
  if (hasTools || isLater) return "conversation";
  return isPrefixSeen ? "instructions" : null;
}

/** Bytes that are read of a longer text, beside its ends. It is not remembered. */
const READ_BYTES = 256 * 1024;
/** A shorter text is hashed faster than found. */
const REMEMBERED_CHARS = 512;
/** Characters of the texts in each of two generations. */
const REMEMBERED_CHARS_MAX = 2 * 1024 * 1024;

/** Characters that stand for the memory of an entry beside its text. */
const ENTRY_CHARS = 64;

interface KnownText {
  /** Empty when it came once: most texts never come again, and to keep them costs the garbage collector. */
  readonly text: string;
  readonly hash: number;
}

export function createTextHash(): TextHash {
  let recent = new Map<number, KnownText>();
  let older = new Map<number, KnownText>();
  let chars = 0;
  const remember = (key: number, known: KnownText): void => {
    recent.set(key, known);
    chars += known.text.length + ENTRY_CHARS;
    if (chars < REMEMBERED_CHARS_MAX) return;
    older = recent;
    recent = new Map();
    chars = 0;
  };
  return (given) => {
    // Compared as it stands in the body: instructions come again as they were written.
    const text = typeof given === "string" ? given : literalOf(given[UNREAD]);
    if (text.length < REMEMBERED_CHARS || text.length > READ_BYTES) return hashText(given);
    const key = mixEnds(3 * text.length + (text === given ? 0 : 2), text, true);
    const fresh = recent.get(key);
    if (fresh?.text === text) return fresh.hash;
    const old = older.get(key);
    const isNew = fresh === undefined && old === undefined;
    const known = old?.text === text ? old : { text: isNew ? "" : text, hash: hashText(given) };
    remember(key, known);
    return known.hash;
  };
}

function literalOf({ bytes, start, end }: UnreadText): string {
  return bytes.toString("latin1", start, end);
}

/** Hashes the bytes in UTF-8: the same text gives the same hash, whether decoded or not. */
export function hashText(given: string | UnreadMessage): number {
  const text = typeof given === "string" ? given : given.content;
  // A pair of surrogates may be cut where the reading ends.
  const read = text.length > READ_BYTES ? text.slice(0, READ_BYTES + 1) : text;
  const bytes = Buffer.from(read, "utf8");
  if (bytes.length <= READ_BYTES) return crc32(bytes);
  return mixEnds(crc32(bytes.subarray(0, READ_BYTES)), text);
}
