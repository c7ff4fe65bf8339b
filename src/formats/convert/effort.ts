// Reasoning effort: the values of one format, mapped to those that a model accepts.

import type { Dialect, HostedModel } from "../../core/model.ts";
import { EFFORTS, type Effort, USUAL_EFFORTS } from "../../core/requests/effort.ts";
import type { Conversion } from "./conversion.ts";

export const NO_REASONING = "dropped thinking and effort: the model does not reason";

/** Thresholds in tokens between the three usual efforts. */
const LOW_BUDGET_MAX = 4_000;
const MEDIUM_BUDGET_MAX = 16_000;
/** Tokens of thinking an effort stands for, where a model takes budgets only. */
const BUDGETS: Readonly<Record<Effort, number>> = {
  none: 0,
  minimal: 1024,
  low: 2048,
  medium: 8192,
  high: 24_576,
  xhigh: 32_768,
  max: 49_152,
};

/** The nearest effort the model takes, the lower when two are as near; null when it takes none, or cannot be kept from thinking. */
export function nearestEffort(wanted: Effort, { efforts = USUAL_EFFORTS }: Dialect): Effort | null {
  if (efforts.includes(wanted)) return wanted;
  if (wanted === "none") return null;
  const rank = EFFORTS.indexOf(wanted);
  let nearest: Effort | null = null;
  let distance: number = EFFORTS.length;
  for (const effort of efforts) {
    const gap = Math.abs(EFFORTS.indexOf(effort) - rank);
    if (effort === "none" || gap >= distance) continue;
    nearest = effort;
    distance = gap;
  }
  return nearest;
}

/** Picks the effort to ask the model for, with a note where it is another than was wanted; null for none. */
export function convertEffort(wanted: Effort, model: HostedModel, conversion: Conversion): Effort | null {
  if (!model.capabilities.has("reasoning")) {
    if (wanted !== "none") conversion.note("option_dropped", NO_REASONING);
    return null;
  }
  const effort = nearestEffort(wanted, model.dialect);
  if (effort !== wanted)
    conversion.note("option_changed", `asked for effort '${effort ?? "as usual"}' instead of '${wanted}'`);
  return effort;
}

export function effortForBudget(budgetTokens: number): Effort {
  if (budgetTokens < LOW_BUDGET_MAX) return "low";
  return budgetTokens < MEDIUM_BUDGET_MAX ? "medium" : "high";
}

export function budgetForEffort(effort: Effort): number {
  return BUDGETS[effort];
}
