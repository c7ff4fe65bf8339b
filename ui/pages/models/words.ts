// Sentences about a model: its times, its places in the chains, and what its tool calls did to its score.

import { TELLING_CALLS } from "../../../src/core/decision.ts";
import { ESTIMATED_MIN } from "../../../src/core/requests/buckets.ts";
import { duration, percent, plural, score } from "../../format.ts";
import type { ChainPlace, SeenToolCalls, Usage } from "../../types.ts";
import * as TEXT from "./text.ts";

type Timed = Pick<Usage, "requests" | "errors" | "firstContent">;

/** Counts the requests whose times are known. */
export function answered({ requests, errors }: Timed): number {
  return requests - errors;
}

/** `p50 428 ms, p95 1.20 s`. Of few requests, the 95th percentile is the slowest one, and is called that. */
export function timesText(usage: Timed | null): string {
  if (usage === null || usage.firstContent.p50Ms === null) return "–";
  const { p50Ms, p95Ms } = usage.firstContent;
  const last = answered(usage) < ESTIMATED_MIN ? TEXT.slowestOf(answered(usage)) : "p95";
  return `p50 ${duration(p50Ms)}, ${last} ${duration(p95Ms)}`;
}

/** `#2 of 5 in LIGHT, #1 of 4 in STANDARD`. */
export function standingText(chains: readonly ChainPlace[]): string {
  const places = chains.map(({ tier, place, of, effort }) => TEXT.placeInTier(place, of, tier, effort));
  return places.join(", ") || TEXT.directOnly;
}

/**
 * Describes the tool calls of one scenario and their effect on the score:
 * `40 calls, 31 valid (2 unparseable): score 80.0 → 71.1 (−11%)`.
 */
export function seenText({ calls, parsed, known, valid, staticScore, blendedScore, basis }: SeenToolCalls): string {
  const bad = calls - valid;
  const faults = [[calls - parsed, "unparseable"] as const, [calls - known, TEXT.unknownTool] as const].filter(
    ([number]) => number > 0,
  );
  const why = faults.length === 0 ? "" : ` (${faults.map(([number, fault]) => `${number} ${fault}`).join(", ")})`;
  const own = calls === 0 ? TEXT.noCalls : TEXT.validOf(plural(calls, "call"), bad === 0 ? "all" : valid);
  return `${own}${why}: ${effectOf({ calls, bad, staticScore, blendedScore, basis })}`;
}

/** Describes the effect on the score. Few calls lower nothing, however bad they are. */
function effectOf({
  calls,
  bad,
  staticScore,
  blendedScore,
  basis,
}: Pick<SeenToolCalls, "calls" | "staticScore" | "blendedScore" | "basis"> & { readonly bad: number }): string {
  if (staticScore === null || blendedScore === null) return TEXT.noScoreToAdjust;
  if (blendedScore < staticScore) {
    const whose = basis === "everyone" ? TEXT.fromSeveralAccounts : "";
    return TEXT.scoreLowered(score(staticScore), score(blendedScore), percent(1 - blendedScore / staticScore), whose);
  }
  return calls < TELLING_CALLS && bad > 0 ? TEXT.noChangeBelow(TELLING_CALLS) : TEXT.scoreUnchanged;
}
