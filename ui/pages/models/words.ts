// Sentences about a model: its places in the chains, and what its tool calls did to its score.

import { TELLING_CALLS } from "../../../src/core/decision.ts";
import { percent, plural, score } from "../../format.ts";
import type { ChainPlace, SeenToolCalls } from "../../types.ts";

/** `#2 of 5 in LIGHT, #1 of 4 in STANDARD`. */
export function standingText(chains: readonly ChainPlace[]): string {
  const places = chains.map(({ tier, place, of }) => `#${place} of ${of} in ${tier}`);
  return places.join(", ") || "None (direct calls only)";
}

/**
 * What was seen in one scenario and what it does: `40 calls, 31 valid (2 unparseable): score 80.0 → 71.1 (−11%)`.
 */
export function seenText({ calls, parsed, known, valid, staticScore, blendedScore, basis }: SeenToolCalls): string {
  const bad = calls - valid;
  const faults = [[calls - parsed, "unparseable"] as const, [calls - known, "unknown tool"] as const].filter(
    ([number]) => number > 0,
  );
  const why = faults.length === 0 ? "" : ` (${faults.map(([number, fault]) => `${number} ${fault}`).join(", ")})`;
  const own =
    calls === 0 ? "No calls from this account" : `${plural(calls, "call")}, ${bad === 0 ? "all" : valid} valid`;
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
  if (staticScore === null || blendedScore === null) return "no score to adjust";
  if (blendedScore < staticScore) {
    const whose = basis === "everyone" ? ", from several accounts" : "";
    return `score ${score(staticScore)} → ${score(blendedScore)} (−${percent(1 - blendedScore / staticScore)}${whose})`;
  }
  return calls < TELLING_CALLS && bad > 0 ? `no change below ${TELLING_CALLS} calls` : "score unchanged";
}
