// IdentityTokens of identity providers that programs bring instead of an API key. A token is checked once and then known by its
// hash until it ends. Its holder gets a key of their own at first sight, so limits, ledger and request log name them.

import { hash } from "node:crypto";
import type { AccountStore } from "../../core/accounts.ts";
import type { GatewayError } from "../../core/errors.ts";
import type { IdentityProvider, UserRole } from "../../core/people.ts";
import type { Keys, Verification } from "../keys.ts";
import { type Claims, hasOverage, isEmailVerified, outcomeOf } from "./claims.ts";
import { CLOCK_TOLERANCE_SECONDS, type Issuer, tokenRefused } from "./issuer.ts";
import type { Arrival } from "./people.ts";

/** Somebody whose token was checked. */
interface TokenHolder {
  readonly provider: IdentityProvider;
  readonly subject: string;
  /** E-mail address or subject, for people. */
  readonly name: string;
  readonly claims: Claims;
  /** The key that stands for the holder; null until it is needed. */
  key: Promise<string> | null;
}

/** A caller of /api by token. */
export interface TokenCaller {
  readonly name: string;
  readonly role: UserRole;
  readonly accountId: string;
}

export interface IdentityTokens {
  /** Cheaply tells whether a text may be a token of a configured issuer. */
  isTokenShaped(text: string): boolean;
  /** The key of the token's holder. Where `mayAsk` says no, a token that was not checked before is unknown. */
  verify(text: string, mayAsk?: () => boolean): Promise<Verification>;
  /** The caller of /api; null for a token that no issuer here has signed, and where the holder's key was revoked. */
  caller(text: string, mayAsk: () => boolean): Promise<TokenCaller | null>;
}

export interface TokensContext {
  readonly issuers: readonly { readonly provider: IdentityProvider; readonly issuer: Issuer }[];
  readonly keys: Pick<Keys, "derive" | "verifyHash">;
  readonly accounts: Pick<AccountStore, "get">;
  readonly teams: { idOf(accountId: string, name: string): Promise<string | null> };
  /** The user of the account who brings the token; null for a program of its own. */
  readonly memberOf: (holder: Arrival, accountId: string) => Promise<string | null>;
  /** Tells whether one of these names, in lower case, is that of somebody who is gone. */
  readonly hasEnded?: (accountId: string, names: readonly string[]) => boolean;
  readonly now?: () => number;
}

/** Three parts of base64url, the first of which begins an object. */
const SHAPE = /^eyJ[\w-]{1,8000}\.[\w-]{1,30000}\.[\w-]{1,8000}$/;
/** About 4 KB each with its claims. */
const KNOWN_MAX = 5_000;
/** A token is checked again after this long, so that a withdrawn signing key ends it. */
const KNOWN_MS = 10 * 60_000;

interface KnownToken {
  readonly holder: Promise<TokenHolder | null>;
  untilMs: number;
}

export function createTokens({ issuers, now = () => Date.now(), ...sources }: TokensContext): IdentityTokens {
  const taking = issuers.filter(({ provider }) => provider.audiences.length > 0);
  /** In the order of insertion. */
  const known = new Map<string, KnownToken>();

  const check = async (text: string, entry: { untilMs: number }): Promise<TokenHolder | null> => {
    const unproven = payloadOf(text);
    const found = taking.find(({ provider }) => sameIssuer(provider.issuer, unproven.iss));
    const claims = found === undefined ? null : await found.issuer.claimsOf(text);
    if (found === undefined || claims === null) return null;
    const endsAtMs = ((claims.exp ?? 0) + CLOCK_TOLERANCE_SECONDS) * 1000;
    entry.untilMs = Math.min(endsAtMs, now() + KNOWN_MS);
    return {
      provider: found.provider,
      subject: String(claims.sub),
      name: nameOf(found.provider, claims),
      claims,
      key: null,
    };
  };
  const holderOf = (text: string, mayAsk: () => boolean): Promise<TokenHolder | null> => {
    const digest = hash("sha256", text, "base64");
    const entry = known.get(digest);
    if (entry !== undefined && entry.untilMs > now()) return entry.holder;
    if (!mayAsk()) return Promise.resolve(null);
    const made = { untilMs: Number.POSITIVE_INFINITY };
    const holder = check(text, made);
    const remembered: KnownToken = Object.assign(made, { holder });
    known.delete(digest);
    known.set(digest, remembered);
    forgetOldest(known);
    const forget = (): void => {
      if (known.get(digest) === remembered) known.delete(digest);
    };
    // A token that is refused is checked again: its issuer may publish the key a moment later.
    holder.then((found) => found ?? forget(), forget);
    return holder;
  };

  return {
    isTokenShaped: (text) => taking.length > 0 && SHAPE.test(text),
    verify: async (text, mayAsk = () => true) => {
      const holder = await holderOf(text, mayAsk);
      return holder === null ? { state: "unknown" } : keyOf(holder, sources);
    },
    caller: async (text, mayAsk) => {
      const holder = await holderOf(text, mayAsk);
      if (holder === null) return null;
      const role = outcomeOf(holder.provider, "role", holder.claims);
      if (role.state !== "given") throw noAccess(holder.claims);
      // Whose key was revoked is kept out here as well.
      if ((await keyOf(holder, sources)).state === "unknown") return null;
      return { name: holder.name, role: role.value, accountId: accountOf(holder) ?? "" };
    },
  };
}

