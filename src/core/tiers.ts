// The five tiers, from the cheapest to the strongest. Behaviour 5.

export const TIERS = ["NANO", "SIMPLE", "LIGHT", "STANDARD", "COMPLEX"] as const;

export type Tier = (typeof TIERS)[number];

const RANK: ReadonlyMap<string, number> = new Map(TIERS.map((tier, rank) => [tier, rank]));

export function isTier(value: unknown): value is Tier {
  return typeof value === "string" && RANK.has(value);
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
