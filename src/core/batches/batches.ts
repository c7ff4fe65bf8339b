// Batches: many requests that run behind live traffic, and the port of their store. Whatever belongs to another account
// does not exist.

import type { NanoUsd } from "../money.ts";
import type { JsonItem, OwnedId } from "../responses/stored.ts";

export type BatchApi = "openai" | "messages";
export type BatchStatus =
  | "validating"
  | "in_progress"
  | "cancelling"
  | "completed"
  | "failed"
  | "expired"
  | "cancelled";
/** The last four are ends. `stopped`: the batch had cost what its caller allows. */
export const LINE_STATES = [
  "new",
  "waiting",
  "running",
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
  /** Stays null where it cannot be opened. */
  readonly request: LineRequest | null;
}

/** A line as its result is shown. */
export interface EndedLine {
  readonly position: number;
  readonly customId: string;
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
  addLines(name: OwnedId, first: number, lines: readonly LineRequest[]): Promise<void>;
  /** Lets the lines run. */
  release(name: OwnedId): Promise<void>;
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

export interface BatchQueue {
  /** Takes lines that wait, but none of the batches that rest. */
  claim(limit: number, nowMs: number, resting: readonly string[]): Promise<readonly ClaimedLine[]>;
  /** Writes the result of a line that this process runs, and what it cost. */
  finish(line: ClaimedLine, result: LineResult, cost: NanoUsd): Promise<void>;
  /** Gives a line back. One that was refused before it began does not count as an attempt. */
  retry(line: ClaimedLine, later: { readonly notBeforeMs: number; readonly isCounted: boolean }): Promise<void>;
  /** Gives back lines that no process runs any more, ends lines that may not begin any more, and ends batches without open lines. */
  keepUp(nowMs: number): Promise<void>;
  /** Deletes batches that are over for long enough. */
  deleteBefore(nowMs: number, limit: number): Promise<number>;
}
