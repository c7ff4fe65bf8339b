// The safer tier for a classification that is not sure: of the two tiers between which it stands, the higher one. A model
// that is too weak costs a second request, one that is too strong only its price.

import { higherTier, scoreRangeOf, TIERS, type Tier, tierRank } from "../core/tiers.ts";

/** Known parts of a classification. `score` is absent in decisions of the first versions. */
interface Guess {
  readonly tier: Tier;
  readonly score?: number | undefined;
}

/** The lowest tier for an unsure classification. Standing nearer to the tier above, it goes there. */
export function saferTier({ tier, score }: Guess, unsureTier: Tier): Tier {
  const [from, to] = scoreRangeOf(tier);
  const isUpper = score !== undefined && score >= (from + to) / 2 && score < to;
  const next = TIERS[Math.min(TIERS.length - 1, tierRank(tier) + 1)] as Tier;
  return higherTier(unsureTier, isUpper ? next : tier);
}
