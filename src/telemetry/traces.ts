// Traces of requests: where each stands in its caller's trace, and its spans when it is over. Everything that takes time
// happens afterwards, in batches.

import type { Tracing } from "../config/options/telemetry.ts";
import type { Log } from "../core/log.ts";
import type { GenAiMetrics } from "./otlp/gen-ai.ts";
import { createExportQueue, type ExportDropReason, type ExportQueue } from "./otlp/queue.ts";
import type { OutgoingSpan, SpanSender } from "./otlp/spans.ts";
import { type Destinations, spansOf, type TracedRequest } from "./spans.ts";
import { type CallerContext, newSpanId, newTraceId, type TraceContext } from "./trace-context.ts";

export interface Traces {
  /** True if the spans of sampled requests hold prompts and answers. */
  readonly hasContent: boolean;
  /** For a request that has just come in, perhaps with a caller's context. */
  begin(caller: CallerContext | null): TraceContext;
  /** For one that is over. */
  end(request: TracedRequest): void;
  /** Sends what waits; a collector that is away does not hold up the end for long. */
  close(): Promise<void>;
}

export interface TracesOptions {
  /** The way of spans; null where only metrics are made of the spans. */
  readonly sent: { readonly tracing: Tracing; readonly sender: SpanSender } | null;
  /** Metrics of spans; null where none are exported. */
  readonly genAi: GenAiMetrics | null;
  readonly destinations: Destinations;
  readonly onDrop: (reason: ExportDropReason, count: number) => void;
  readonly onSent: (count: number) => void;
  readonly log: Log;
}

export const GOODBYE_MS = 3_000;
/** Collectors take a few megabytes at once, and a span with content has up to 64 KiB of text. */
const CONTENT_BATCH_MAX = 16;

export function createTraces(options: TracesOptions): Traces {
  const { sent, genAi, destinations } = options;
  const queue = queueOf(options);
  return {
    hasContent: sent?.tracing.hasContent ?? false,
    begin(caller) {
      const traceId = caller?.traceId ?? newTraceId();
      const isSampled = sent?.sender.isSampled(traceId, caller) ?? false;
      return { traceId, spanId: newSpanId(), parentSpanId: caller?.spanId ?? null, isSampled };
    },
    end(request) {
      const { context } = request;
      if (!context.isSampled && genAi === null) return;
      const spans = spansOf(request, destinations, newSpanId);
      genAi?.note(spans);
      if (!context.isSampled) return;
      const clockOffsetMs = Date.now() - performance.now();
      queue?.add(spans.map((span) => ({ span, context, clockOffsetMs })));
    },
    async close() {
      // A request that has just ended is traced in the next turn of the event loop.
      await new Promise((resolve) => setImmediate(resolve));
      await queue?.stop(GOODBYE_MS);
      sent?.sender.close();
    },
  };
}

function queueOf({ sent, onDrop, onSent, log }: TracesOptions): ExportQueue<OutgoingSpan> | null {
  if (sent === null) return null;
  const { queueMax, delayMs, hasContent } = sent.tracing;
  const batch = hasContent ? { batchMax: CONTENT_BATCH_MAX } : {};
  return createExportQueue({
    ...{ signal: "traces", send: sent.sender.send, queueMax, delayMs, onDrop, onSent, log },
    ...batch,
  });
}
