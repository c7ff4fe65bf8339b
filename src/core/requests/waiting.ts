// Records on their way into the store. Each waits as few flat values, and soon as bytes of a batch, because a garbage
// collector copies whatever else waits.

import type { RequestSummary } from "./fields.ts";
import type { NewContent, RequestRecord, ToolCallCheck } from "./records.ts";

/** Part of a record that is written. Only `content` shares objects with the request of the record. */
export interface WaitingRecord {
  readonly accountId: string;
  readonly summary: RequestSummary;
  /** JSON in UTF-8, because bytes lie outside the heap. */
  readonly detail: Uint8Array;
  readonly toolCalls: ToolCallCheck | null;
  readonly content: NewContent | null;
}

/** Part of a record that the live log shows. */
export type WrittenRecord = Pick<WaitingRecord, "accountId" | "summary">;

/** Records that are written together. It keeps them as they are written, in little memory. */
export interface RecordBatch {
  readonly count: number;
  /** Contents of the records that have some. */
  readonly contents: readonly NewContent[];
  /** Either all or, where it throws, none of them. Some together take less room than one by one. */
  add(records: readonly WaitingRecord[]): void;
  /** Reads them again, for the few who need that. */
  records(): readonly WaitingRecord[];
  /** The same without their details, in a third of the time. */
  written(): readonly WrittenRecord[];
  /** Gives the memory back at once. The batch must not be used any more. */
  free(): void;
}

export interface RecordStore<Batch extends RecordBatch = RecordBatch> {
  /** To be called soon after the request is over. */
  flatten(record: RequestRecord): WaitingRecord;
  newBatch(): Batch;
  /** All or nothing. A batch that was written before, though its answer was lost, is `UniqueViolation`. */
  write(batch: Batch): Promise<void>;
  /** Deletes the oldest records from before that time, at most so many; returns how many. */
  deleteBefore(atMs: number, most: number): Promise<number>;
}
