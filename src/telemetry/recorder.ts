// Request records on their way to the store: gathered in a bounded queue, written in batches off the request's path. What
// cannot be kept is counted with its reason and never lost silently.

import { randomBytes } from "node:crypto";
import type { Log } from "../core/log.ts";
import { type RequestRecord, recordIdAt } from "../core/requests/records.ts";
import type { RecordBatch, RecordStore, WaitingRecord } from "../core/requests/waiting.ts";
import { StoreUnavailable, UniqueViolation } from "../core/store-errors.ts";

/** `content-full`: the record was kept, its prompt and answer were not. */
type DropReason = "queue-full" | "content-full" | "refused" | "stopped";

/** Limits have defaults; the callbacks feed metrics and the live log. */
export interface RecorderOptions {
  readonly store: RecordStore;
  readonly log: Log;
  readonly onDrop: (reason: DropReason, count: number) => void;
  readonly onDepth?: (waiting: number) => void;
  /** Told of each write that the store was not there for. */
  readonly onAway?: () => void;
  /** Told of what can be read from now on. */
  readonly onWritten?: (batch: RecordBatch) => void;
  readonly queueMax?: number;
  readonly batchMax?: number;
  /** Batches under way at once: while the store works on one, the next is prepared. */
  readonly writesMax?: number;
  readonly flushMs?: number;
  readonly retryMs?: number;
  /** Characters of prompts and answers that may wait. */
  readonly contentMax?: number;
}

/** Never waits and never fails: a request must not depend on its record. */
export interface Recorder {
  newId(atMs: number): string;
  /** Takes a moment, whatever the store does. */
  add(record: RequestRecord): void;
  /** Resolves when everything added before is written, or the store is found to be away. */
  flush(): Promise<void>;
  start(): void;
  /** Writes what waits; what the store does not take now is dropped and counted. */
  stop(): Promise<void>;
}

export function createRecorder(options: RecorderOptions): Recorder {
  return new BatchingRecorder(options);
}

/** A batch that was begun. */
interface BegunBatch {
  readonly records: RecordBatch;
  /** Records that were taken before these. */
  readonly from: number;
}

/** So many records wait as objects: the garbage collector copies those. To add more at a time would delay requests. */
const LATEST_MAX = 50;

