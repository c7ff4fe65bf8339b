// Where the ends of a range of tiers stand, and the range in words.

import { TIERS } from "../../src/core/tiers.ts";

export const LAST = TIERS.length - 1;

export function rankOf(tier: string | null | undefined, otherwise: number): number {
  const rank = (TIERS as readonly (string | null | undefined)[]).indexOf(tier);
  return rank < 0 ? otherwise : rank;
}

export function nearerEnd(rank: number, low: number, high: number): "low" | "high" {
  return Math.abs(rank - low) < Math.abs(rank - high) || rank < low ? "low" : "high";
}

export function rangeText(low: number, high: number): string {
  const [from, to] = [TIERS[low], TIERS[high]];
  if (low > high) return `${from} is above ${to}: the highest tier wins.`;
  if (low === high) return `${from} only`;
  if (low === 0) return high === LAST ? "Any tier" : `${to} and below`;
  return high === LAST ? `${from} and above` : `${from} to ${to}`;
}
