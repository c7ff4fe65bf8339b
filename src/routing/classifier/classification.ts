// What the classifier says of one request, whatever stands behind it.

import type { Category } from "../../core/decision.ts";
import type { Tier } from "../../core/tiers.ts";

export interface Classification {
  readonly tier: Tier;
  /** Difficulty, 0 to 1. */
  readonly score: number;
  /** How likely the tier is the right one, 0 to 1. */
  readonly confidence: number;
  /** False where the tier is a guess; routing then keeps to the middle. */
  readonly isSure: boolean;
  readonly category: Category;
  readonly isCoding: boolean;
  /** What spoke for it, strongest first, in plain words. */
  readonly signals: readonly string[];
  /** `rules`, `model`, or `hybrid` where both name the same kind of task. */
  readonly method: string;
}
