// The five tiers, from the cheapest to the strongest. Behaviour 5.

export const TIERS = ["NANO", "SIMPLE", "LIGHT", "STANDARD", "COMPLEX"] as const;

export type Tier = (typeof TIERS)[number];

const RANK: ReadonlyMap<string, number> = new Map(TIERS.map((tier, rank) => [tier, rank]));

export function isTier(value: unknown): value is Tier {
  return typeof value === "string" && RANK.has(value);
}

/** Each tier has an equal part of the classifier's score, which is from 0 to 1. */
export function tierOfScore(score: number): Tier {
  return TIERS[Math.min(TIERS.length - 1, Math.floor(score * TIERS.length))] as Tier;
}

/** From this score to below that one. */
export function scoreRangeOf(tier: Tier): readonly [from: number, to: number] {
  return [tierRank(tier) / TIERS.length, (tierRank(tier) + 1) / TIERS.length];
}

export function tierRank(tier: Tier): number {
  return RANK.get(tier) as number;
}

export function higherTier(a: Tier, b: Tier): Tier {
  return tierRank(a) >= tierRank(b) ? a : b;
}

export function lowerTier(a: Tier, b: Tier): Tier {
  return tierRank(a) <= tierRank(b) ? a : b;
}
