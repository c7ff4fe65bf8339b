// The report on one call through the gateway: what was decided, tried, charged and how it ended. Composed once by
// gateway/complete.ts and never changed; the request log, metrics and spans all read it.

import type { Usage } from "./chat.ts";
import type { Decision } from "./decision.ts";
import type { NanoUsd, ServiceTier } from "./money.ts";
import type { CascadeStep } from "./requests/cascade.ts";
import type { Note } from "./requests/notes.ts";
import type { CostRecord } from "./requests/records.ts";

export interface CallReport {
  /** The decision as it was carried out: narrowed where the balance does not cover the whole chain. Null without one. */
  readonly decision: Decision | null;
  /** The amount reserved; null when nothing was. */
  readonly hold: NanoUsd | null;
  readonly attempts: readonly AttemptReport[];
  /** The id of the model that answered. */
  readonly answeredBy: string | null;
  /** Another model answered than the one selected. */
  readonly isFallback: boolean;
  /**
   * Time that the gateway itself took: from the whole request to the first attempt, and from the answer of the last one to
   * a response that is ready to be sent. Pauses between attempts are the providers' doing. Null without a response.
   */
  readonly overheadMs: number | null;
  /** Token counts as charged; null when nothing was charged. */
  readonly usage: Usage | null;
  readonly cost: CostRecord | null;
  readonly ending: CallEnding | null;
  /** Text and tool calls of the response; null where nobody asked for them. */
  readonly capture: CapturedResponse | null;
  /** Metadata that the provider sent with its response; null where no span wants it. */
  readonly metadata: ResponseMetadata | null;
  /** The answers of a cascade that were charged, in order. Absent without one. */
  readonly cascade?: readonly CascadeStep[] | undefined;
}

/**
 * Ending of a call. `replayed`: the stored response of an earlier request was sent again. A report has null where an
 * error was sent instead of a response. The words are stored with each request, so they stay as they are.
 */
export type CallEnding = "complete" | "client-gone" | "provider-broke" | "gateway-broke" | "replayed";

export interface AttemptReport {
  readonly model: string;
  readonly provider: string;
  /** Names the key that was used; absent where the provider has only one. */
  readonly keyId?: string;
  readonly startedAtMs: number;
  readonly durationMs: number;
  readonly outcome: "answered" | "failed" | "client-gone";
  readonly status: number | null;
  /** The provider's own words, which may quote the prompt. */
  readonly reason: string | null;
  /** The kind of failure; null for an answer. */
  readonly failure: string | null;
  readonly droppedFields: readonly string[];
  /** Everything that was changed or left out for this model. */
  readonly conversions: readonly Note[];
  /** The service tier with a price of its own that the provider was asked for; absent for the usual one. */
  readonly serviceTier?: ServiceTier;
  /** On the monotonic clock (`performance.now()`); for a stream, until its first content. */
  readonly beganAt: number;
  readonly endedAt: number;
  /** The request was handed to the provider's connection; null where it could not be written for this model. */
  readonly sentAt: number | null;
  /** The bytes that completed the answer, or brought the first content of a stream, arrived; null without an answer. */
  readonly receivedAt: number | null;
  /** Id of the attempt's span; null where no traces are exported. */
  readonly spanId: string | null;
}

/** The part of a response that is kept for the request log. */
export interface CapturedResponse {
  readonly text: string;
  /** Says that the text was longer than the part that is kept. */
  readonly isCut: boolean;
  /** Says that the output cap or a filter ended the answer. */
  readonly isCutShort: boolean;
  /** The tool calls that arrived whole. */
  toolCalls(): readonly CapturedToolCall[];
}

export interface CapturedToolCall {
  readonly name: string;
  readonly arguments: string;
}

export interface ResponseMetadata {
  readonly model: string | null;
  readonly finishReasons: readonly string[];
}
