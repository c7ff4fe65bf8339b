// Counts that may have a price of their own, beside the buckets: tokens by modality, searches, and the service tier that
// the provider says it answered with.

import type { Usage, UsageParts } from "../../core/chat.ts";
import { SERVICE_TIERS, type ServiceTier } from "../../core/money.ts";

/** The fields for a usage, without zeros. */
export function usageParts(parts: UsageParts, tier: unknown): Pick<Usage, "parts" | "serviceTier"> {
  const counted = Object.entries(parts).filter(([, count]) => count !== undefined && count > 0);
  const serviceTier = serviceTierOf(tier);
  return {
    ...(counted.length === 0 ? {} : { parts: Object.fromEntries(counted) as UsageParts }),
    ...(serviceTier === undefined ? {} : { serviceTier }),
  };
}

/** `priority`, `ON_DEMAND_PRIORITY` and the like; any other tier is charged as the usual one. */
function serviceTierOf(tier: unknown): ServiceTier | undefined {
  if (typeof tier !== "string") return undefined;
  const word = tier.toLowerCase().split("_").at(-1);
  return SERVICE_TIERS.find((name) => name === word);
}
