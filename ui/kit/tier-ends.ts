// The ends of a range of tiers: where they stand, and the range in words.

import { TIERS } from "../../src/core/tiers.ts";
import * as TEXT from "./text.ts";

/** The rank of the highest tier. */
export const LAST = TIERS.length - 1;

/** The rank of a tier, or `otherwise` where the end is open or the name unknown. */
export function rankOf(tier: string | null | undefined, otherwise: number): number {
  const rank = (TIERS as readonly (string | null | undefined)[]).indexOf(tier);
  return rank < 0 ? otherwise : rank;
}

/** Chooses the handle that a click on a tier moves. Half-way between both, that is the upper one. */
export function nearerEnd(rank: number, low: number, high: number): "low" | "high" {
  return Math.abs(rank - low) < Math.abs(rank - high) || rank < low ? "low" : "high";
}

/** The range as a sentence; also the conflict that an old profile may hold. */
export function rangeText(low: number, high: number): string {
  const [from, to] = [TIERS[low], TIERS[high]];
  if (low > high) return TEXT.highestWins(from, to);
  if (low === high) return TEXT.onlyTier(from);
  if (low === 0) return high === LAST ? TEXT.anyTier : TEXT.andBelow(to);
  return high === LAST ? TEXT.andAbove(from) : TEXT.tierToTier(from, to);
}
