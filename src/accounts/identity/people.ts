// From an identity to a user: found by issuer and subject, linked by a verified e-mail address, or made. Claims set role,
// account and teams at each sign-in.

import { randomBytes } from "node:crypto";
import { GatewayError } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import {
  hasPassword,
  type Identity,
  type IdentityProvider,
  type IdentityStore,
  type User,
  type UserGrant,
  type UserRole,
  type UserStore,
} from "../../core/people.ts";
import { UniqueViolation } from "../../core/store-errors.ts";
import { DEFAULT_ACCOUNT } from "../accounts.ts";
import { noPassword } from "../passwords.ts";
import { normalisedEmail } from "../users.ts";
import { type Claims, hasOverage, isEmailVerified, missingClaims, outcomeOf, outcomesOf } from "./claims.ts";

export interface ArrivalContext {
  readonly store: IdentityStore;
  readonly users: Pick<UserStore, "byEmail" | "byId" | "hasOperator" | "change" | "setPassword">;
  /** Keys of somebody who leaves an account are revoked. */
  readonly keysRevoked: () => Promise<void>;
  readonly accounts: { get(id: string): Promise<unknown> };
  readonly teams: { idOf(accountId: string, name: string): Promise<string | null> };
  readonly log: Log;
  readonly now: () => number;
}

/** Somebody whom an identity provider has just vouched for. */
export interface Arrival {
  readonly provider: IdentityProvider;
  readonly subject: string;
  readonly claims: Claims;
}

/** The user of somebody who signs in. Of two first sign-ins at once, the second finds what the first has made. */
export async function userOf(arrival: Arrival, context: ArrivalContext): Promise<User> {
  const { provider, claims } = arrival;
  if (!(await context.users.hasOperator())) throw refused("setup_needed", "Set up the first admin before.");
  requireDomain(arrival);
  if (hasOverage(claims)) {
    const missing = missingClaims(provider, claims);
    context.log.warn(
      { event: "identity.groups_overage", provider: provider.id, missing },
      "the identity provider left groups out because there are too many; roles stay as they are. Use app roles instead",
    );
  }
  for (let attempt = 1; ; attempt += 1) {
    try {
      const user = (await known(arrival, context)) ?? (await firstSignIn(arrival, context));
      return await granted(user, arrival, context);
    } catch (error) {
      if (!(error instanceof UniqueViolation) || attempt === 3) throw error;
    }
  }
}

/** Links the identity to a user who is signed in. Somebody else's identity stays where it is. */
export async function linkTo(userId: string, arrival: Arrival, context: ArrivalContext): Promise<User> {
  const user = await context.users.byId(userId);
  if (user === null) throw refused("no_access", "The user who began to link no longer exists.");
  const found = await context.store.find(arrival.provider.issuer, arrival.subject);
  if (found?.user.id === userId) return user;
  if (found !== null) throw linked();
  try {
    await context.store.insert(newIdentity(arrival, user.id, emailOf(arrival)?.email ?? user.email, context));
  } catch (error) {
    throw error instanceof UniqueViolation ? linked() : error;
  }
  return user;
}

/** The user of an account for whom a program brings a token: the one who would sign in with it. */
export async function memberOf(
  arrival: Arrival,
  accountId: string,
  { store, users }: Pick<ArrivalContext, "store" | "users">,
): Promise<string | null> {
  const { provider, subject } = arrival;
  const linked = (await store.find(provider.issuer, subject))?.user ?? null;
  const email = emailOf(arrival);
  const user = linked ?? (email?.isVerified === true ? await users.byEmail(email.email) : null);
  if (user?.accountId !== accountId) return null;
  const others = linked === null ? await store.ofUser(user.id) : [];
  return others.some(({ issuer }) => issuer === provider.issuer) ? null : user.id;
}

/** Matched by issuer and subject, so a changed address finds the same user. */
async function known(arrival: Arrival, { store, now }: ArrivalContext): Promise<User | null> {
  const found = await store.find(arrival.provider.issuer, arrival.subject);
  if (found === null) return null;
  const { identity, user } = found;
  const email = emailOf(arrival);
  await store.noteSignIn({ ...identity, email: email?.email ?? identity.email, lastSignInAtMs: now() });
  // The address of a password sign-in is its user's own business.
  const follows = email?.isVerified === true && email.email !== user.email && !hasPassword(user.passwordHash);
  if (!follows) return user;
  await store.renameUser(user.id, email.email);
  return { ...user, email: email.email };
}

