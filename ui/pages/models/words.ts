// Sentences about a model: its places in the chains, and what its tool calls did to its score.

import { TELLING_CALLS } from "../../../src/core/decision.ts";
import { ordinal, percent, plural, score } from "../../format.ts";
import type { ChainPlace, SeenToolCalls } from "../../types.ts";

/** `2nd of 5 in LIGHT, 1st of 4 in STANDARD`. */
export function standingText(chains: readonly ChainPlace[]): string {
  const places = chains.map(({ tier, place, of }) => `${ordinal(place)} of ${of} in ${tier}`);
  return places.join(", ") || "none: by name only";
}

/**
 * What was seen in one scenario and what it does: `40 calls, 31 usable (2 did not parse): 80.0 lowered to 71.1, −11 %`.
 */
export function seenText({ calls, parsed, known, valid, staticScore, blendedScore, basis }: SeenToolCalls): string {
  const bad = calls - valid;
  const faults = [
    [calls - parsed, "did not parse"] as const,
    [calls - known, "named no tool that was offered"] as const,
  ].filter(([number]) => number > 0);
  const why = faults.length === 0 ? "" : ` (${faults.map(([number, fault]) => `${number} ${fault}`).join(", ")})`;
  const own =
    calls === 0 ? "no calls of this account" : `${plural(calls, "call")}, ${bad === 0 ? "all" : valid} usable`;
  return `${own}${why}: ${effectOf({ calls, bad, staticScore, blendedScore, basis })}`;
}

/** Few calls lower nothing, however bad they are. */
function effectOf({
  calls,
  bad,
  staticScore,
  blendedScore,
  basis,
}: Pick<SeenToolCalls, "calls" | "staticScore" | "blendedScore" | "basis"> & { readonly bad: number }): string {
  if (staticScore === null || blendedScore === null) return "there is no score to lower";
  if (blendedScore < staticScore) {
    const whose = basis === "everyone" ? " by what several accounts saw" : "";
    return `${score(staticScore)} lowered to ${score(blendedScore)}${whose}, −${percent(1 - blendedScore / staticScore)}`;
  }
  return calls < TELLING_CALLS && bad > 0 ? `fewer than ${TELLING_CALLS} lower nothing` : "nothing lowered";
}
