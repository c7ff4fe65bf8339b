// Charges of a cascade: the answer that the client gets and the one that failed before it, each with its own hold and price.

import type { NanoUsd } from "../../core/money.ts";
import type { CascadeStep } from "../../core/requests/cascade.ts";
import type { CheckFailure } from "../../formats/checks/answer.ts";
import { baselineCost, savedShare } from "../../routing/cost.ts";
import type { Services } from "../services.ts";
import { type Assessment, book, type Delivered, type Settlement } from "../settle.ts";
import type { CascadeCourse, EarlierAnswer } from "./run.ts";

/** The assessment as the client sees it: what both answers cost, and what they save together. */
export function assessedTogether(
  assessment: Assessment,
  { course, delivered }: { readonly course: CascadeCourse; readonly delivered: Delivered },
  { catalog }: Pick<Services, "catalog">,
): Assessment {
  const charge = assessment.charge + (course.earlier?.assessment.charge ?? 0n);
  const savings = savedShare(charge, baselineCost(assessment.record.buckets, catalog.baseline));
  return { ...assessment, charge, savings, cascade: stepsOf(course, { delivered, assessment }) };
}

type ChargedAnswer = Pick<EarlierAnswer, "delivered" | "assessment">;

/** The answers of a cascade in order. `last` is the one that the client gets; null where it gets none. */
export function stepsOf({ earlier, failure }: CascadeCourse, last: ChargedAnswer | null): readonly CascadeStep[] {
  const before = earlier === null ? [] : [stepOf(earlier, earlier.failure)];
  return last === null ? before : [...before, stepOf(last, failure)];
}

function stepOf({ delivered, assessment }: ChargedAnswer, failure: CheckFailure | null): CascadeStep {
  const { reservation, model } = delivered;
  return {
    tier: reservation.decision.tier,
    model: model.id,
    provider: model.provider,
    isPassed: failure === null,
    failedCheck: failure?.check ?? null,
    reason: failure?.reason ?? null,
    charge: assessment.charge,
    buckets: assessment.record.buckets,
    holdId: reservation.holdId,
  };
}

/** Books an answer that failed its check together with the settlement of the call, which then has both charges. */
export function bookBoth(
  settling: Promise<Settlement>,
  earlier: EarlierAnswer | null,
  services: Services,
): Promise<Settlement> {
  return earlier === null ? settling : bookTogether(settling, earlier, services);
}

async function bookTogether(
  settling: Promise<Settlement>,
  earlier: EarlierAnswer,
  services: Services,
): Promise<Settlement> {
  // A process that dies between the two has charged the later answer only.
  const [settlement] = await Promise.all([settling, bookEarlier(earlier, services)]);
  return withCharge(settlement, earlier.assessment.charge);
}

/** Books an answer whose client left before it got another one. */
export function bookEarlier({ delivered, assessment }: EarlierAnswer, services: Services): Promise<Settlement> {
  return book(delivered, assessment, null, services);
}

function withCharge({ usage, cost }: Settlement, more: NanoUsd): Settlement {
  return { usage, cost: { ...cost, charge: cost.charge + more } };
}
