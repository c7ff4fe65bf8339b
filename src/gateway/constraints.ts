// The constraints of a caller: those of the profile, within the bounds of the teams.

import { idsNamed, type NamedModels } from "../catalog/model-names.ts";
import { type Constraints, NO_CONSTRAINTS } from "../core/decision.ts";
import { type Tier, tierRank } from "../core/tiers.ts";
import type { Caller } from "./call.ts";

export function constraintsOf(
  { profile, bounds }: Pick<Caller, "profile" | "bounds">,
  catalog: NamedModels,
): Constraints {
  const constraints = profile?.constraints ?? NO_CONSTRAINTS;
  // Keys outside of teams pay nothing.
  if (bounds.length === 0) return constraints;
  let { allowedModels, tierCeiling } = constraints;
  for (const bound of bounds) {
    allowedModels = bothAllowed(allowedModels, bound.allowedModels, catalog);
    tierCeiling = lowerOf(tierCeiling, bound.tierCeiling);
  }
  return { ...constraints, allowedModels, tierCeiling };
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
