// Batches: many requests that run behind live traffic, and the port of their store. Whatever belongs to another account
// does not exist.

import type { NanoUsd } from "../money.ts";
import type { RateCard } from "../price.ts";
import type { JsonItem, OwnedId } from "../responses/stored.ts";

export type BatchApi = "openai" | "messages" | "gemini";
export type BatchStatus =
  | "validating"
  | "in_progress"
  | "cancelling"
  | "completed"
  | "failed"
  | "expired"
  | "cancelled";
/** `sent`: a host runs it. The last five are ends. `stopped`: the batch had cost what its caller allows. */
export const LINE_STATES = [
  "new",
  "waiting",
  "running",
  "sent",
  "succeeded",
  "errored",
  "expired",
  "cancelled",
  "stopped",
] as const;
export type LineState = (typeof LINE_STATES)[number];

export interface BatchError {
  readonly code: string;
  readonly message: string;
  readonly line: number | null;
  readonly param: string | null;
}

/** Part of a batch that is stored sealed. */
export interface BatchContent {
  readonly endpoint: string;
  readonly inputFileId: string | null;
  readonly metadata: JsonItem | null;
  readonly errors: readonly BatchError[];
}

export interface NewBatch extends OwnedId {
  readonly api: BatchApi;
  readonly keyId: string;
  readonly content: BatchContent;
  readonly maxCost: NanoUsd | null;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly deletedAtMs: number;
}

type LineCounts = Readonly<Record<LineState, number>>;

export interface StoredBatch extends NewBatch {
  readonly status: BatchStatus;
  readonly cost: NanoUsd;
  readonly cancelledAtMs: number | null;
  readonly endedAtMs: number | null;
  readonly counts: LineCounts;
}

export interface LineRequest {
  readonly customId: string;
  /** The body as JSON text. */
  readonly body: string;
  /** Given back with the result; absent where the client gave none. */
  readonly metadata?: JsonItem;
}

export interface LineResult {
  readonly status: number;
  readonly requestId: string;
  readonly body: unknown;
}

/** A line that this process may run. */
export interface ClaimedLine {
  readonly batch: Pick<StoredBatch, "accountId" | "id" | "api" | "keyId" | "content" | "maxCost">;
  readonly position: number;
  readonly attempts: number;
  /** Counts the times that the line was begun. Each has holds of its own. */
  readonly run: number;
  /** Up to this one, no run of the line can be charged any more, and none was. */
  readonly over: number;
  /** Stays null where it cannot be opened. */
  readonly request: LineRequest | null;
  /** The answer of a host to which the line was sent; null for most lines. */
  readonly native: NativeAnswer | null;
}

/** The host that a line was sent to, with its price of that moment. */
export interface NativeHost {
  readonly model: string;
  /** Name of the host among those of the model. */
  readonly host: string;
  readonly price: RateCard;
}

/** The answer of a host, as the host wrote it. */
export interface NativeAnswer extends NativeHost {
  readonly body: string;
}

/** Lines that a host runs together. */
export interface NativeBatch extends OwnedId {
  readonly batchId: string;
  readonly provider: string;
  readonly remoteId: string;
  readonly createdAtMs: number;
  /** Time of the end of its batch, and whether that was cancelled. */
  readonly expiresAtMs: number;
  readonly isCancelled: boolean;
}

export interface NativeQueue {
  /** Takes lines of one batch that may be sent to a host. */
  claim(limit: number, nowMs: number): Promise<readonly ClaimedLine[]>;
  /** Leaves lines to our own queue. */
  keep(lines: readonly ClaimedLine[]): Promise<void>;
  /** Notes that a host runs these lines. */
  sent(
    native: Omit<NativeBatch, "expiresAtMs" | "isCancelled">,
    lines: readonly { readonly line: ClaimedLine; readonly host: NativeHost }[],
  ): Promise<void>;
  /** Takes batches of hosts that it is time to ask about. No other process gets them for a while. */
  due(nowMs: number): Promise<readonly NativeBatch[]>;
  /** Keeps the answer to a line, which is charged when the queue comes to it. */
  answered(native: NativeBatch, position: number, body: string): Promise<void>;
  /** Ends it. Lines without an answer go to our own queue. */
  over(native: NativeBatch): Promise<void>;
  /** Leaves lines to our own queue that nobody has sent since this time. */
  giveUpBefore(createdAtMs: number): Promise<void>;
}

/** A line as its result is shown. */
export interface EndedLine {
  readonly position: number;
  readonly customId: string;
  readonly metadata?: JsonItem | undefined;
  readonly state: LineState;
  readonly result: LineResult | null;
}

export interface BatchPage {
  readonly api: BatchApi;
  readonly after: string | null;
  readonly isNewestFirst: boolean;
  readonly limit: number;
}

export interface BatchStore {
  /** Makes a batch that does not run yet. */
  begin(batch: NewBatch): Promise<void>;
  /** Returns the bytes of all requests in batches that the account has stored. */
  addLines(name: OwnedId, first: number, lines: readonly LineRequest[]): Promise<number>;
  /** Lets the lines run; those that may be sent to a host wait until somebody has tried that. */
  release(name: OwnedId, isNative: boolean): Promise<void>;
  /** Ends a batch that never ran, without its lines. */
  fail(batch: NewBatch): Promise<void>;
  find(api: BatchApi, name: OwnedId): Promise<StoredBatch | null>;
  /** Returns null when the batch to begin after does not exist. */
  list(accountId: string, page: BatchPage): Promise<readonly StoredBatch[] | null>;
  /** Lines that wait are never run; those that run are finished. */
  cancel(name: OwnedId, nowMs: number): Promise<void>;
  remove(name: OwnedId): Promise<void>;
  ended(name: OwnedId): AsyncGenerator<EndedLine, void, void>;
}

/** Ends holds for good: nothing can be charged to them any more. Rejects where the store is away. */
export type EndHolds = (
  holds: readonly { readonly holdId: string; readonly accountId: string; readonly keyId?: string }[],
) => Promise<void>;

/** Tells how far a run came that did not end its line. */
export type RunEnd =
  /** The run took no hold, and never will. */
  | "not-begun"
  /** All holds of the run were released. */
  | "over"
  /** The run may still be charged. */
  | "unknown";

export interface BatchQueue {
  /** Takes lines that wait, but none of the batches that rest. */
  claim(limit: number, nowMs: number, resting: readonly string[]): Promise<readonly ClaimedLine[]>;
  /**
   * Names the holds of this run, after all earlier ones were ended. None where an earlier run was charged: the line must
   * not be charged again.
   */
  holdIds(line: ClaimedLine): Promise<readonly string[]>;
  /**
   * Writes the result of a line that this process runs, and its cost where the ledger has not booked it yet. The body of
   * its request is not needed any more, and goes.
   */
  finish(line: ClaimedLine, result: LineResult, cost: NanoUsd): Promise<void>;
  /** Ends a line that does not fit into what its batch may still cost. */
  stop(line: ClaimedLine): Promise<void>;
  /** Gives a line back. One that was refused before it began does not count as an attempt. */
  retry(
    line: ClaimedLine,
    later: { readonly notBeforeMs: number; readonly isCounted: boolean; readonly end: RunEnd },
  ): Promise<void>;
  /**
   * Gives back lines that no process runs any more, ends lines that may not begin any more, ends batches without open
   * lines, and releases what those had on hold.
   */
  keepUp(nowMs: number): Promise<void>;
  /** Deletes batches that are over for long enough. */
  deleteBefore(nowMs: number, limit: number): Promise<number>;
}
