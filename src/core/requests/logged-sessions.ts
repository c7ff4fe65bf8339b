// Sessions of the request log: conversations, each a row of turns that share a session.

import type { Page } from "../accounts.ts";
import type { NanoUsd } from "../money.ts";
import type { SessionState } from "../session.ts";
import type { RequestFilter } from "./log.ts";

/** Conversations with a turn in this time; a field that is absent does not filter. */
export interface LoggedSessionQuery extends Pick<RequestFilter, "accountId" | "fromMs" | "toMs" | "user" | "keyId"> {
  /** With a turn in any of these states. */
  readonly states?: readonly SessionState[];
}

/** Summary of a conversation. */
export interface LoggedSession {
  /** Id of the newest request. */
  readonly id: string;
  readonly session: string;
  readonly firstMs: number;
  readonly lastMs: number;
  readonly turns: number;
  readonly errors: number;
  readonly switches: number;
  readonly escalations: number;
  /** Models that answered, in the order of their first turn. */
  readonly models: readonly string[];
  readonly hosts: readonly string[];
  readonly users: readonly string[];
  readonly keyIds: readonly string[];
  readonly charge: NanoUsd;
  /** A turn that failed saved nothing. */
  readonly baseline: NanoUsd;
  readonly tokens: number;
  /** Input that came from a provider's cache, and in how many turns there was some. */
  readonly cachedTokens: number;
  readonly cacheHits: number;
}

export interface LoggedSessions {
  /** Newest activity first; `after` is the id of the last conversation of the page before. */
  list(query: LoggedSessionQuery, page: Page): Promise<readonly LoggedSession[]>;
  find(accountId: string, session: string): Promise<LoggedSession | null>;
}
