// The memory of sessions: the last turn of each, found by the session, by what its host has seen, by its tool calls and by
// its response. Bounded, and the same in every process that has heard of the same turns.

import type { ChatMessage } from "../../core/chat.ts";
import { type CachedPrefix, type SessionTurn, turnKey } from "../../core/session.ts";
import { clientToolId, toolIdFor } from "../../formats/tools/calls.ts";
import { type Prefixes, placeOf } from "../../routing/sessions/prefix.ts";
import { openCallIds } from "../../routing/sessions/session.ts";
import { Generations } from "./generations.ts";
import { createHabits, type Habits } from "./habits.ts";

export interface SessionMemory {
  /** The last turn at each host and key of a session that is not over, in this thread, the newest first. */
  turns(session: string, thread?: number): readonly SessionTurn[];
  /** The turn that made one of these calls. */
  turnOfCalls(calls: readonly number[]): SessionTurn | null;
  /** The session of a response that is continued by its id. */
  sessionOfResponse(responseId: string): string | null;
  /** Prefixes of a prompt that hosts have seen: the longest for each host and provider key. `turns` came before the prompt. */
  cached(prompt: Prefixes, turns: readonly SessionTurn[]): readonly CachedPrefix[];
  /** Expectations of a conversation. */
  readonly habitOf: Habits["of"];
  /** An older turn than the one that is known changes nothing. */
  learn(turn: SessionTurn): void;
}

/** Each is forgotten when so many came after it. */
const SESSIONS_MAX = 20_000;
const NONE: readonly never[] = [];

export function createSessionMemory(idleMs: () => number, now: () => number): SessionMemory {
  const sessions = new Generations<string, readonly SessionTurn[]>(SESSIONS_MAX);
  const calls = new Generations<number, SessionTurn>(SESSIONS_MAX);
  const responses = new Generations<string, string>(SESSIONS_MAX);
  const prefixes = new Generations<number, readonly CachedPrefix[]>(2 * SESSIONS_MAX);
  const habits = createHabits();
  /** Finds the prefixes known of a turn that the prompt continues. */
  const longestSeen = (turn: SessionTurn, { first, length, hashAt }: Prefixes): readonly CachedPrefix[] | undefined => {
    for (const { hash } of turn.prefixes) {
      const place = placeOf(hash);
      if (place > first && place <= length && hashAt(place) === hash) return prefixes.get(hash);
    }
    return undefined;
  };
  return {
    turns(session, thread) {
      const turns = sessions.get(thread === undefined ? session : turnKey({ session, thread }));
      return turns !== undefined && now() - (turns[0] as SessionTurn).atMs < idleMs() ? turns : NONE;
    },
    turnOfCalls(names) {
      for (const name of names) {
        const turn = calls.get(name);
        if (turn !== undefined) return turn;
      }
      return null;
    },
    sessionOfResponse: (responseId) => responses.get(responseId) ?? null,
    cached(prompt, turns) {
      const { instructions, first, length } = prompt;
      const seen = instructions === null ? NONE : prefixes.get(instructions);
      // No prompt with these instructions was ever sent.
      if (seen === undefined) return NONE;
      const found: CachedPrefix[] = [];
      const add = (known: readonly CachedPrefix[] = NONE): void => {
        for (const prefix of known) if (!found.some((longer) => isSamePlace(longer, prefix))) found.push(prefix);
      };
      for (const turn of turns) add(longestSeen(turn, prompt));
      // Several conversations may have one name: this one is looked for by its last messages.
      const from = found.length > 0 ? length : Math.max(first, length - ENDS_MAX);
      for (let place = length; place > from; place--) add(prefixes.get(prompt.hashAt(place)));
      add(seen);
      return found;
    },
    habitOf: habits.of,
    learn(turn) {
      for (const name of turn.calls) calls.set(name, turn);
      if (turn.response !== null) responses.set(turn.response, turn.session);
      for (const { hash, tokens } of turn.prefixes) {
        const { session, hostKey, keyId, trust, atMs } = turn;
        prefixes.set(hash, withNewest(prefixes.get(hash) ?? NONE, { session, hostKey, keyId, tokens, trust, atMs }));
      }
      const key = turnKey(turn);
      const own = sessions.get(key);
      // The first turn has no thread yet. It may also be that of another conversation, so it never stands before this one.
      const known = own ?? sessions.get(turn.session)?.filter((other) => !isSamePlace(other, turn)) ?? NONE;
      noteHabit(habits, turn, own?.[0] ?? known[0]);
      if (own?.[0] === undefined || own[0].atMs <= turn.atMs) sessions.set(key, withNewest(known, turn));
    },
  };
}

/** Other processes tell a turn more than once. */
function noteHabit(habits: Habits, turn: SessionTurn, newest: SessionTurn | undefined): void {
  const before = turn.number === 1 && newest?.thread === undefined ? undefined : newest;
  if (newest === undefined || newest.atMs < turn.atMs) habits.note(turn, before);
}

/** More messages than these hardly come between two requests of a conversation. */
const ENDS_MAX = 24;

/** A model at a host, called with a key. */
type HostAndKey = Pick<SessionTurn, "hostKey" | "keyId" | "atMs">;

function isSamePlace(one: HostAndKey, other: HostAndKey): boolean {
  return one.hostKey === other.hostKey && one.keyId === other.keyId;
}

/** More places than these have hardly ever seen one prompt. */
const PLACES_MAX = 8;

/** The newest first. */
function withNewest<T extends HostAndKey>(known: readonly T[], item: T): readonly T[] {
  const same = known.find((other) => isSamePlace(other, item));
  if (same !== undefined && same.atMs > item.atMs) return known;
  return [item, ...known.filter((other) => other !== same)].slice(0, PLACES_MAX);
}

/** The calls of a response, as its client will send them back. */
export function callNames(accountId: string, requestId: string, ids: readonly string[]): readonly number[] {
  return ids.length === 0 ? NONE : ids.map((id, index) => nameOf(accountId, clientToolId(id, index, { requestId })));
}

/** The calls whose results these messages bring; empty where no loop is open. */
export function openCallNames(accountId: string, messages: readonly ChatMessage[]): readonly number[] {
  const ids = openCallIds(messages);
  return ids.length === 0 ? NONE : ids.map((id) => nameOf(accountId, id));
}

/** A hash of account and id. Ids are taken as every format writes them, so that a call made in one is found in the other. */
function nameOf(accountId: string, toolCallId: string): number {
  const text = `${accountId}\n${toolIdFor(toolCallId, "safe-40")}`;
  let low = 0x811c9dc5;
  let high = 0x9e3779b9;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    low = Math.imul(low ^ code, 0x01000193);
    high = Math.imul(high ^ code, 0x85ebca6b);
  }
  return (low >>> 0) * HIGH_BITS + (high >>> 11);
}

const HIGH_BITS = 2 ** 21;
