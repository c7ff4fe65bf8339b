// Request records on their way to the store: gathered in a bounded queue, written in batches off the request's path. What
// cannot be kept is counted with its reason and never lost silently.

import { randomBytes } from "node:crypto";
import type { Log } from "../core/log.ts";
import { type RecordStore, type RequestRecord, recordIdAt } from "../core/requests/records.ts";
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
  readonly onWritten?: (records: readonly RequestRecord[]) => void;
  readonly queueMax?: number;
  readonly batchMax?: number;
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

class BatchingRecorder implements Recorder {
  readonly #options: Required<RecorderOptions>;
  readonly #newId = createIdMaker();
  #queue: RequestRecord[] = [];
  /** Batches that were begun; a batch that may have been written already is only ever tried again as it is. */
  #begun: (readonly RequestRecord[])[] = [];
  #contentLength = 0;
  /** How many were ever taken, and how many of those are written or rejected by the store. */
  #taken = 0;
  #settled = 0;
  #waiters: { readonly until: number; readonly resolve: () => void }[] = [];
  #isWriting = false;
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
    this.#queue.push(this.#withinContentRoom(record));
    this.#taken += 1;
    if (this.#queue.length >= batchMax && !this.#isWriting && performance.now() >= this.#awayUntilMs) void this.flush();
  }

  flush(): Promise<void> {
    // Not until the queue is empty: where requests keep coming it never is.
    const written = new Promise<void>((resolve) => this.#waiters.push({ until: this.#taken, resolve }));
    if (!this.#isWriting) void this.#writeAll();
    this.#wake(this.#settled);
    return written;
  }

  start(): void {
    const { flushMs } = this.#options;
    this.#timer ??= setInterval(() => {
      if (this.#waiting() > 0 && performance.now() >= this.#awayUntilMs) void this.flush();
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

  #wake(settled: number): void {
    const isOver = ({ until }: { readonly until: number }): boolean => until <= settled;
    for (const { resolve } of this.#waiters.filter(isOver)) resolve();
    this.#waiters = this.#waiters.filter((waiter) => !isOver(waiter));
  }

  #waiting(): number {
    return this.#begun.reduce((sum, batch) => sum + batch.length, this.#queue.length);
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

  async #writeAll(): Promise<void> {
    const { batchMax, onDepth } = this.#options;
    this.#isWriting = true;
    try {
      while (this.#waiting() > 0) {
        if (this.#begun.length === 0) {
          this.#begun.push(this.#queue.slice(0, batchMax));
          this.#queue = this.#queue.slice(batchMax);
        }
        if (!(await this.#writeFirst())) break;
        this.#wake(this.#settled);
      }
    } finally {
      this.#isWriting = false;
      this.#wake(Number.POSITIVE_INFINITY);
    }
    onDepth(this.#waiting());
  }

  /** False when the store is away. */
  async #writeFirst(): Promise<boolean> {
    const batch = this.#begun[0] as readonly RequestRecord[];
    try {
      await this.#options.store.write(batch);
      this.#written(batch);
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
      // Its ids are there: it was written, only the answer was lost.
      if (error instanceof UniqueViolation) this.#written(batch);
      else this.#split(batch, error);
    }
    return true;
  }

  #written(batch: readonly RequestRecord[]): void {
    this.#done(batch);
    this.#options.onWritten(batch);
  }

  #done(batch: readonly RequestRecord[]): void {
    this.#begun = this.#begun.filter((each) => each !== batch);
    for (const record of batch) this.#contentLength -= contentLength(record);
    this.#settled += batch.length;
  }

  /** One record that the store rejects must not take the others with it. */
  #split(batch: readonly RequestRecord[], error: unknown): void {
    if (batch.length > 1) {
      const middle = Math.ceil(batch.length / 2);
      this.#begun.splice(0, 1, batch.slice(0, middle), batch.slice(middle));
      return;
    }
    this.#done(batch);
    this.#options.onDrop("refused", 1);
    this.#options.log.error(
      { event: "records.rejected", err: error, requestId: batch[0]?.requestId },
      "database rejected a request record",
    );
  }
}

/** Only what the operator chose to keep takes room. */
function contentLength({ content }: RequestRecord): number {
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
