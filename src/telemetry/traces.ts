// Traces of requests: where each stands in its caller's trace, and its spans when it is over. Everything that takes time
// happens afterwards, in batches.

import type { Tracing } from "../config/options/traces.ts";
import type { Log } from "../core/log.ts";
import type { Otlp, OutgoingSpan } from "./otlp.ts";
import { createSpanQueue, type SpanDropReason } from "./span-queue.ts";
import { type Destinations, spansOf, type TracedRequest } from "./spans.ts";
import { type CallerContext, newSpanId, newTraceId, type TraceContext } from "./trace-context.ts";

export interface Traces {
  /** For a request that has just come in, perhaps with a caller's context. */
  begin(caller: CallerContext | null): TraceContext;
  /** For one that is over. */
  end(request: TracedRequest): void;
  /** Sends what waits; a collector that is away does not hold up the end for long. */
  close(): Promise<void>;
}

export interface TracesOptions {
  readonly tracing: Tracing;
  readonly otlp: Otlp;
  readonly destinations: Destinations;
  readonly onDrop: (reason: SpanDropReason, count: number) => void;
  readonly onSent: (count: number) => void;
  readonly log: Log;
}

const GOODBYE_MS = 3_000;

export function createTraces({ tracing, otlp, destinations, onDrop, onSent, log }: TracesOptions): Traces {
  const { queueMax, delayMs } = tracing;
  const queue = createSpanQueue<OutgoingSpan>({ send: otlp.send, queueMax, delayMs, onDrop, onSent, log });
  return {
    begin(caller) {
      const traceId = caller?.traceId ?? newTraceId();
      const isSampled = otlp.isSampled(traceId, caller);
      return { traceId, spanId: newSpanId(), parentSpanId: caller?.spanId ?? null, isSampled };
    },
    end(request) {
      const { context } = request;
      if (!context.isSampled) return;
      const clockOffsetMs = Date.now() - performance.now();
      queue.add(spansOf(request, destinations, newSpanId).map((span) => ({ span, context, clockOffsetMs })));
    },
    async close() {
      // A request that has just ended is traced in the next turn of the event loop.
      await new Promise((resolve) => setImmediate(resolve));
      await queue.stop(GOODBYE_MS);
      otlp.close();
    },
  };
}
