// Service tiers of providers, such as flex and priority: what a client asks for, and how a host is asked for it.

import type { ChatRequest } from "../../core/chat.ts";
import type { HostedModel } from "../../core/model.ts";
import type { AskedServiceTier, ServiceTier } from "../../core/money.ts";
import { tierServed } from "../../core/price.ts";
import { NO_NOTES, type Note } from "../../core/requests/notes.ts";
import type { ProviderFormat } from "../format.ts";
import type { JsonObject } from "../json/fields.ts";

export const SERVICE_TIER = "service_tier";

/** Values of the vendors' field `service_tier`. Those of Gemini may have a prefix. */
const WORDS: Readonly<Record<string, AskedServiceTier>> = {
  default: "default",
  standard: "default",
  standard_only: "default",
  flex: "flex",
  priority: "priority",
};
const PREFIX = /^service_tier_/;

/** The tier that a request asks its provider for. With `service_profile: tier` the field is ours. */
export function askedServiceTier(
  body: JsonObject,
  value: unknown = body[SERVICE_TIER],
): Pick<ChatRequest, "serviceTier"> {
  const serviceTier = body.service_profile === "tier" ? null : tierNamed(value);
  return serviceTier === null ? {} : { serviceTier };
}

function tierNamed(value: unknown): AskedServiceTier | null {
  const word = typeof value === "string" ? value.toLowerCase().replace(PREFIX, "") : "";
  return Object.hasOwn(WORDS, word) ? (WORDS[word] ?? null) : null;
}

/** Tells whether a value is one that vendors know. `auto` asks for nothing. */
export function isVendorTier(value: unknown): boolean {
  return value === undefined || value === null || value === "auto" || tierNamed(value) !== null;
}

/** OpenAI's field, which many vendors share. */
export function tierFields(tier: AskedServiceTier): JsonObject {
  return { [SERVICE_TIER]: tier };
}

interface TierWish {
  readonly chat: Pick<ChatRequest, "serviceTier" | "isTierByDefault">;
  readonly model: HostedModel;
  readonly refusedFields: readonly string[];
}

interface WrittenTier {
  /** Fields of the provider's format; null where nothing is asked for. */
  readonly fields: JsonObject | null;
  /** The tier with a price of its own that is asked for; absent for the usual one. */
  readonly asked?: ServiceTier;
  readonly notes: readonly Note[];
}

/**
 * Asks a host for a tier. One that has it at no known price serves the request at its usual tier, and the answer says so to
 * a client that asked.
 */
export function writeServiceTier(
  { chat: { serviceTier: asked, isTierByDefault }, model, refusedFields }: TierWish,
  format: ProviderFormat,
): WrittenTier {
  if (asked === undefined) return { fields: null, notes: NO_NOTES };
  const isRefused = model.dialect.refuses.includes(SERVICE_TIER) || refusedFields.includes(SERVICE_TIER);
  const tier = isRefused ? null : tierServed(model.price, asked);
  const fields = tier === null ? null : (format.tierFields?.(tier) ?? null);
  if (fields !== null && asked !== "default") return { fields, asked, notes: NO_NOTES };
  if (asked === "default" || isTierByDefault) return { fields, notes: NO_NOTES };
  const because = isRefused ? "the provider does not take it" : "its price is not known";
  const message = `served at the usual service tier instead of '${asked}': ${because}`;
  return { fields, notes: [{ code: "option_dropped", message }] };
}
