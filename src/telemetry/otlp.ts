// OTLP over HTTP: which traces are kept, and how their spans get to the collector. OpenTelemetry's exporters write, send
// and retry. They are 0.4 MB of code, so this file is loaded only when an endpoint is configured.

import { type ClientRequest, Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import type { Socket } from "node:net";
import { type Attributes, type HrTime, SpanKind, SpanStatusCode, TraceFlags } from "@opentelemetry/api";
import { OTLPTraceExporter as JsonExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { OTLPTraceExporter as ProtobufExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import type { Tracing } from "../config/options/traces.ts";
import type { Span } from "./spans.ts";
import type { CallerContext, TraceContext } from "./trace-context.ts";

/** A span with its place in the trace. */
export interface OutgoingSpan {
  readonly span: Span;
  readonly context: TraceContext;
  /** Added to the monotonic clock, gives the time of day. */
  readonly clockOffsetMs: number;
}

export interface Otlp {
  isSampled(traceId: string, caller: CallerContext | null): boolean;
  /** Rejects when the collector did not take them. */
  send(spans: readonly OutgoingSpan[]): Promise<void>;
  /** Ends connections, so that a silent collector does not keep the process alive. */
  close(): void;
}

type Exporter = InstanceType<typeof ProtobufExporter>;
type ExporterOptions = NonNullable<ConstructorParameters<typeof ProtobufExporter>[0]>;
type ReadableSpan = Parameters<Exporter["export"]>[0][number];
type Origin = Pick<ReadableSpan, "resource" | "instrumentationScope">;

export function openOtlp(tracing: Tracing, version: string): Otlp {
  const { url, headers, protocol, timeoutMs } = tracing;
  const agent = quietAgent(new URL(url).protocol);
  const compression = tracing.compression as NonNullable<ExporterOptions["compression"]>;
  const options = {
    url,
    headers: { ...headers },
    timeoutMillis: timeoutMs,
    compression,
    httpAgentOptions: () => agent,
  };
  const exporter = protocol === "http/json" ? new JsonExporter(options) : new ProtobufExporter(options);
  const attributes = { "service.version": version, ...tracing.resource };
  // One object for all spans, because the exporter groups them by it.
  const origin: Origin = {
    resource: { attributes } as unknown as Origin["resource"],
    instrumentationScope: { name: "switchyard", version },
  };
  return {
    isSampled: (traceId, caller) => isSampled(tracing, traceId, caller),
    send: (spans) =>
      new Promise((resolve, reject) => {
        const outgoing = spans.map((span) => readableSpan(span, origin));
        exporter.export(outgoing, ({ code, error }) => (code === 0 ? resolve() : reject(error)));
      }),
    close: () => agent.close(),
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
    ...origin,
  };
}

function hrTime(ms: number): HrTime {
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.round((ms - seconds * 1000) * 1e6)];
}

/** An agent whose sockets do not keep the process alive, and that opens no more of them once it is closed. */
function quietAgent(protocol: string): HttpAgent & { close(): void } {
  const Agent = protocol === "https:" ? HttpsAgent : HttpAgent;
  let isClosed = false;
  return new (class extends Agent {
    override createConnection(
      ...given: Parameters<HttpAgent["createConnection"]>
    ): ReturnType<HttpAgent["createConnection"]> {
      // The exporter retries after a connection is cut.
      if (isClosed) throw new Error("the exporter is closed");
      const socket = super.createConnection(...given);
      (socket as Socket | undefined)?.unref();
      return socket;
    }

    override reuseSocket(socket: Socket, request: ClientRequest): void {
      super.reuseSocket(socket, request);
      socket.unref();
    }

    close(): void {
      isClosed = true;
      this.destroy();
    }
  })({ keepAlive: true });
}
