// The constraints of a caller: those of the profile, within the bounds of the key and the teams.

import type { Catalog } from "../catalog/catalog.ts";
import { idsNamed, type NamedModels } from "../catalog/model-names.ts";
import { type Constraints, NO_CONSTRAINTS } from "../core/decision.ts";
import { type Tier, tierRank } from "../core/tiers.ts";
import type { ClientRequest } from "../formats/format.ts";
import type { Caller } from "./call.ts";

export function constraintsOf(
  { profile, teams, key }: Pick<Caller, "profile" | "teams" | "key">,
  catalog: NamedModels,
): Constraints {
  const constraints = profile?.constraints ?? NO_CONSTRAINTS;
  // Keys outside of teams pay nothing.
  if (teams.length === 0) return key.requires === null ? constraints : { ...constraints, required: [key.requires] };
  let { allowedModels, tierCeiling } = constraints;
  for (const team of teams) {
    allowedModels = bothAllowed(allowedModels, team.allowedModels, catalog);
    tierCeiling = lowerOf(tierCeiling, team.tierCeiling);
  }
  const required = [key, ...teams].flatMap(({ requires }) => requires ?? []);
  return { ...constraints, allowedModels, tierCeiling, ...(required.length === 0 ? {} : { required }) };
}

/** The request with the service tier of the profile, else of the configuration, where it names none itself. */
export function withServiceTier(
  request: ClientRequest,
  { serviceTier: ofProfile }: Constraints,
  { serviceTier: ofAll }: Pick<Catalog, "serviceTier">,
): ClientRequest {
  const serviceTier = ofProfile ?? ofAll;
  if (serviceTier === null || request.chat.serviceTier !== undefined) return request;
  return { ...request, chat: { ...request.chat, serviceTier, isTierByDefault: true } };
}

/** Compares ids, because two lists may name one model differently. */
function bothAllowed(
  one: readonly string[] | null,
  other: readonly string[] | null,
  catalog: NamedModels,
): readonly string[] | null {
  if (one === null || other === null) return one ?? other;
  const allowed = idsNamed(catalog, other);
  return [...idsNamed(catalog, one)].filter((id) => allowed.has(id));
}

function lowerOf(one: Tier | null, other: Tier | null): Tier | null {
  if (one === null || other === null) return one ?? other;
  return tierRank(one) <= tierRank(other) ? one : other;
}
