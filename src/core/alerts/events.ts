// Events as they are kept, and the port of their store.

import type { Page } from "../accounts.ts";
import type { NanoUsd } from "../money.ts";
import type { Observation } from "./kinds.ts";

export interface AlertEvent {
  readonly id: string;
  /** Text, because events of another version may have kinds that this one does not know. */
  readonly kind: string;
  readonly severity: string;
  /** The account; null for the installation. */
  readonly accountId: string | null;
  readonly subject: string;
  readonly text: string;
  readonly data: Readonly<Record<string, string>>;
  readonly atMs: number;
  /** Time from which it was not so any more; null while it is. */
  readonly endedAtMs: number | null;
}

interface AlertEventFilter {
  /** The account; null for all of them and the installation. */
  readonly accountId: string | null;
  readonly kind: string | null;
}

export interface AlertEventStore {
  /** Keeps one event while the same is observed, however many processes observe it. Returns the new events. */
  raise(observations: readonly Observation[], nowMs: number): Promise<readonly AlertEvent[]>;
  /** Ends events of the kind that were not seen since. Returns their number. */
  end(kind: string, unseenSinceMs: number, nowMs: number): Promise<number>;
  /** Newest first. */
  list(filter: AlertEventFilter, page: Page): Promise<readonly AlertEvent[]>;
  deleteBefore(atMs: number): Promise<void>;
  /** Takes the turn of that name until a moment. False while a turn of another process lasts. */
  claimTurn(name: string, nowMs: number, untilMs: number): Promise<boolean>;
}

/** An account with its money, and what its requests cost and did. */
export interface AccountFacts {
  readonly id: string;
  readonly name: string;
  readonly isPrepaid: boolean;
  /** Credits that are free; null where the wallet never had any money. */
  readonly available: NanoUsd | null;
  /** By the start of the hour, for the last 25 hours; without an entry, none. */
  readonly hours: ReadonlyMap<number, HourFacts>;
  /** Charges of the seven days before today, in UTC. */
  readonly weekCharge: NanoUsd;
}

export interface HourFacts {
  readonly requests: number;
  /** Failed on the side of the gateway or its providers. */
  readonly failures: number;
  readonly fallbacks: number;
  readonly charge: NanoUsd;
}

export interface AccountFactsStore {
  /** Facts about every account with money or requests. */
  read(nowMs: number): Promise<readonly AccountFacts[]>;
}
