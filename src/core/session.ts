// Sessions: what is remembered of a conversation between its requests. Losing it costs money at most.

import type { Tier } from "./tiers.ts";

export const SESSION_STATES = ["started", "stayed", "switched", "escalated"] as const;
/** What a request did to its session: `escalated` when evidence of failure raised its tier further than before. */
export type SessionState = (typeof SESSION_STATES)[number];

export const ESCALATIONS = ["off", "normal", "eager"] as const;
/** How much evidence it takes to raise the tier inside a conversation. */
export type EscalationPolicy = (typeof ESCALATIONS)[number];

/** The last turn of a session. It is shared by all processes and kept over a restart. */
export interface SessionTurn {
  /** The session's id: short, and no text of the client's. */
  readonly session: string;
  /** Tells conversations apart that begin alike, by the first answer. Absent before that, and where the session is named. */
  readonly thread?: number;
  readonly model: string;
  /** The model at its host, as the catalogue names it. */
  readonly route: string;
  /** Which of the provider's keys; null where there are not several. */
  readonly keyId: string | null;
  /** The tier that was decided. */
  readonly tier: Tier;
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
  /** What the host has now seen, the longest beginning first. */
  readonly prefixes: readonly SeenPrefix[];
  /** How far the host's own counts bore out what was expected of its cache, 0 to 1. */
  readonly trust: number;
  /** The tool calls that it made, hashed: their results come with the next request. */
  readonly calls: readonly number[];
  /** The name of its response, where that can be continued by its id; null otherwise. */
  readonly response: string | null;
}

/** How the id of a session begins that nobody has named. */
export const UNNAMED = "f";

/** What a turn is found by. */
export function turnKey({ session, thread }: Pick<SessionTurn, "session" | "thread">): string {
  return thread === undefined ? session : `${session}.${thread}`;
}

/** Turns of all processes. */
export interface TurnStore {
  /** Of each session and thread the newest turn stays. */
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
  readonly route: string;
  readonly keyId: string | null;
  readonly tokens: number;
  readonly trust: number;
  readonly atMs: number;
}

/** What is known of the session that a request belongs to. */
export interface SessionView {
  readonly id: string;
  /** As in a turn. */
  readonly thread?: number;
  /** The turn before; null for a session that is not known. */
  readonly last: SessionTurn | null;
  /** The turn that made the tool calls whose results the request brings; null where no loop is open or known. */
  readonly loop: SessionTurn | null;
  /** At most one for each route and key: the longest. */
  readonly cached: readonly CachedPrefix[];
  readonly nowMs: number;
}

/** What a decision says of the session. */
export interface DecidedSession {
  readonly id: string;
  /** As in a turn. */
  readonly thread?: number;
  /** Whether it goes on with a tool loop that is known. */
  readonly isLoop?: true;
  readonly state: SessionState;
  /** How much of the prompt is expected to be cached at the model and host that are tried first. */
  readonly cachedTokens: number;
  /** The key that has it, where the provider has several. */
  readonly keyId: string | null;
  readonly escalation: number;
  readonly task: number;
  /** Whether a beginning of the prompt was sent to some host of late. */
  readonly isPrefixSeen: boolean;
}
