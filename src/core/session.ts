// Sessions: what is remembered of a conversation between its requests. Losing it costs money at most.

import type { Effort } from "./requests/effort.ts";
import type { Tier } from "./tiers.ts";

export const SESSION_STATES = ["started", "stayed", "switched", "escalated"] as const;
/** Effect of a request on its session: `escalated` when evidence of failure raised its tier further than before. */
export type SessionState = (typeof SESSION_STATES)[number];

export const ESCALATIONS = ["off", "normal", "eager"] as const;
/** Amount of evidence that raises the tier inside a conversation. */
export type EscalationPolicy = (typeof ESCALATIONS)[number];

/** The last turn of a session. It is shared by all processes and kept over a restart. */
export interface SessionTurn {
  /** The session's id: short, and no text of the client's. */
  readonly session: string;
  /** Tells conversations apart that begin alike, by the first answer. Absent before that, and where the session is named. */
  readonly thread?: number;
  readonly model: string;
  /** Names the model at its host, as in the catalogue. */
  readonly hostKey: string;
  /** Names the key that was used; null where the provider has only one. */
  readonly keyId: string | null;
  /** The tier that was decided. */
  readonly tier: Tier;
  /** The effort that the model was asked for. Absent where it decided for itself. */
  readonly effort?: Effort;
  readonly promptTokens: number;
  /** Read from the host's cache, as it counted. */
  readonly cachedTokens: number;
  readonly atMs: number;
  /** By how many tiers evidence had raised it, and a hash of the human's request that this was for. */
  readonly escalation: number;
  readonly task: number;
  /**
   * A hash of the last message of its prompt. Prompts with the same examples are one thread, so evidence counts only for
   * requests that have this message. Absent without evidence, and where the session is named.
   */
  readonly end?: number;
  /** Prompt beginnings that the host has now seen, the longest first. */
  readonly prefixes: readonly SeenPrefix[];
  /** Part of the expected cache hits that the host's own counts confirmed, 0 to 1. */
  readonly trust: number;
  /** The tool calls that it made, hashed: their results come with the next request. */
  readonly calls: readonly number[];
  /** The name of its response, where that can be continued by its id; null otherwise. */
  readonly response: string | null;
  /** A hash that tells applications apart: account, tools, and about how long the instructions are. Absent in turns of before. */
  readonly app?: number;
  /** Place in the session, from 1 on. */
  readonly number?: number;
  /** The last pauses of the session in seconds, the newest last. */
  readonly gaps?: readonly number[];
  /** Tokens of the answer. */
  readonly output?: number;
  /** Part of these that was thinking, as the host counted it. */
  readonly thought?: number;
  /** Part of what was cached that the host read from there, 0 to 1; absent where nothing was to be expected. */
  readonly share?: number;
  /** Tells whether a conversation was sent again with the same beginning; absent where it just begins. */
  readonly isSteady?: boolean;
}

/** Behaviour of a host's cache, as its own counts show it. */
export interface CacheHabit {
  /** Part of what should be cached that is read from there, 0 to 1. */
  readonly hit: number;
}

/** Expectations of a conversation, learned from others of its kind. */
export interface Habit {
  /** The chance that another turn follows, and the number of turns that are expected to. */
  readonly next: number;
  readonly ahead: number;
  /** Length of a usual answer without thinking; null where too few were seen. */
  readonly outputTokens: number | null;
  /** Tokens of thinking in a turn of this model at this effort. `usual` is what the effort costs elsewhere. */
  thought(model: string, effort: Effort | null, usual: number): number;
  /** The chance that the next prompt begins as this one does: clocks and random ids change it. */
  readonly steady: number;
  /** The chance that the next pause is shorter than this. */
  alive(seconds: number): number;
  cacheOf(hostKey: string): CacheHabit;
}

/** Prefix of the ids of sessions that no client has named. */
export const UNNAMED = "f";

/** Returns the key that a turn is found by. */
export function turnKey({ session, thread }: Pick<SessionTurn, "session" | "thread">): string {
  return thread === undefined ? session : `${session}.${thread}`;
}

/** Turns of all processes. */
export interface TurnStore {
  /** Stores turns; each session and thread keeps only its newest turn. */
  write(turns: readonly SessionTurn[]): Promise<void>;
  /** Turns from that time on, the newest first. */
  since(atMs: number, most: number): Promise<readonly SessionTurn[]>;
  /** Deletes at most so many that are older; returns how many. */
  deleteBefore(atMs: number, most: number): Promise<number>;
}

/** The beginning of a prompt up to a message. */
export interface SeenPrefix {
  readonly hash: number;
  readonly tokens: number;
}

/** A beginning of the prompt in question that a host may still have cached. */
export interface CachedPrefix {
  readonly session: string;
  readonly hostKey: string;
  readonly keyId: string | null;
  readonly tokens: number;
  readonly trust: number;
  readonly atMs: number;
}

/** State of the session that a request belongs to, as far as it is known. */
export interface SessionView {
  readonly id: string;
  /** Number of the thread, as in a turn. */
  readonly thread?: number;
  /** The turn before; null for a session that is not known. */
  readonly last: SessionTurn | null;
  /** The turn that made the tool calls whose results the request brings; null where no loop is open or known. */
  readonly loop: SessionTurn | null;
  /** The longest for each host and provider key. */
  readonly cached: readonly CachedPrefix[];
  /** Absent in a replay. */
  readonly habit?: Habit;
  readonly nowMs: number;
}

/** Session of a request, as its decision records it. */
export interface DecidedSession {
  readonly id: string;
  /** Number of the thread, as in a turn. */
  readonly thread?: number;
  /** Says that the request continues a known tool loop. */
  readonly isLoop?: true;
  readonly state: SessionState;
  /** Tokens of the prompt that are expected in the cache of the model and host that are tried first. */
  readonly cachedTokens: number;
  /** The key that has it, where the provider has several. */
  readonly keyId: string | null;
  readonly escalation: number;
  readonly task: number;
  /** The turn before: who wrote the thinking that comes back. Absent where it is not known. */
  readonly before?: Pick<SessionTurn, "hostKey" | "keyId">;
  /** Says that a beginning of the prompt was recently sent to some host. */
  readonly isPrefixSeen: boolean;
}