class BatchingRecorder implements Recorder {
  readonly #options: Required<RecorderOptions>;
  readonly #newId = createIdMaker();
  /** Records that are in no batch yet. */
  #latest: WaitingRecord[] = [];
  /** Oldest first. Only the last one still has room. */
  #batches: RecordBatch[] = [];
  /** Batches that were begun, oldest first; one that may have been written already is only ever tried again as it is. */
  #begun: BegunBatch[] = [];
  readonly #underWay = new Set<BegunBatch>();
  #contentLength = 0;
  /** Records taken since the start. */
  #taken = 0;
  #waiters: { readonly until: number; readonly resolve: () => void }[] = [];
  #writers = 0;
  /** On the monotonic clock: a clock that is set back does not keep records waiting. */
  #awayUntilMs = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: RecorderOptions) {
    this.#options = {
      onDepth: () => undefined,
      onAway: () => undefined,
      onWritten: () => undefined,
      queueMax: 10_000,
      batchMax: 500,
      writesMax: 1,
      flushMs: 250,
      retryMs: 1_000,
      contentMax: 64 * 1024 * 1024,
      ...options,
    };
  }

  newId(atMs: number): string {
    return this.#newId(atMs);
  }

  add(record: RequestRecord): void {
    const { queueMax, batchMax, onDrop } = this.#options;
    if (this.#waiting() >= queueMax) {
      onDrop("queue-full", 1);
      return;
    }
    const waiting = this.#flatten(this.#withinContentRoom(record));
    if (waiting === null) return;
    this.#latest.push(waiting);
    this.#taken += 1;
    if (this.#latest.length < Math.min(LATEST_MAX, batchMax)) return;
    this.#gatherLatest();
    if (this.#queued() >= batchMax && performance.now() >= this.#awayUntilMs) this.#write();
  }

  flush(): Promise<void> {
    // Not until the queue is empty: where requests keep coming it never is.
    const written = new Promise<void>((resolve) => this.#waiters.push({ until: this.#taken, resolve }));
    this.#write();
    return written;
  }

  start(): void {
    const { flushMs } = this.#options;
    this.#timer ??= setInterval(() => {
      if (this.#waiting() > 0 && performance.now() >= this.#awayUntilMs) this.#write();
    }, flushMs).unref();
  }

  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    // A request that has just ended is recorded in the next turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve));
    await this.flush();
    await this.flush();
    const lost = this.#waiting();
    if (lost === 0) return;
    this.#options.onDrop("stopped", lost);
    this.#options.log.error(
      { event: "records.lost", records: lost },
      "request records lost: the database was away at shutdown",
    );
  }

  /** Wakes those for whom nothing is left to be written. */
  #wake(settled: number): void {
    const isOver = ({ until }: { readonly until: number }): boolean => until <= settled;
    for (const { resolve } of this.#waiters.filter(isOver)) resolve();
    this.#waiters = this.#waiters.filter((waiter) => !isOver(waiter));
  }

  #waiting(): number {
    return this.#begun.reduce((sum, { records }) => sum + records.count, this.#queued());
  }

  /** Counts the records that no write was begun for. */
  #queued(): number {
    return this.#batches.reduce((sum, { count }) => sum + count, this.#latest.length);
  }

  #gatherLatest(): void {
    const latest = this.#latest;
    if (latest.length === 0) return;
    this.#latest = [];
    const last = this.#batches.at(-1);
    if (last !== undefined && last.count + latest.length <= this.#options.batchMax) this.#addTo(last, latest);
    else this.#batches.push(this.#addTo(this.#options.store.newBatch(), latest));
  }

  /** All but those that cannot be written. */
  #addTo(batch: RecordBatch, records: readonly WaitingRecord[]): RecordBatch {
    try {
      batch.add(records);
    } catch (error) {
      const [first, ...others] = records;
      if (others.length > 0) {
        for (const half of halves(records)) this.#addTo(batch, half);
      } else if (first !== undefined) {
        this.#contentLength -= contentLength(first);
        this.#reject(first.summary.requestId, error);
      }
    }
    return batch;
  }

  /** Returns null for a record that cannot be written. */
  #flatten(record: RequestRecord): WaitingRecord | null {
    try {
      return this.#options.store.flatten(record);
    } catch (error) {
      this.#contentLength -= contentLength(record);
      this.#reject(record.requestId, error);
      return null;
    }
  }

  #withinContentRoom(record: RequestRecord): RequestRecord {
    const length = contentLength(record);
    if (length === 0) return record;
    if (this.#contentLength + length > this.#options.contentMax) {
      this.#options.onDrop("content-full", 1);
      return { ...record, content: null };
    }
    this.#contentLength += length;
    return record;
  }

  /** More than one writer only for whole batches: what comes in meanwhile is better written together. */
  #write(): void {
    const { writesMax, batchMax } = this.#options;
    if (this.#writers === 0 || (this.#writers < writesMax && this.#queued() >= batchMax)) void this.#writeAll();
  }

  async #writeAll(): Promise<void> {
    this.#writers += 1;
    try {
      for (let batch = this.#next(); batch !== null && (await this.#writeOne(batch)); batch = this.#next()) {
        this.#wake(this.#begun[0]?.from ?? this.#taken - this.#queued());
      }
    } finally {
      this.#writers -= 1;
      // Nothing is left, or the store is away.
      if (this.#writers === 0) this.#wake(Number.POSITIVE_INFINITY);
    }
    this.#options.onDepth(this.#waiting());
  }

  #next(): BegunBatch | null {
    const again = this.#begun.find((batch) => !this.#underWay.has(batch));
    if (again !== undefined) return again;
    if (this.#batches.length <= 1) this.#gatherLatest();
    const from = this.#taken - this.#queued();
    const records = this.#batches.shift();
    if (records === undefined) return null;
    const batch = { records, from };
    this.#begun.push(batch);
    return batch;
  }

  /** False when the store is away. */
  async #writeOne(batch: BegunBatch): Promise<boolean> {
    this.#underWay.add(batch);
    try {
      await this.#options.store.write(batch.records);
    } catch (error) {
      if (error instanceof StoreUnavailable) {
        this.#awayUntilMs = performance.now() + this.#options.retryMs;
        this.#options.onAway();
        this.#options.log.warn(
          { event: "records.delayed", err: error, records: this.#waiting() },
          "request records wait for the database",
        );
        return false;
      }
      // A unique violation means that the batch was written and only the answer was lost.
      if (!(error instanceof UniqueViolation)) {
        this.#split(batch, error);
        return true;
      }
    } finally {
      this.#underWay.delete(batch);
    }
    this.#written(batch);
    return true;
  }

  #written(batch: BegunBatch): void {
    this.#done(batch);
    try {
      this.#options.onWritten(batch.records);
    } catch (error) {
      this.#options.log.error({ event: "records.unshown", err: error }, "live log misses request records");
    }
    batch.records.free();
  }

  #done(batch: BegunBatch): void {
    this.#begun = this.#begun.filter((each) => each !== batch);
    for (const content of batch.records.contents) this.#contentLength -= contentLength({ content });
  }

  /** One record that the store rejects must not take the others with it. */
  #split(batch: BegunBatch, error: unknown): void {
    const { from } = batch;
    const records = batch.records.records();
    if (records.length > 1) {
      const [first, second] = halves(records);
      const { newBatch } = this.#options.store;
      const split = [
        { records: this.#addTo(newBatch(), first), from },
        { records: this.#addTo(newBatch(), second), from: from + first.length },
      ];
      this.#begun.splice(this.#begun.indexOf(batch), 1, ...split);
      return;
    }
    this.#done(batch);
    this.#reject(records[0]?.summary.requestId, error);
  }

  #reject(requestId: string | undefined, error: unknown): void {
    this.#options.onDrop("refused", 1);
    const fields = { event: "records.rejected", err: error, requestId } as const;
    this.#options.log.error(fields, "database rejected a request record");
  }
}

function halves<Item>(items: readonly Item[]): readonly [readonly Item[], readonly Item[]] {
  const middle = Math.ceil(items.length / 2);
  return [items.slice(0, middle), items.slice(middle)];
}

/** Only what the operator chose to keep takes room. */
function contentLength({ content }: Pick<RequestRecord, "content">): number {
  return content === null ? 0 : content.request.length + content.prompt.length + content.answer.length;
}

/** Four digits of base 36: more than a process records in one millisecond. */
const COUNTER_MAX = 36 ** 4;

/** Unique over processes and restarts: the time, a name of this recorder, and a counter. */
function createIdMaker(): (atMs: number) => string {
  const name = randomBytes(5).toString("hex");
  let counter = 0;
  return (atMs) => {
    counter = (counter + 1) % COUNTER_MAX;
    return `${recordIdAt(atMs)}${name}${counter.toString(36).padStart(4, "0")}`;
  };
}
