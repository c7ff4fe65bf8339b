// The only file that knows OpenTelemetry's packages: its samplers, and its exporters for OTLP over HTTP. Loaded when an
// endpoint is configured and not before.

import { type ClientRequest, Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import type { Socket } from "node:net";
import {
  type HrTime,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace as traceApi,
} from "@opentelemetry/api";
import { ExportResultCode } from "@opentelemetry/core";
import { OTLPTraceExporter as JsonExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { OTLPTraceExporter as ProtobufExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { type Resource, resourceFromAttributes } from "@opentelemetry/resources";
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type ReadableSpan,
  type Sampler,
  SamplingDecision,
  type SpanExporter,
  TraceIdRatioBasedSampler,
} from "@opentelemetry/sdk-trace";
import type { Tracing } from "../config/options/traces.ts";
import type { Span } from "./spans.ts";
import type { CallerContext, TraceContext } from "./trace-context.ts";

/** A span with what it takes to write it down. */
export interface OutgoingSpan {
  readonly span: Span;
  readonly context: TraceContext;
  /** What to add to the steady clock for the time of day. */
  readonly clockOffsetMs: number;
}

export interface Otlp {
  isSampled(traceId: string, caller: CallerContext | null): boolean;
  /** Rejects when the collector did not take them. */
  send(spans: readonly OutgoingSpan[]): Promise<void>;
  /** What is still under way may be lost: it holds up neither the caller nor the end of the process. */
  close(): void;
}

export function openOtlp(tracing: Tracing, version: string): Otlp {
  const sampler = samplerOf(tracing);
  const exporter = exporterOf(tracing);
  const origin: Origin = {
    resource: resourceFromAttributes({ "service.version": version, ...tracing.resource }),
    instrumentationScope: { name: "switchyard", version },
  };
  return {
    isSampled(traceId, caller) {
      const context = caller === null ? ROOT_CONTEXT : traceApi.setSpanContext(ROOT_CONTEXT, remoteContext(caller));
      const { decision } = sampler.shouldSample(context, traceId, "request", SpanKind.SERVER, {}, []);
      return decision === SamplingDecision.RECORD_AND_SAMPLED;
    },
    send: (spans) =>
      new Promise((resolve, reject) => {
        exporter.export(
          spans.map((span) => readable(span, origin)),
          ({ code, error }) => {
            if (code === ExportResultCode.SUCCESS) resolve();
            else reject(error ?? new Error("the export failed"));
          },
        );
      }),
    close: () => void exporter.shutdown().catch(() => undefined),
  };
}

/** The sampler by OpenTelemetry's own name for it. */
function samplerOf({ sampler, samplerRatio }: Tracing): Sampler {
  const root = sampler.endsWith("traceidratio")
    ? new TraceIdRatioBasedSampler(samplerRatio)
    : sampler.endsWith("always_on")
      ? new AlwaysOnSampler()
      : new AlwaysOffSampler();
  return sampler.startsWith("parentbased_") ? new ParentBasedSampler({ root }) : root;
}

type Compression = Required<NonNullable<ConstructorParameters<typeof JsonExporter>[0]>>["compression"];

/** One batch is under way at a time; a second place is for the last one at the end. */
const CONCURRENCY_MAX = 2;

function exporterOf({ url, headers, timeoutMs, protocol, compression }: Tracing): SpanExporter {
  const options = {
    url,
    headers: { ...headers },
    timeoutMillis: timeoutMs,
    compression: compression as Compression,
    concurrencyLimit: CONCURRENCY_MAX,
    httpAgentOptions: quietAgent,
  };
  return protocol === "http/json" ? new JsonExporter(options) : new ProtobufExporter(options);
}

/** A process that has nothing left but a collector that does not answer is done. */
function quietAgent(protocol: string): HttpAgent {
  const Agent = protocol === "https:" ? HttpsAgent : HttpAgent;
  return new (class extends Agent {
    override createConnection(
      ...given: Parameters<HttpAgent["createConnection"]>
    ): ReturnType<HttpAgent["createConnection"]> {
      const socket = super.createConnection(...given);
      (socket as Socket | undefined)?.unref();
      return socket;
    }

    override reuseSocket(socket: Socket, request: ClientRequest): void {
      super.reuseSocket(socket, request);
      socket.unref();
    }
  })({ keepAlive: true });
}

/** The caller's place in its trace, in OpenTelemetry's words. */
function remoteContext({ traceId, spanId, isSampled }: CallerContext): SpanContext {
  return { traceId, spanId, traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE, isRemote: true };
}

/** What all spans of this process have in common. */
interface Origin {
  readonly resource: Resource;
  readonly instrumentationScope: ReadableSpan["instrumentationScope"];
}

const KINDS = { server: SpanKind.SERVER, internal: SpanKind.INTERNAL, client: SpanKind.CLIENT } as const;

/** Our span as the exporters want it. */
function readable({ span, context, clockOffsetMs }: OutgoingSpan, origin: Origin): ReadableSpan {
  const { traceId, parentSpanId: callerSpanId } = context;
  const own = (spanId: string, isRemote: boolean): SpanContext => ({
    traceId,
    spanId,
    traceFlags: TraceFlags.SAMPLED,
    isRemote,
  });
  const { name, kind, spanId, parentSpanId, attributes, isError } = span;
  const spanContext = own(spanId, false);
  return {
    name,
    kind: KINDS[kind],
    spanContext: () => spanContext,
    ...(parentSpanId === null ? {} : { parentSpanContext: own(parentSpanId, parentSpanId === callerSpanId) }),
    startTime: hrTime(span.beganAt + clockOffsetMs),
    endTime: hrTime(span.endedAt + clockOffsetMs),
    duration: hrTime(span.endedAt - span.beganAt),
    status: { code: isError ? SpanStatusCode.ERROR : SpanStatusCode.UNSET },
    attributes: attributes as ReadableSpan["attributes"],
    links: [],
    events: [],
    ended: true,
    ...origin,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

/** Seconds and nanoseconds. */
function hrTime(ms: number): HrTime {
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.round((ms - seconds * 1000) * 1e6)];
}
