// The second answer to a request: another model is asked what the client asked, after the client has its answer. The
// budget of the day is taken at the upper bound before the call, and corrected by what it came to.

import { type QuoteInput, quoteChain } from "../../billing/estimate.ts";
import type { CapturedResponse } from "../../core/call-report.ts";
import type { CancelSignal } from "../../core/cancellation.ts";
import type { Usage } from "../../core/chat.ts";
import { type Constraints, type Decision, NO_CONTROLS } from "../../core/decision.ts";
import type { HostedModel } from "../../core/model.ts";
import { costNano, type NanoUsd } from "../../core/money.ts";
import { priceOf, type RateCard } from "../../core/price.ts";
import type { AnswerFigures } from "../../core/requests/outcomes.ts";
import type { CallFormat, ClientRequest, StreamWriter } from "../../formats/format.ts";
import { outputTokensOf } from "../../formats/provider/output-meter.ts";
import { hostRules, keyIdsOf, orderHosts } from "../../routing/hosts.ts";
import { hostsMeeting, listNeeds, residencyOf } from "../../routing/needs.ts";
import type { OpenStream, Reached } from "../attempt/try-model.ts";
import { unwatchedTry } from "../attempt/unwatched-try.ts";
import { createCapture } from "../capture.ts";
import type { Services } from "../services.ts";
import { meter } from "../settle.ts";

/** The client's request as it was read, to be asked again. */
export interface AskedAgain {
  readonly format: CallFormat;
  readonly request: ClientRequest;
  readonly constraints: Constraints;
  readonly decision: Decision;
  readonly requestId: string;
  readonly liveOutputTokens: number;
}

/** A model at the host to ask, the length it may have, and what that can cost at most. */
export interface Planned {
  readonly host: HostedModel;
  /** The id of the provider's key; undefined where there are not several. */
  readonly keyId: string | undefined;
  readonly outputCap: number;
  readonly costMax: NanoUsd;
}

/** A second answer may be this many times as long as the first, and has room to think. */
const LONGER = 4;
const OUTPUT_ROOM_TOKENS = 4_096;

/**
 * Plans the second answer. Returns null when the model cannot take the request, or is cooling down: a sample is never
 * worth a risk for live requests.
 */
export function plan(asked: AskedAgain, modelId: string, services: Services): Planned | null {
  const { catalog, health, speeds } = services;
  const { request, constraints, decision } = asked;
  const model = catalog.models.get(modelId);
  if (model === undefined || (request.nativeNeeds ?? []).length > 0) return null;
  if (request.searchAsk !== undefined || request.imageAsk !== undefined) return null;
  const restingModels = health.resting();
  const question = {
    chat: request.chat,
    controls: { ...NO_CONTROLS, ...residencyOf(request.controls) },
    constraints,
    restingModels,
    hostSpeeds: speeds.current(),
  };
  const needs = listNeeds({ question, catalog, inputTokens: decision.estimatedTokens.input });
  const able = hostsMeeting(needs, model, catalog).filter(({ hostKey }) => !restingModels.has(hostKey));
  const [host] = orderHosts(able, hostRules(question, catalog));
  const key = host === undefined ? null : freeKey(host, asked, services);
  if (host === undefined || key === null) return null;
  const room = Math.max(OUTPUT_ROOM_TOKENS, LONGER * asked.liveOutputTokens);
  const outputCap = Math.min(request.chat.maxOutputTokens ?? room, room, host.maxOutput);
  return { host, keyId: key.id, outputCap, costMax: costMaxOf(asked, host, outputCap) };
}

/** Chosen as for other requests; null where all are cooling down. */
function freeKey(
  { provider, hostKey }: HostedModel,
  { decision, requestId }: AskedAgain,
  { registry, health }: Services,
): { readonly id: string | undefined } | null {
  const { apiKeys } = registry.connection(provider).provider;
  const ids = keyIdsOf(apiKeys, decision, () => requestId);
  // Samples say nothing about health, and are no calls that a retry could be drawn from.
  const at = ids.findIndex((id) => !health.stateOf(hostKey, id).isResting);
  return at < 0 ? null : { id: ids[at] };
}

/** Estimates the cost like a hold but without markup: the operator pays for samples. */
function costMaxOf({ format, request }: AskedAgain, host: HostedModel, outputCap: number): NanoUsd {
  const input: QuoteInput = {
    models: [host],
    chat: { ...request.chat, maxOutputTokens: outputCap },
    bodyBytes: request.source.bytes.length,
    mayCacheLong: format.mayCacheLong(request),
    expectedOutputTokens: outputCap,
    markupPpm: 0,
  };
  return quoteChain(input)[0]?.amount ?? 0n;
}

export type SecondAnswer =
  | { readonly state: "answered"; readonly figures: AnswerFigures; readonly said: CapturedResponse }
  /** Refused before anything was generated: it costs nothing. */
  | { readonly state: "refused" }
  /** Broken on the way, so that nobody knows what it cost. */
  | { readonly state: "broken" };

export async function askAgain(
  { format, request, decision }: AskedAgain,
  { host, keyId, outputCap }: Planned,
  { signal, services }: { readonly signal: CancelSignal; readonly services: Services },
): Promise<SecondAnswer> {
  const { now, routing } = services;
  const startedAtMs = now();
  const beginsByMs = startedAtMs + routing.answerWithinMs;
  const sending = { call: { format, request, signal }, model: host, keyId, outputCap, beginsByMs };
  const tried = await unwatchedTry(sending, services);
  if (!tried.ok) return { state: tried.failure.status === null ? "broken" : "refused" };
  const heard = await hearOut(tried.answer);
  if (heard === null) return { state: "broken" };
  const { usage, outputTokens, said } = heard;
  const { buckets } = meter({ usage, estimate: { inputTokens: decision.estimatedTokens.input, outputTokens } });
  const cost = costNano(buckets, priceOf(host.price as RateCard, { ...usage, buckets }), 0);
  const latencyMs = now() - startedAtMs;
  return { state: "answered", figures: { model: host.id, outputTokens: buckets.output, latencyMs, cost }, said };
}

interface Heard {
  readonly usage: Usage | null;
  readonly outputTokens: number;
  readonly said: CapturedResponse;
}

/** The whole answer; null for a stream that broke. */
async function hearOut({ whole, stream }: Reached): Promise<Heard | null> {
  const capture = createCapture({ toolCalls: true, text: true, metadata: false });
  const said = capture.content as CapturedResponse;
  if (whole !== null) {
    capture.response(whole);
    return { usage: whole.usage, outputTokens: outputTokensOf(whole.outputText), said };
  }
  if (!(await readToEnd(stream, capture.watching(SILENT)))) return null;
  const { usage, outputTokens } = stream.reader.progress;
  return { usage, outputTokens, said };
}

/** Nobody listens but the capture. */
const SILENT: StreamWriter = { ping: "", write: () => "", end: () => "", fail: () => "" };

/** False when it broke. */
async function readToEnd({ reader, body, head, isAtEnd }: OpenStream, writer: StreamWriter): Promise<boolean> {
  writer.write(head);
  for (let hasEnded = isAtEnd; !hasEnded && !reader.progress.isDone && reader.progress.fault === null; ) {
    const bytes = await body.read();
    hasEnded = bytes === null;
    writer.write(bytes === null ? reader.end() : reader.push(bytes));
  }
  const isWhole = reader.progress.isFinished && reader.progress.fault === null && body.failure === null;
  if (isWhole) body.release();
  else body.cancel();
  return isWhole;
}
