// The baseline by rule, recomputed with every catalogue: the cheapest flagship that two owners of benchmarks rank among
// the first ten. A flagship is what its vendor recommends for the hardest work. Promotions do not count.

import type { PriceRow } from "./prices/rows.ts";
import type { Evidence, ModelRow } from "./rows.ts";

const RANK_MAX = 10;
const CONTEXT_MIN = 200_000;

/** The baseline of these rows; null where no model fits the rule. */
export function baselineOf(rows: readonly ModelRow[]): ModelRow | null {
  const [cheapest = null] = rows.filter(isCandidate).toSorted((a, b) => regularBlend(a) - regularBlend(b));
  return cheapest;
}

function isCandidate({ isFlagship, price, context, capabilities, evidence }: ModelRow): boolean {
  const isAble = capabilities.includes("tools") && capabilities.includes("vision") && context >= CONTEXT_MIN;
  return isFlagship === true && price !== undefined && isAble && isAmongFirst(evidence);
}

function isAmongFirst({ overallRank = Number.POSITIVE_INFINITY, agentRank = Number.POSITIVE_INFINITY }: Evidence = {}) {
  return overallRank <= RANK_MAX && agentRank <= RANK_MAX;
}

/** Three input tokens to one of output. */
function regularBlend({ price }: ModelRow): number {
  const { input, output } = regularPrice(price as PriceRow);
  return (3 * input + output) / 4;
}

/** The price that follows, where one is announced. */
function regularPrice(price: PriceRow): Pick<PriceRow, "input" | "output"> {
  return price.changes?.at(-1) ?? price;
}
