// A request that is over as spans: one for the request, one for the decision, one for each attempt. Names and attributes
// follow OpenTelemetry's conventions where there are any (those for generative models are still being developed, so they all
// stand here); ours begin with `gateway.`. No key is in them, no words of a provider, and no prompt or answer unless the
// operator asks for content.

import type { AttemptReport, CallReport } from "../core/call-report.ts";
import type { ChatRequest, Usage } from "../core/chat.ts";
import type { Decision } from "../core/decision.ts";
import type { CostRecord } from "../core/requests/records.ts";
import { inputMessages, outputMessages } from "./otlp/messages.ts";
import { failureReason } from "./request-metrics.ts";
import type { TraceContext } from "./trace-context.ts";

type AttributeValue = string | number | boolean | readonly string[];

export interface Span {
  readonly name: string;
  readonly kind: "server" | "internal" | "client";
  readonly spanId: string;
  readonly parentSpanId: string | null;
  /** On the steady clock. */
  readonly beganAt: number;
  readonly endedAt: number;
  readonly attributes: Readonly<Record<string, AttributeValue>>;
  readonly isError: boolean;
}

/** Parts of a finished request that its spans show. */
export interface TracedRequest {
  readonly context: TraceContext;
  readonly requestId: string;
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly keyId: string | null;
  /** Operation of the models, by OpenTelemetry's name if it has one. */
  readonly operation: string;
  readonly isStream: boolean;
  readonly outputCap: number | null;
  readonly errorCode: string | null;
  readonly report: CallReport;
  /** Content of the request; null where spans hold none. */
  readonly content: { readonly chat: ChatRequest; readonly user: string | null } | null;
  /** On the monotonic clock; 0 where the request never got that far. */
  readonly times: {
    readonly beganAt: number;
    readonly routingAt: number;
    readonly routedAt: number;
    readonly streamEndedAt: number;
    readonly endedAt: number;
  };
}

/** Name and address under which a model is called. */
export interface Destination {
  readonly upstream: string;
  /** The provider by the name that the conventions have for it. */
  readonly provider: string;
  readonly host: string | null;
  readonly port: number | null;
}

export type Destinations = (model: string, provider: string) => Destination;

export function spansOf(request: TracedRequest, destinations: Destinations, newSpanId: () => string): readonly Span[] {
  const { decision, attempts } = request.report;
  const spans = [serverSpan(request)];
  if (decision !== null) spans.push(routeSpan(request, decision, newSpanId()));
  for (const [index, attempt] of attempts.entries()) {
    const destination = destinations(attempt.model, attempt.provider);
    spans.push(attemptSpan(request, { attempt, index, destination, spanId: attempt.spanId ?? newSpanId() }));
  }
  return spans;
}

const BROKEN: ReadonlySet<string | null> = new Set(["provider-broke", "gateway-broke"]);
const NANO_PER_USD = 1e9;

function serverSpan(request: TracedRequest): Span {
  const { context, method, route, status, errorCode, times } = request;
  const { decision, answeredBy, cost, ending } = request.report;
  const isBroken = BROKEN.has(ending);
  const isError = status >= 500 || isBroken;
  return {
    name: `${method} ${route}`,
    kind: "server",
    spanId: context.spanId,
    parentSpanId: context.parentSpanId,
    beganAt: times.beganAt,
    endedAt: times.endedAt,
    isError,
    attributes: present({
      "http.request.method": method,
      "http.route": route,
      "http.response.status_code": status,
      "error.type": isError ? (isBroken ? ending : String(status)) : null,
      ...conversationAttributes(request),
      "gateway.request.id": request.requestId,
      "gateway.key.id": request.keyId,
      "gateway.ending": ending,
      "gateway.error.code": status >= 400 ? errorCode : null,
      "gateway.routing.tier": decision?.tier,
      "gateway.routing.profile": decision?.profile,
      "gateway.routing.model": decision?.model,
      "gateway.routing.answered_by": answeredBy,
      "gateway.routing.fallback": answeredBy === null || decision === null ? null : answeredBy !== decision.model,
      "gateway.charge.usd": cost === null ? null : Number(cost.charge) / NANO_PER_USD,
    }),
  };
}

function routeSpan({ context, times }: TracedRequest, decision: Decision, spanId: string): Span {
  return {
    name: "route",
    kind: "internal",
    spanId,
    parentSpanId: context.spanId,
    beganAt: times.routingAt,
    endedAt: times.routedAt,
    isError: false,
    attributes: present({
      "gateway.routing.tier": decision.tier,
      "gateway.routing.profile": decision.profile,
      "gateway.routing.method": decision.method,
      "gateway.routing.category": decision.category,
      "gateway.routing.confidence": decision.confidence,
      "gateway.routing.score": decision.score,
      "gateway.routing.tool_scenario": decision.toolScenario,
      "gateway.routing.model": decision.model,
      "gateway.routing.chain": decision.chain,
      "gateway.routing.estimated_input_tokens": decision.estimatedTokens.input,
    }),
  };
}

