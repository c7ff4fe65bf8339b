// The five tiers and their order. SPEC 2.1.

export const TIERS = ["NANO", "SIMPLE", "LIGHT", "STANDARD", "COMPLEX"] as const;

export type Tier = (typeof TIERS)[number];

const RANK: ReadonlyMap<string, number> = new Map(TIERS.map((tier, rank) => [tier, rank]));

export function isTier(value: unknown): value is Tier {
  return typeof value === "string" && RANK.has(value);
}

export function tierRank(tier: Tier): number {
  return RANK.get(tier) as number;
}

/** The tier at a rank; ranks outside the ladder are taken as its ends. */
export function tierAt(rank: number): Tier {
  const clamped = Math.max(0, Math.min(TIERS.length - 1, Math.round(rank)));
  return TIERS[clamped] as Tier;
}

export function higherTier(a: Tier, b: Tier): Tier {
  return tierRank(a) >= tierRank(b) ? a : b;
}

export function lowerTier(a: Tier, b: Tier): Tier {
  return tierRank(a) <= tierRank(b) ? a : b;
}
