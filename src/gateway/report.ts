// The report on a call: composes what the steps returned, and decides how the call ended.

import type { AttemptReport, CallEnding, CallReport, CapturedResponse, ResponseMetadata } from "../core/call-report.ts";
import type { Decision } from "../core/decision.ts";
import type { CascadeStep } from "../core/requests/cascade.ts";
import type { Attempted } from "./attempt/attempt.ts";
import type { LastEvent } from "./call.ts";
import type { CascadeCourse } from "./cascade/run.ts";
import type { Reservation } from "./reserve.ts";
import { isFallback, type Settlement } from "./settle.ts";

/** Results that the steps have returned so far. */
export interface CallFacts {
  readonly decision: Decision | null;
  readonly reservation: Reservation | null;
  readonly attempted: Attempted | null;
  /** The course of a cascade; null without one. */
  readonly course: CascadeCourse | null;
}

export const NO_FACTS: CallFacts = { decision: null, reservation: null, attempted: null, course: null };

export interface CallEnd {
  readonly event: LastEvent;
  /** True while the process is stopping and cuts its calls off, so that we broke the call. */
  readonly isCutting: boolean;
  /** Absent without a response. */
  readonly work?: GatewayWork;
  readonly settlement?: Settlement | null;
  readonly capture?: CapturedResponse | null;
  readonly metadata?: ResponseMetadata | null;
  /** The answers of a cascade; absent without one. */
  readonly cascade?: readonly CascadeStep[] | undefined;
}

/** From the whole request to a response that is ready to be sent, on the monotonic clock. */
interface GatewayWork {
  readonly receivedAt: number;
  readonly readyAt: number;
}

export function reportOf({ decision, reservation, attempted, course }: CallFacts, end: CallEnd): CallReport {
  const { settlement = null, capture = null, metadata = null } = end;
  const followed = reservation?.decision ?? decision;
  const attempts = course?.attempts ?? attempted?.attempts ?? [];
  const answeredBy = attempted?.result.ok === true ? attempted.result.model.id : null;
  return {
    decision: followed?.isNamed ? null : followed,
    hold: course?.hold ?? reservation?.amount ?? null,
    attempts,
    answeredBy,
    isFallback: answeredBy !== null && followed !== null && isFallback(answeredBy, followed),
    overheadMs: end.work === undefined ? null : overheadMs(end.work, attempts),
    usage: settlement?.usage ?? null,
    cost: settlement?.cost ?? null,
    ending: endingOf(end),
    capture,
    metadata,
    cascade: end.cascade,
  };
}

function overheadMs({ receivedAt, readyAt }: GatewayWork, attempts: readonly AttemptReport[]): number | null {
  const [first, last] = [attempts[0], attempts.at(-1)];
  if (first === undefined || last === undefined) return null;
  return first.beganAt - receivedAt + (readyAt - last.endedAt);
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