/** An address that is not verified neither finds a user nor makes one: it may belong to somebody else. */
async function firstSignIn(arrival: Arrival, context: ArrivalContext): Promise<User> {
  const { provider, claims } = arrival;
  const { store, users, now } = context;
  const email = emailOf(arrival);
  if (email === null) {
    throw refused("no_email", "The identity provider sent no e-mail address. Add the scope or claim 'email'.");
  }
  if (!email.isVerified) {
    throw refused("email_not_verified", "The identity provider does not say that the e-mail address is verified.");
  }
  const existing = await users.byEmail(email.email);
  if (existing !== null) {
    const linkedHere = (await store.ofUser(existing.id)).find(({ issuer }) => issuer === provider.issuer);
    if (linkedHere?.subject === arrival.subject) return existing;
    // An address that was given to another person must not open the account of the one before.
    if (linkedHere !== undefined) throw linked();
    await store.insert(newIdentity(arrival, existing.id, email.email, context));
    return existing.role === "operator" ? existing : withoutPassword(existing, context);
  }
  const role = outcomeOf(provider, "role", claims);
  const given = role.state === "given" ? role.value : provider.defaultRole;
  if (given === null) throw noAccess();
  const accountId = (await accountOf(arrival, context)) ?? DEFAULT_ACCOUNT;
  const user: User = {
    id: `user_${randomBytes(12).toString("hex")}`,
    email: email.email,
    role: given,
    accountId,
    teamIds: (await teamsOf(arrival, accountId, context)) ?? [],
    passwordHash: noPassword(),
    createdAtMs: now(),
    lastSignInAtMs: null,
    deactivatedAtMs: null,
  };
  await store.insert(newIdentity(arrival, user.id, email.email, context), user);
  return user;
}

/** The admin who invited this user may have chosen the password, and may be signed in with it. */
async function withoutPassword(user: User, { users }: ArrivalContext): Promise<User> {
  if (!hasPassword(user.passwordHash)) return user;
  const passwordHash = noPassword();
  await users.setPassword(user.id, passwordHash, "");
  return { ...user, passwordHash };
}

/** A missing claim changes nothing; one that is there and matches no rule gives the default role. */
async function granted(user: User, arrival: Arrival, context: ArrivalContext): Promise<User> {
  const role = outcomeOf(arrival.provider, "role", arrival.claims);
  const accountId = outcomeOf(arrival.provider, "account", arrival.claims);
  const account = accountId.state === "given" ? await accountOf(arrival, context) : null;
  const teamIds = await teamsOf(arrival, account ?? user.accountId, context);
  const grant: UserGrant = {
    ...(role.state === "given" && { role: role.value }),
    ...(role.state === "none" && { role: arrival.provider.defaultRole ?? belowOperator(user.role) }),
    ...(account !== null && { accountId: account }),
    ...(teamIds !== null && { teamIds }),
  };
  if (isSame({ ...user, ...grant }, user)) return user;
  const changed = await context.users.change(user.id, grant, { atMs: context.now() });
  if (changed === null) throw noAccess();
  if (changed.accountId !== user.accountId) await context.keysRevoked();
  if (grant.role !== undefined && changed.role !== grant.role) {
    context.log.warn(
      { event: "identity.last_operator_kept", user: user.email },
      "the identity provider would demote the last operator with a password; the role stays",
    );
  }
  return changed;
}

export function belowOperator(role: UserRole): UserRole {
  return role === "operator" ? "admin" : role;
}

function isSame(one: User, other: User): boolean {
  const teams = (user: User): string => [...user.teamIds].sort().join();
  return one.role === other.role && one.accountId === other.accountId && teams(one) === teams(other);
}

/** The ids of the teams that claims name. Null where they say nothing; none where none matches. */
async function teamsOf({ provider, claims }: Arrival, accountId: string, { teams }: ArrivalContext) {
  const outcome = outcomesOf(provider, "team", claims);
  if (outcome.state === "unknown") return null;
  const ids: string[] = [];
  for (const name of outcome.state === "given" ? outcome.value : []) {
    const id = await teams.idOf(accountId, name);
    if (id !== null) ids.push(id);
    else
      throw refused("no_team", `The configuration of ${provider.name} names the team '${name}', which does not exist.`);
  }
  return ids;
}

/** The account that claims or configuration name. Null where neither does. */
async function accountOf({ provider, claims }: Arrival, { accounts }: ArrivalContext): Promise<string | null> {
  const outcome = outcomeOf(provider, "account", claims);
  const id = outcome.state === "given" ? outcome.value : provider.account;
  if (id !== null && (await accounts.get(id)) === null) {
    throw refused(
      "no_account",
      `The configuration of ${provider.name} names the account '${id}', which does not exist.`,
    );
  }
  return id;
}

function requireDomain(arrival: Arrival): void {
  const { domains } = arrival.provider;
  if (domains.length === 0) return;
  const email = emailOf(arrival);
  const domain = email?.isVerified === true ? email.email.split("@")[1] : undefined;
  if (domain === undefined || !domains.includes(domain)) {
    throw refused("domain_not_allowed", "Only verified e-mail addresses of certain domains may sign in.");
  }
}

function emailOf({ provider, claims }: Arrival): { readonly email: string; readonly isVerified: boolean } | null {
  const email = typeof claims.email === "string" ? normalisedEmail(claims.email) : null;
  if (email === null) return null;
  return { email, isVerified: isEmailVerified(provider, claims) };
}

function newIdentity(
  { provider, subject }: Arrival,
  userId: string,
  email: string,
  { now }: Pick<ArrivalContext, "now">,
): Identity {
  const id = `identity_${randomBytes(12).toString("hex")}`;
  const atMs = now();
  return { id, issuer: provider.issuer, subject, userId, email, createdAtMs: atMs, lastSignInAtMs: atMs };
}

function linked(): GatewayError {
  return refused(
    "identity_taken",
    "This identity or address is linked to another user. An admin can remove that link.",
  );
}

function noAccess(): GatewayError {
  return refused("no_access", "You have no access to this gateway. Ask your admin.");
}

export function refused(code: string, message: string): GatewayError {
  return new GatewayError("forbidden", message, { code });
}
