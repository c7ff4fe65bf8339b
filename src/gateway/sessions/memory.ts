// The memory of sessions: the last turn of each, found by the session, by what its host has seen, by its tool calls and by
// its response. Bounded, and the same in every process that has heard of the same turns.

import type { ChatMessage } from "../../core/chat.ts";
import { type CachedPrefix, type SessionTurn, turnKey } from "../../core/session.ts";
import type { PrefixMarks } from "../../routing/sessions/prefix.ts";

export interface SessionMemory {
  /** The last turn of a session that is not over, in this thread. */
  turn(session: string, thread?: number): SessionTurn | null;
  /** The turn that made one of these calls. */
  turnOfCalls(calls: readonly number[]): SessionTurn | null;
  /** The session of a response that is continued by its id. */
  sessionOfResponse(responseId: string): string | null;
  /** What hosts have seen of a prompt: for each route and key the longest. */
  cached(marks: PrefixMarks): readonly CachedPrefix[];
  /** An older turn than the one that is known changes nothing. */
  learn(turn: SessionTurn): void;
}

/** Each is forgotten when so many came after it. */
const SESSIONS_MAX = 20_000;
const NONE: readonly never[] = [];

export function createSessionMemory(idleMs: number, now: () => number): SessionMemory {
  const turns = new Generations<string, SessionTurn>(SESSIONS_MAX);
  const calls = new Generations<number, SessionTurn>(SESSIONS_MAX);
  const responses = new Generations<string, string>(SESSIONS_MAX);
  const prefixes = new Generations<number, readonly CachedPrefix[]>(2 * SESSIONS_MAX);
  return {
    turn(session, thread) {
      const turn = turns.get(thread === undefined ? session : turnKey({ session, thread }));
      return turn !== undefined && now() - turn.atMs < idleMs ? turn : null;
    },
    turnOfCalls(names) {
      for (const name of names) {
        const turn = calls.get(name);
        if (turn !== undefined) return turn;
      }
      return null;
    },
    sessionOfResponse: (responseId) => responses.get(responseId) ?? null,
    cached(marks) {
      let found: CachedPrefix[] | null = null;
      const add = (hash: number): void => {
        const seen = prefixes.get(hash);
        if (seen === undefined) return;
        found ??= [];
        for (const prefix of seen) if (!found.some((longer) => isSamePlace(longer, prefix))) found.push(prefix);
      };
      for (let index = marks.ends.length - 1; index >= 0; index--) add(marks.ends[index]?.hash as number);
      if (marks.instructions !== null) add(marks.instructions.hash);
      return found ?? NONE;
    },
    learn(turn) {
      for (const name of turn.calls) calls.set(name, turn);
      if (turn.response !== null) responses.set(turn.response, turn.session);
      for (const { hash, tokens } of turn.prefixes) {
        const { session, route, keyId, trust, atMs } = turn;
        const prefix = { session, route, keyId, tokens, trust, atMs };
        prefixes.set(hash, withPrefix(prefixes.get(hash) ?? NONE, prefix));
      }
      const key = turnKey(turn);
      const known = turns.get(key);
      if (known === undefined || known.atMs <= turn.atMs) turns.set(key, turn);
    },
  };
}

function isSamePlace(one: CachedPrefix, other: CachedPrefix): boolean {
  return one.route === other.route && one.keyId === other.keyId;
}

/** More places than these have hardly ever seen one prompt. */
const PLACES_MAX = 8;

/** The newest first. */
function withPrefix(known: readonly CachedPrefix[], prefix: CachedPrefix): readonly CachedPrefix[] {
  const same = known.find((other) => isSamePlace(other, prefix));
  if (same !== undefined && same.atMs > prefix.atMs) return known;
  return [prefix, ...known.filter((other) => other !== same)].slice(0, PLACES_MAX);
}

/** A map that lets go of what was not set for long: the older generation goes when the newer is full. */
class Generations<Key, Value> {
  readonly #max: number;
  #recent = new Map<Key, Value>();
  #older = new Map<Key, Value>();

  constructor(max: number) {
    this.#max = max;
  }

  get(key: Key): Value | undefined {
    return this.#recent.get(key) ?? this.#older.get(key);
  }

  set(key: Key, value: Value): void {
    this.#recent.set(key, value);
    if (this.#recent.size < this.#max) return;
    this.#older = this.#recent;
    this.#recent = new Map();
  }
}

/** Whether a conversation has begun to go back and forth. */
export function isContinued(messages: readonly ChatMessage[]): boolean {
  return messages.some(({ role }) => role === "assistant");
}
