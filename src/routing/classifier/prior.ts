// What the rules say about the kind of task, as points the net's outputs start from.

import { CATEGORIES } from "../../core/decision.ts";
import { findCategory } from "./evidence.ts";
import type { Signals } from "./signals.ts";

export interface Prior {
  /** The place among CATEGORIES. */
  readonly kind: number;
  readonly points: number;
}

const POINTS_PER_STRENGTH = 0.7;
const STRENGTH_MAX = 3;

export function priorOf(signals: Signals): Prior {
  const { category, strength } = findCategory(signals);
  return { kind: CATEGORIES.indexOf(category), points: POINTS_PER_STRENGTH * Math.min(STRENGTH_MAX, strength) };
}
