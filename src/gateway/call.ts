// One call through the gateway: what the edge hands in, whom it wants told, and how the steps' facts become one report.

import type { CallEnding, CallReport, CapturedResponse, ResponseMetadata } from "../core/call-report.ts";
import type { CancelSignal } from "../core/cancellation.ts";
import type { Decision } from "../core/decision.ts";
import type { KeyRecord } from "../core/keys.ts";
import type { Profile } from "../core/profiles.ts";
import type { ClientFormat, ClientRequest } from "../formats/format.ts";
import type { TraceContext } from "../telemetry/trace-context.ts";
import type { Attempted } from "./attempt/attempt.ts";
import type { Reservation } from "./reserve.ts";
import type { Settlement } from "./settle.ts";

export interface Caller {
  readonly key: KeyRecord;
  readonly profile: Profile | null;
}

export interface Call {
  readonly requestId: string;
  readonly format: ClientFormat;
  readonly request: ClientRequest;
  readonly caller: Caller;
  /** Aborted when the client disconnects. */
  readonly signal: CancelSignal;
  /** What of the response the report should contain. Text is also what log lines may quote. */
  readonly captures: { readonly text: boolean; readonly metadata: boolean };
  /** Where the request stands in a trace; null where no traces are exported. */
  readonly traceContext: TraceContext | null;
  readonly observer: CallObserver;
  /** Where the response is kept for a repeated request; null when the client sent no Idempotency-Key. */
  readonly idempotencyId: string | null;
}

/** Told as the call goes on, so that the edge can take times and free the call's place in the queue. */
export interface CallObserver {
  routing(): void;
  routed(): void;
  /** The gateway's own work before a provider is done. */
  reserved(): void;
  /** The first content of a stream, or a whole response, has arrived. */
  answered(): void;
  /** The response, or the beginning of a stream, is ready for the client. */
  ready(): void;
  /** The provider's stream is over, however it ended. */
  streamEnded(): void;
  /** Called exactly once, before the end of the response is sent. */
  ended(report: CallReport): void;
}

/** What the steps have returned so far. */
export interface CallFacts {
  readonly decision: Decision | null;
  readonly reservation: Reservation | null;
  readonly attempted: Attempted | null;
}

export const NO_FACTS: CallFacts = { decision: null, reservation: null, attempted: null };

/** What the last step saw. `error`: an error was sent in place of a response. */
export type LastEvent = "finished" | "replayed" | "disconnected" | "stream-broken" | "our-fault" | "error";

export interface CallEnd {
  readonly event: LastEvent;
  /** Whether the process is stopping and cuts its calls off, so that a broken call is our doing. */
  readonly isCutting: boolean;
  readonly settlement?: Settlement | null;
  readonly capture?: CapturedResponse | null;
  readonly metadata?: ResponseMetadata | null;
}

export function reportOf({ decision, reservation, attempted }: CallFacts, end: CallEnd): CallReport {
  const { settlement = null, capture = null, metadata = null } = end;
  return {
    decision: reservation?.decision ?? decision,
    hold: reservation?.amount ?? null,
    attempts: attempted?.attempts ?? [],
    answeredBy: attempted?.result.ok === true ? attempted.result.model.id : null,
    usage: settlement?.usage ?? null,
    cost: settlement?.cost ?? null,
    ending: endingOf(end),
    capture,
    metadata,
  };
}

/** The one place that decides how a call ended. */
function endingOf({ event, isCutting }: CallEnd): CallEnding | null {
  switch (event) {
    case "finished":
      return "complete";
    case "replayed":
      return "replayed";
    case "disconnected":
      return isCutting ? "gateway-broke" : "client-gone";
    case "stream-broken":
      return isCutting ? "gateway-broke" : "provider-broke";
    case "our-fault":
      return "gateway-broke";
    case "error":
      return null;
  }
}