function forgetOldest(known: Map<string, KnownToken>): void {
  if (known.size <= KNOWN_MAX) return;
  const [oldest] = known.keys();
  if (oldest !== undefined) known.delete(oldest);
}

type KeySources = Pick<TokensContext, "keys" | "accounts" | "teams" | "memberOf" | "hasEnded">;

async function keyOf(holder: TokenHolder, context: KeySources): Promise<Verification> {
  if (context.hasEnded?.(accountOf(holder) ?? "", namesOf(holder)) === true) return { state: "unknown" };
  holder.key ??= derivedKey(holder, context).catch((error: unknown) => {
    holder.key = null;
    throw error;
  });
  return context.keys.verifyHash(await holder.key);
}

/** Finds or makes the key of a holder, gives it the settings of the rules, and returns its hash. */
async function derivedKey(holder: TokenHolder, { keys, accounts, teams, memberOf }: KeySources): Promise<string> {
  const { provider, subject, name, claims } = holder;
  const accountId = accountOf(holder);
  if (accountId === null || (await accounts.get(accountId)) === null) throw noAccess(claims);
  const profile = outcomeOf(provider, "profile", claims);
  const limit = outcomeOf(provider, "requestsPerMinute", claims);
  const team = outcomeOf(provider, "team", claims);
  const teamId = team.state === "given" ? await teams.idOf(accountId, team.value) : null;
  // Without the team, its bounds would not hold.
  if (team.state === "given" && teamId === null) throw noAccess(claims);
  // Budgets of the person count what their programs spend.
  const memberId = await memberOf(holder, accountId);
  // No key text has this form, so nobody can present it. Another account is another key: the old one keeps its history.
  const keyHash = hash("sha256", JSON.stringify(["identity", provider.issuer, subject, accountId]), "hex");
  await keys.derive({
    id: `key_${keyHash.slice(0, 24)}`,
    ...{ accountId, name, hash: keyHash, prefix: `token:${provider.id}` },
    settings: {
      ...(profile.state !== "unknown" && { profileId: profile.state === "given" ? profile.value : null }),
      ...(team.state !== "unknown" && { teamId }),
      ...(memberId !== null && { memberId }),
      ...(limit.state !== "unknown" && { requestsPerMinute: limit.state === "given" ? limit.value : null }),
    },
  });
  return keyHash;
}

/** The account of the rules, else that of the identity provider. */
function accountOf({ provider, claims }: TokenHolder): string | null {
  const account = outcomeOf(provider, "account", claims);
  return account.state === "given" ? account.value : provider.account;
}

function noAccess(claims: Claims): GatewayError {
  const message = "The token is valid, but no rule gives its holder access. Ask your admin.";
  return tokenRefused("token_without_access", hasOverage(claims) ? `${message} ${OVERAGE}` : message);
}

const OVERAGE = "The identity provider left groups out because there are too many. Rules on app roles avoid that.";

/** Claims that may name a person. One that is not verified gives nobody access, and may take it away. */
const NAMING = ["email", "preferred_username", "upn", "unique_name", "sub", "oid", "uid"];

/** Every name by which an identity provider's SCIM may know the holder, in lower case. */
function namesOf({ provider, subject, claims }: TokenHolder): readonly string[] {
  const names = [`${provider.issuer} ${subject}`, ...NAMING.map((claim) => claims[claim])];
  return names.flatMap((name) => (typeof name === "string" ? [name.toLowerCase()] : []));
}

const NAME_MAX = 200;
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** An address that is not verified may be somebody else's. */
function nameOf(provider: IdentityProvider, claims: Claims): string {
  const { email, preferred_username: user, sub } = claims;
  const name = [isEmailVerified(provider, claims) ? email : null, user, sub].find(
    (value) => typeof value === "string" && value.trim() !== "",
  );
  return String(name).replace(UNSEEN, "\ufffd").trim().slice(0, NAME_MAX);
}

/** Claims of a token before anything proves them. */
function payloadOf(text: string): Claims {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(text.split(".")[1] ?? "", "base64url").toString("utf8"));
    return typeof parsed === "object" && parsed !== null ? (parsed as Claims) : {};
  } catch {
    return {};
  }
}

function sameIssuer(configured: string, claimed: unknown): boolean {
  return typeof claimed === "string" && configured.replace(/\/$/, "") === claimed.replace(/\/$/, "");
}
