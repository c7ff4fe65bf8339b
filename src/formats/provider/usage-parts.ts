// Counts that may have a price of their own, beside the buckets: tokens by modality, searches, and the service tier that
// the provider says it answered with.

import type { Usage, UsageParts } from "../../core/chat.ts";
import { SERVICE_TIERS, type ServiceTier } from "../../core/money.ts";

export type CountedParts = Pick<Usage, "parts" | "serviceTier" | "isTierTold">;

/** The fields for a usage, without zeros. */
export function usageParts(parts: UsageParts, tier: unknown): CountedParts {
  const fields: { -readonly [Name in keyof CountedParts]: CountedParts[Name] } = {};
  let counted: Partial<Record<keyof UsageParts, number>> | null = null;
  for (const name in parts) {
    const count = parts[name as keyof UsageParts] ?? 0;
    if (count <= 0) continue;
    counted ??= {};
    counted[name as keyof UsageParts] = count;
  }
  if (counted !== null) fields.parts = counted;
  const serviceTier = serviceTierOf(tier);
  if (serviceTier !== undefined) fields.serviceTier = serviceTier;
  if (isTier(tier)) fields.isTierTold = true;
  return fields;
}

/** OpenAI repeats `auto` until it has chosen. */
function isTier(tier: unknown): boolean {
  return typeof tier === "string" && tier !== "" && tier !== "auto" && !tier.endsWith("_UNSPECIFIED");
}

/** `priority`, `ON_DEMAND_PRIORITY` and the like; any other tier is charged as the usual one. */
function serviceTierOf(tier: unknown): ServiceTier | undefined {
  if (typeof tier !== "string") return undefined;
  const word = tier.toLowerCase().split("_").at(-1);
  return SERVICE_TIERS.find((name) => name === word);
}
