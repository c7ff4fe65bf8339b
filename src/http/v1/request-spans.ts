// A /v1 request's place in a trace: taken up from the caller when it comes in, handed over as spans when it is over.

import type { FastifyRequest } from "fastify";
import type { Trace } from "../../gateway/call.ts";
import { nothingTold } from "../../gateway/response-metadata.ts";
import { readTraceparent } from "../../telemetry/trace-context.ts";
import type { Traces } from "../../telemetry/traces.ts";

/** Returns what ends them; it is told the status. */
export function beginSpans(request: FastifyRequest, waitedMs: number, traces: Traces): (status: number) => void {
  const beganAt = performance.now() - waitedMs;
  const trace = request.trace as Trace;
  const context = traces.begin(readTraceparent(request.headers.traceparent));
  trace.context = context;
  if (!context.isSampled) return () => undefined;
  trace.told = nothingTold();
  return (status) =>
    traces.end({
      context,
      requestId: request.id,
      method: request.method,
      route: request.routeOptions.url ?? "unknown",
      status,
      keyId: request.caller?.key.id ?? null,
      isStream: trace.request?.chat.isStream ?? false,
      outputCap: trace.request?.chat.maxOutputTokens ?? null,
      beganAt,
      endedAt: performance.now(),
      trace,
    });
}

interface TraceFields {
  readonly trace_id?: string;
  readonly span_id?: string;
}

/** Under the names that log collectors look for. Without traces of our own, the caller's still tells where it belongs. */
export function traceFields({ headers }: FastifyRequest, { context }: Trace): TraceFields {
  if (context !== null) return { trace_id: context.traceId, span_id: context.spanId };
  if (headers.traceparent === undefined) return NOWHERE;
  const caller = readTraceparent(headers.traceparent);
  return caller === null ? NOWHERE : { trace_id: caller.traceId };
}

const NOWHERE: TraceFields = {};
