// Traces by OTLP: which of them are kept, and spans as OpenTelemetry writes them.

import { type Attributes, SpanKind, SpanStatusCode, TraceFlags } from "@opentelemetry/api";
import {
  JsonTraceSerializer,
  ProtobufTraceSerializer,
  TraceExporterMetricsHelper,
} from "@opentelemetry/otlp-transformer";
import type { Tracing } from "../../config/options/telemetry.ts";
import type { Span } from "../spans.ts";
import type { CallerContext, TraceContext } from "../trace-context.ts";
import { hrTime, type Origin, type OtlpSender, openSender, originOf } from "./sender.ts";

/** A span with its place in the trace. */
export interface OutgoingSpan {
  readonly span: Span;
  readonly context: TraceContext;
  /** Added to the monotonic clock, gives the time of day. */
  readonly clockOffsetMs: number;
}

export interface SpanSender extends OtlpSender<readonly OutgoingSpan[]> {
  isSampled(traceId: string, caller: CallerContext | null): boolean;
}

type ReadableSpan = Parameters<typeof JsonTraceSerializer.serializeRequest>[0][number];

const CODEC = {
  json: JsonTraceSerializer,
  protobuf: ProtobufTraceSerializer,
  counts: TraceExporterMetricsHelper,
};

export function openSpanSender(tracing: Tracing, version: string): SpanSender {
  const sender = openSender<ReadableSpan[]>(tracing, CODEC);
  const origin = originOf(tracing, version);
  return {
    isSampled: (traceId, caller) => isSampled(tracing, traceId, caller),
    send: (spans) => sender.send(spans.map((span) => readableSpan(span, origin))),
    close: sender.close,
  };
}

/** OpenTelemetry's samplers by their names: `parentbased_` follows the caller where there is one. */
function isSampled({ sampler, samplerRatio }: Tracing, traceId: string, caller: CallerContext | null): boolean {
  if (caller !== null && sampler.startsWith("parentbased_")) return caller.isSampled;
  return sampler.endsWith("traceidratio") ? isInRatio(traceId, samplerRatio) : sampler.endsWith("always_on");
}

const WORD_MAX = 0xffffffff;

/** Decides like OpenTelemetry's SDK for JavaScript, so that services with the same ratio keep the same traces. */
function isInRatio(traceId: string, ratio: number): boolean {
  const words = traceId.match(/.{8}/g) ?? [];
  const folded = words.reduce((sum, word) => (sum ^ Number.parseInt(word, 16)) >>> 0, 0);
  return folded < Math.floor(ratio * WORD_MAX);
}

const KINDS = { internal: SpanKind.INTERNAL, server: SpanKind.SERVER, client: SpanKind.CLIENT } as const;

function readableSpan({ span, context: { traceId }, clockOffsetMs }: OutgoingSpan, origin: Origin): ReadableSpan {
  const { name, kind, spanId, parentSpanId, beganAt, endedAt, isError } = span;
  const contextOf = (id: string) => ({ traceId, spanId: id, traceFlags: TraceFlags.SAMPLED });
  return {
    ...{ name, kind: KINDS[kind], spanContext: () => contextOf(spanId) },
    ...(parentSpanId === null ? {} : { parentSpanContext: contextOf(parentSpanId) }),
    startTime: hrTime(beganAt + clockOffsetMs),
    endTime: hrTime(endedAt + clockOffsetMs),
    duration: hrTime(endedAt - beganAt),
    ended: true,
    attributes: span.attributes as Attributes,
    status: { code: isError ? SpanStatusCode.ERROR : SpanStatusCode.UNSET },
    ...{ links: [], events: [], droppedAttributesCount: 0, droppedEventsCount: 0, droppedLinksCount: 0 },
    ...{ resource: origin.resource, instrumentationScope: origin.scope },
  };
}
