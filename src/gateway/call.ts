// One request on its way through the gateway, and what is noted about it for the log.

import type { CancelSignal } from "../core/cancellation.ts";
import type { Usage } from "../core/chat.ts";
import type { Decision } from "../core/decision.ts";
import type { KeyRecord } from "../core/keys.ts";
import type { NanoUsd } from "../core/money.ts";
import type { Profile } from "../core/profiles.ts";
import type { CostRecord } from "../core/requests/records.ts";
import type { ClientFormat, ClientRequest } from "../formats/format.ts";
import type { TraceContext } from "../telemetry/trace-context.ts";
import type { Heard } from "./capture.ts";
import type { Told } from "./response-metadata.ts";

export interface Caller {
  readonly key: KeyRecord;
  readonly profile: Profile | null;
}

export interface Call {
  readonly requestId: string;
  readonly format: ClientFormat;
  readonly request: ClientRequest;
  readonly caller: Caller;
  /** Aborted when the client has gone. */
  readonly signal: CancelSignal;
  readonly trace: Trace;
  /** Where the answer is kept for a repeated request; null when the client sent no Idempotency-Key. */
  readonly idempotencyId: string | null;
}

export interface AttemptNote {
  readonly model: string;
  readonly provider: string;
  readonly startedAtMs: number;
  readonly durationMs: number;
  readonly outcome: "answered" | "failed" | "client-gone";
  readonly status: number | null;
  readonly reason: string | null;
  /** The kind of failure; null for an answer. */
  readonly failure: string | null;
  readonly droppedFields: readonly string[];
  /** What conversion changed or left out for this model, in words. */
  readonly conversions: readonly string[];
  /** On the steady clock; of a stream until its first content. */
  readonly beganAt: number;
  readonly endedAt: number;
  /** Its span; null where there are no traces. */
  readonly spanId: string | null;
}

/**
 * Moments on the steady clock (`performance.now()`), for what takes less than a millisecond; 0 where it never came to that.
 */
export interface Marks {
  /** The whole body was there. */
  readAt: number;
  /** The decision was begun, and taken. */
  decidingAt: number;
  decidedAt: number;
  /** The first attempt began, and the last one had an outcome. */
  sentAt: number;
  heardAt: number;
  /** The answer, or the beginning of a stream, was ready for the client. */
  readyAt: number;
  /** The provider's stream was over, however it ended. */
  providerEndedAt: number;
}

/** Filled in step by step; read once, when the request is over. */
export interface Trace {
  decision: Decision | null;
  attempts: AttemptNote[];
  answeredBy: string | null;
  usage: Usage | null;
  isUsageEstimated: boolean;
  charge: NanoUsd | null;
  firstContentAtMs: number | null;
  /** `replayed`: the stored answer of an earlier request was given again. */
  ending: "complete" | "client-gone" | "provider-broke" | "gateway-broke" | "replayed" | null;
  request: ClientRequest | null;
  hold: NanoUsd | null;
  cost: CostRecord | null;
  errorCode: string | null;
  /** Whether the answer's text is to be kept for the record. */
  keepsContent: boolean;
  /** What was heard of the answer; null when nobody will ask. */
  heard: Heard | null;
  /** Told when the gateway's own work before a provider is done. */
  onReserved: (() => void) | null;
  readonly marks: Marks;
  /** Where the request stands in a trace; null where there are no traces. */
  context: TraceContext | null;
  /** What the provider said of its answer; null where no span wants it. */
  told: Told | null;
}

export function emptyTrace(): Trace {
  return {
    decision: null,
    attempts: [],
    answeredBy: null,
    usage: null,
    isUsageEstimated: false,
    charge: null,
    firstContentAtMs: null,
    ending: null,
    request: null,
    hold: null,
    cost: null,
    errorCode: null,
    keepsContent: false,
    heard: null,
    onReserved: null,
    marks: { readAt: 0, decidingAt: 0, decidedAt: 0, sentAt: 0, heardAt: 0, readyAt: 0, providerEndedAt: 0 },
    context: null,
    told: null,
  };
}