interface Numbered {
  readonly attempt: AttemptReport;
  readonly index: number;
  readonly destination: Destination;
  readonly spanId: string;
}

function attemptSpan(request: TracedRequest, { attempt, index, destination, spanId }: Numbered): Span {
  const { context, operation, isStream, report, times } = request;
  const isAnswer = attempt.outcome === "answered";
  const hasBroken = isAnswer && report.ending === "provider-broke";
  return {
    name: `${operation} ${destination.upstream}`,
    kind: "client",
    spanId,
    parentSpanId: context.spanId,
    beganAt: attempt.beganAt,
    // A stream goes on after its first content.
    endedAt: isAnswer && isStream ? Math.max(attempt.endedAt, times.streamEndedAt) : attempt.endedAt,
    isError: attempt.outcome === "failed" || hasBroken,
    attributes: present({
      "gen_ai.operation.name": operation,
      "gen_ai.provider.name": destination.provider,
      "gen_ai.request.model": destination.upstream,
      "gen_ai.request.stream": isStream ? true : null,
      "gen_ai.request.max_tokens": request.outputCap,
      "server.address": destination.host,
      "server.port": destination.port,
      "http.response.status_code": attempt.status,
      "error.type": attempt.outcome === "failed" ? failureReason(attempt) : hasBroken ? "stream_broken" : null,
      ...conversationAttributes(request),
      "gateway.provider": attempt.provider,
      "gateway.routing.attempt": index + 1,
      "gateway.routing.model": attempt.model,
      ...(isAnswer ? answerAttributes(request, attempt) : {}),
      ...(index === report.attempts.length - 1 ? contentAttributes(request, isAnswer) : {}),
    }),
  };
}

function conversationAttributes({ report, content }: TracedRequest): Attributes {
  return { "gen_ai.conversation.id": report.decision?.session?.id, "user.id": content?.user };
}

/** Only the last attempt has them, so that a fallback does not send a prompt twice. */
function contentAttributes({ content, report }: TracedRequest, isAnswer: boolean): Attributes {
  if (content === null) return {};
  const { capture, metadata } = report;
  return {
    "gen_ai.input.messages": inputMessages(content.chat),
    "gen_ai.output.messages":
      isAnswer && capture !== null ? outputMessages(capture, metadata?.finishReasons ?? []) : null,
  };
}

function answerAttributes({ isStream, report }: TracedRequest, attempt: AttemptReport): Attributes {
  const { cost, metadata, usage } = report;
  const finishReasons = metadata?.finishReasons ?? [];
  return {
    "gen_ai.response.model": metadata?.model,
    "gen_ai.response.finish_reasons": finishReasons.length === 0 ? null : finishReasons,
    "gen_ai.response.time_to_first_chunk": isStream ? (attempt.endedAt - attempt.beganAt) / 1000 : null,
    ...(cost === null ? {} : tokenAttributes(cost, usage)),
  };
}

/** Input counts what was read from and written to a cache too, as the conventions want it. */
function tokenAttributes({ buckets, charge, isEstimated }: CostRecord, usage: Usage | null): Attributes {
  const { input, cacheRead, cacheWrite, output } = buckets;
  const reasoning = usage?.reasoning ?? 0;
  return {
    "gen_ai.usage.input_tokens": input + cacheRead + cacheWrite,
    "gen_ai.usage.output_tokens": output,
    "gen_ai.usage.cache_read.input_tokens": cacheRead === 0 ? null : cacheRead,
    // The published name, and the one that the conventions' next version gives it.
    "gen_ai.usage.cache_creation.input_tokens": cacheWrite === 0 ? null : cacheWrite,
    "gen_ai.usage.cache_write.input_tokens": cacheWrite === 0 ? null : cacheWrite,
    "gen_ai.usage.reasoning.output_tokens": reasoning > 0 ? reasoning : null,
    // No name of the conventions, but backends show it as the cost.
    "gen_ai.usage.cost": Number(charge) / NANO_PER_USD,
    "gateway.usage.estimated": isEstimated ? true : null,
  };
}

type Attributes = Readonly<Record<string, AttributeValue | null | undefined>>;

function present(attributes: Attributes): Readonly<Record<string, AttributeValue>> {
  const kept: Record<string, AttributeValue> = {};
  for (const name in attributes) {
    const value = attributes[name];
    if (value !== null && value !== undefined) kept[name] = value;
  }
  return kept;
}
