// Targets: where events are sent, and the messages that wait for them.

import type { AlertEvent } from "./events.ts";
import type { QuietTime } from "./quiet.ts";

export const CHANNELS = ["webhook", "slack", "email"] as const;
export type AlertChannel = (typeof CHANNELS)[number];

/** Secret part of a target. */
export interface TargetAddress {
  /** An http address, or `mailto:` with a mail address. */
  readonly url: string;
  /** Signs the messages of a webhook; null for other channels. */
  readonly secret: string | null;
}

export interface AlertTarget {
  readonly id: string;
  /** The account; null for a target of the installation, which gets the events of all accounts. */
  readonly accountId: string | null;
  readonly channel: AlertChannel;
  readonly name: string;
  /** Kinds that are sent; null for all. */
  readonly kinds: readonly string[] | null;
  readonly quiet: QuietTime | null;
  readonly isPaused: boolean;
  /** The address without its secret parts. */
  readonly addressShown: string;
  /** A sealed `TargetAddress`. */
  readonly sealed: string;
  readonly createdAtMs: number;
}

export interface AlertTargetStore {
  insert(target: AlertTarget): Promise<void>;
  /** False when it is gone. */
  update(target: AlertTarget): Promise<boolean>;
  /** With its messages. */
  delete(id: string): Promise<boolean>;
  get(id: string): Promise<AlertTarget | null>;
  /** Lists the targets of an account; with null, all targets. */
  list(accountId: string | null): Promise<readonly AlertTarget[]>;
}

/** A message that this process may send now, because nobody else will for a while. */
export interface DueMessage {
  /** The same for every attempt. */
  readonly id: string;
  /** Attempts, this one included. */
  readonly attempts: number;
  readonly event: AlertEvent;
  readonly target: AlertTarget;
}

export interface SentMessage {
  readonly id: string;
  readonly kind: string;
  readonly text: string;
  readonly state: "waiting" | "sent" | "failed";
  readonly attempts: number;
  /** The last answer or error. */
  readonly result: string;
  readonly createdAtMs: number;
  readonly doneAtMs: number | null;
}

export interface AlertOutbox {
  /** Takes messages that are due, for this process alone while the lease lasts. */
  claim(limit: number, leaseMs: number): Promise<readonly DueMessage[]>;
  settle(id: string, state: "sent" | "failed", result: string): Promise<void>;
  retry(id: string, afterMs: number, result: string): Promise<void>;
  /** Makes a message wait without counting an attempt. */
  postpone(id: string, afterMs: number): Promise<void>;
  /** Newest first. */
  list(targetId: string, limit: number): Promise<readonly SentMessage[]>;
}
