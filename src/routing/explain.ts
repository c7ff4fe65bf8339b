// Writes the `reasoning` of a decision: the score, the strongest signals, then each step that changed something.

import type { Controls } from "../core/decision.ts";
import type { Classification } from "./classifier/classification.ts";

export interface Explanation {
  readonly classification: Classification;
  readonly controls: Controls;
  /** The steps that changed the tier or the chain, in order. */
  readonly notes: readonly string[];
}

export function explain({ classification, controls, notes }: Explanation): string {
  const { score, tier, signals } = classification;
  const heard = `score ${score.toFixed(2)} (${tier}): ${signals.join(", ")}`;
  return [...openingOf(controls), heard, ...notes].join("; ");
}

// The score is named for the record even where it did not decide.
function openingOf({ profile, forcedTier, model }: Controls): readonly string[] {
  if (profile === "tier") return [`profile tier: ${forcedTier} as asked, the prompt's own tier not used`];
  if (profile === "direct") return [`profile direct: ${model} as asked, the prompt's own tier not used`];
  return [];
}
