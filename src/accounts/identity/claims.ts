// From the claims of an identity provider to what their holder gets: role, account, teams and settings of a key. Pure.

import type { ClaimRule, IdentityProvider } from "../../core/people.ts";

/** Claims of an ID token, of a token for programs, or of the userinfo endpoint. */
export type Claims = Readonly<Record<string, unknown>>;

type Field = Exclude<keyof ClaimRule, "claim" | "value">;

/** A rule decided a field (`given`), claims were there and none matched (`none`), or claims are missing (`unknown`). */
export type ClaimOutcome<Value> =
  | { readonly state: "given"; readonly value: Value }
  | { readonly state: "none" }
  | { readonly state: "unknown" };

/** The outcome of the rules for one field. Without a rule for it, nothing is known. */
export function outcomeOf<Name extends Field>(
  provider: Pick<IdentityProvider, "rules" | "trustsEmail">,
  field: Name,
  given: Claims,
): ClaimOutcome<NonNullable<ClaimRule[Name]>> {
  const outcome = outcomesOf(provider, field, given);
  if (outcome.state !== "given") return outcome;
  return { state: "given", value: outcome.value[0] as NonNullable<ClaimRule[Name]> };
}

/** Decides like `outcomeOf`, for a field of which somebody may have several values. */
export function outcomesOf<Name extends Field>(
  provider: Pick<IdentityProvider, "rules" | "trustsEmail">,
  field: Name,
  given: Claims,
): ClaimOutcome<readonly NonNullable<ClaimRule[Name]>[]> {
  // Somebody who may write any address would get what a rule gives to its owner.
  const claims = isEmailVerified(provider, given) ? given : { ...given, email: undefined };
  const deciding = provider.rules.filter((rule) => rule[field] !== undefined);
  const matching = deciding.filter((rule) => valuesOf(claims, rule.claim)?.some((value) => matches(rule.value, value)));
  const values = matching.map((rule) => rule[field] as NonNullable<ClaimRule[Name]>);
  if (values.length > 0) return { state: "given", value: [...new Set(values)] };
  return { state: deciding.some(({ claim }) => valuesOf(claims, claim) !== null) ? "none" : "unknown" };
}

/** Some issuers write the flag as text. */
export function isEmailVerified({ trustsEmail }: Pick<IdentityProvider, "trustsEmail">, claims: Claims): boolean {
  return trustsEmail || claims.email_verified === true || claims.email_verified === "true";
}

/** Names of claims in rules that did not arrive. */
export function missingClaims({ rules }: Pick<IdentityProvider, "rules">, claims: Claims): readonly string[] {
  return [...new Set(rules.map(({ claim }) => claim))].filter((claim) => valuesOf(claims, claim) === null);
}

/** True where somebody has more groups than Entra writes into a token: it then names another place to ask. */
export function hasOverage(claims: Claims): boolean {
  const names = claims._claim_names;
  return claims.hasgroups === true || (typeof names === "object" && names !== null && "groups" in names);
}

/** The values of a claim as text; null when it is missing. A whole name is tried before a path. */
function valuesOf(claims: Claims, name: string): readonly string[] | null {
  let value: unknown = Object.hasOwn(claims, name) ? claims[name] : claims;
  if (value === claims) {
    for (const step of name.split(".")) {
      const isMapping = typeof value === "object" && value !== null && Object.hasOwn(value, step);
      value = isMapping ? (value as Claims)[step] : undefined;
    }
  }
  if (value === undefined || value === null) return null;
  return (Array.isArray(value) ? value : [value]).map(String);
}

function matches(wanted: string, value: string): boolean {
  return wanted.endsWith("*") ? value.startsWith(wanted.slice(0, -1)) : value === wanted;
}
