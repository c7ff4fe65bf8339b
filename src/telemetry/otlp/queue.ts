// Spans and log lines on their way to the collector: gathered in a bounded queue, sent in batches one after the other, off
// the request's path. A collector that is slow or away costs items, which are counted, and nothing else.

import type { Log } from "../../core/log.ts";

export type ExportDropReason = "queue-full" | "export-failed" | "stopped";

/** Names of what is sent, for the log. */
export type Signal = "traces" | "metrics" | "logs";

/** Limits of the queue, and the callbacks that learn of its items. */
export interface ExportQueueOptions<Item> {
  readonly signal: Signal;
  /** Rejects when the collector did not take them. */
  readonly send: (items: readonly Item[]) => Promise<void>;
  readonly queueMax: number;
  readonly delayMs: number;
  /** Most items of one batch; 128 if left out. */
  readonly batchMax?: number;
  readonly onDrop: (reason: ExportDropReason, count: number) => void;
  readonly onSent: (count: number) => void;
  readonly log: Log;
}

export interface ExportQueue<Item> {
  /** Takes a moment, whatever the collector does. */
  add(items: readonly Item[]): void;
  /** Sends what waits, within that time; the rest is dropped and counted. */
  stop(withinMs: number): Promise<void>;
}

/** Writing a batch down takes the process itself; more at once would hold up requests for milliseconds. */
const BATCH_MAX = 128;

export function createExportQueue<Item>(options: ExportQueueOptions<Item>): ExportQueue<Item> {
  const { queueMax, delayMs, batchMax = BATCH_MAX, onDrop } = options;
  let queue: Item[] = [];
  let running: Promise<void> | null = null;
  const deliver = createDelivery(options);
  const timer = setInterval(flush, delayMs).unref();

  function flush(): void {
    if (queue.length === 0) return;
    running ??= sendAll().finally(() => {
      running = null;
    });
  }

  /** Until the queue is empty or a batch fails: a collector that is away is asked again after the usual pause. */
  async function sendAll(): Promise<void> {
    while (queue.length > 0) {
      const batch = queue.slice(0, batchMax);
      queue = queue.slice(batchMax);
      if (!(await deliver(batch))) return;
      // Between two batches others have their turn.
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  return {
    add(items) {
      if (queue.length + items.length > queueMax) {
        onDrop("queue-full", items.length);
        return;
      }
      queue.push(...items);
      if (queue.length >= batchMax && running === null) setImmediate(flush);
    },
    async stop(withinMs) {
      clearInterval(timer);
      const lateAtMs = Date.now() + withinMs;
      for (flush(); running !== null && Date.now() < lateAtMs; flush()) await endsBy(running, lateAtMs);
      if (queue.length > 0) onDrop("stopped", queue.length);
      queue = [];
    },
  };
}

/** One batch; true when it was taken. */
function createDelivery<Item>({ signal, send, onDrop, onSent, log }: ExportQueueOptions<Item>) {
  const report = reportTrouble(signal, log);
  return async (batch: readonly Item[]): Promise<boolean> => {
    try {
      await send(batch);
      onSent(batch.length);
      report(null);
      return true;
    } catch (error) {
      onDrop("export-failed", batch.length);
      report(error);
      return false;
    }
  };
}

/** Says once when trouble begins, and once when it is over. */
export function reportTrouble(signal: Signal, log: Log): (error: unknown) => void {
  let isFailing = false;
  return (error) => {
    const wasFailing = isFailing;
    isFailing = error !== null;
    if (isFailing === wasFailing) return;
    if (error === null) {
      log.info({ event: "otlp.export_recovered", signal }, `collector accepts ${signal} again`);
      return;
    }
    const reason = error instanceof Error ? error.message.slice(0, 300) : "unknown";
    const message = `collector does not accept ${signal}; they are dropped until it does`;
    log.warn({ event: "otlp.export_failed", signal, reason }, message);
  };
}

async function endsBy(work: Promise<void>, lateAtMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, Math.max(0, lateAtMs - Date.now()));
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}
