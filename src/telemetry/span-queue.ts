// Spans on their way to the collector: gathered in a bounded queue, sent in batches one after the other, off the request's
// path. A collector that is slow or away costs spans, which are counted, and nothing else.

import type { Log } from "../core/log.ts";

export type SpanDropReason = "queue-full" | "export-failed" | "stopped";

/** Limits of the queue, and the callbacks that learn of its spans. */
export interface SpanQueueOptions<Span> {
  /** Rejects when the collector did not take them. */
  readonly send: (spans: readonly Span[]) => Promise<void>;
  readonly queueMax: number;
  readonly delayMs: number;
  readonly onDrop: (reason: SpanDropReason, count: number) => void;
  readonly onSent: (count: number) => void;
  readonly log: Log;
}

export interface SpanQueue<Span> {
  /** Takes a moment, whatever the collector does. */
  add(spans: readonly Span[]): void;
  /** Sends what waits, within that time; the rest is dropped and counted. */
  stop(withinMs: number): Promise<void>;
}

/** Writing a batch down takes the process itself; more at once would hold up requests for milliseconds. */
const BATCH_MAX = 128;

export function createSpanQueue<Span>(options: SpanQueueOptions<Span>): SpanQueue<Span> {
  const { queueMax, delayMs, onDrop } = options;
  let queue: Span[] = [];
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
      const batch = queue.slice(0, BATCH_MAX);
      queue = queue.slice(BATCH_MAX);
      if (!(await deliver(batch))) return;
      // Between two batches others have their turn.
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  return {
    add(spans) {
      if (queue.length + spans.length > queueMax) {
        onDrop("queue-full", spans.length);
        return;
      }
      queue.push(...spans);
      if (queue.length >= BATCH_MAX && running === null) setImmediate(flush);
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

/** One batch; true when it was taken. Says once when trouble begins, and once when it is over. */
function createDelivery<Span>({ send, onDrop, onSent, log }: SpanQueueOptions<Span>) {
  let isFailing = false;
  return async (batch: readonly Span[]): Promise<boolean> => {
    try {
      await send(batch);
      onSent(batch.length);
      if (isFailing) log.info({ event: "traces.export_recovered" }, "trace collector accepts spans again");
      isFailing = false;
      return true;
    } catch (error) {
      onDrop("export-failed", batch.length);
      const reason = error instanceof Error ? error.message.slice(0, 300) : "unknown";
      if (!isFailing)
        log.warn(
          { event: "traces.export_failed", reason },
          "trace collector does not accept spans; they are dropped until it does",
        );
      isFailing = true;
      return false;
    }
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
