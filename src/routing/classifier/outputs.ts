// What each output of the learned net means; training and routing share this.

import { CATEGORIES } from "../../core/decision.ts";
import { TIERS } from "../../core/tiers.ts";

/** The first outputs are one per category, in the order of CATEGORIES. */
export const OUTPUT = {
  /** Grows with the tier the request belongs to. */
  ladder: CATEGORIES.length,
  /** Grows with the difficulty among requests of one kind. */
  difficulty: CATEGORIES.length + 1,
  coding: CATEGORIES.length + 2,
  /** No meaning of their own: the net uses them inside. */
  spare: CATEGORIES.length + 3,
} as const;

export const OUTPUTS = CATEGORIES.length + 5;

export const TIER_CUTS = TIERS.length - 1;
