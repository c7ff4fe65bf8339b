// One-time links that create users: the set-up link for the first operator, and invitations.

import { randomBytes } from "node:crypto";
import type { Page } from "../core/accounts.ts";
import { GatewayError } from "../core/errors.ts";
import type { Invitation, InvitationStore, PeopleFilter, User, UserRole, UserStore } from "../core/people.ts";
import { UniqueViolation } from "../core/store-errors.ts";
import { DEFAULT_ACCOUNT } from "./accounts.ts";
import { checkPassword, type Passwords } from "./passwords.ts";
import { hashToken, makeToken } from "./token.ts";
import { normalisedEmail } from "./users.ts";

export interface Invitations {
  /** A new set-up token while there is no operator, else null. Earlier tokens stay valid. */
  prepareSetup(): Promise<string | null>;
  setUp(given: { readonly token: string; readonly email: string; readonly password: string }): Promise<User>;
  /** The token is returned here and stored nowhere. An earlier invitation to the same address ends. */
  invite(wanted: NewInvitation): Promise<{ readonly invitation: Invitation; readonly token: string }>;
  /** The invitation of a link that still works. Throws the same error for every other. */
  read(token: string): Promise<Invitation>;
  accept(given: { readonly token: string; readonly password: string }): Promise<User>;
  /** Lists those of one account, or of all. */
  list(page: Page, only?: PeopleFilter): Promise<readonly Invitation[]>;
  delete(id: string, only?: PeopleFilter): Promise<boolean>;
}

interface NewInvitation {
  readonly email: string;
  readonly role: UserRole;
  readonly accountId: string;
  readonly teamIds: readonly string[];
  readonly invitedBy: string;
  /** The account of an admin, who may end earlier invitations to this account alone; null for operators. */
  readonly within: string | null;
}

export interface InvitationsOptions {
  readonly store: InvitationStore;
  readonly users: UserStore;
  readonly passwords: Passwords;
  readonly now?: () => number;
}

const INVITATION_MS = 7 * 86_400_000;

export function createInvitations({ store, users, passwords, now = Date.now }: InvitationsOptions): Invitations {
  const issue = async (wanted: Omit<Invitation, "id" | "hash" | "createdAtMs">, only?: PeopleFilter) => {
    const token = makeToken();
    const id = `invitation_${randomBytes(12).toString("hex")}`;
    const invitation = { ...wanted, id, hash: hashToken(token) as string, createdAtMs: now() };
    await store.insert(invitation, only);
    return { invitation, token };
  };
  const find = async (token: string, kind: Invitation["kind"]): Promise<Invitation> => {
    const hash = hashToken(token);
    const invitation = hash === null ? null : await store.byHash(hash);
    const isValid = invitation?.kind === kind && (invitation.expiresAtMs ?? Number.POSITIVE_INFINITY) > now();
    if (!isValid) throw kind === "setup" ? wrongSetUpLink() : invalidLink();
    return invitation;
  };
  const redeem = async (invitation: Invitation, email: string, password: string): Promise<User> => {
    checkPassword(password, email, "password");
    const { role, accountId, teamIds } = invitation;
    const id = `user_${randomBytes(12).toString("hex")}`;
    const passwordHash = await passwords.hash(password);
    const grant = { role, accountId, teamIds };
    const times = { createdAtMs: now(), lastSignInAtMs: null, deactivatedAtMs: null };
    const user: User = { id, email, ...grant, passwordHash, ...times };
    if (!(await unlessTaken(store.redeem(invitation, user)))) throw invalidLink();
    return user;
  };
  return {
    prepareSetup: async () => {
      if (await users.hasOperator()) return null;
      const wanted = { kind: "setup", email: "", role: "operator", accountId: DEFAULT_ACCOUNT, teamIds: [] } as const;
      return (await issue({ ...wanted, invitedBy: "", expiresAtMs: null })).token;
    },
    setUp: async ({ token, email, password }) => {
      if (await users.hasOperator()) throw invalidLink();
      const invitation = await find(token, "setup");
      return redeem(invitation, readEmail(email), password);
    },
    invite: async ({ within, ...wanted }) => {
      const email = readEmail(wanted.email);
      if ((await users.byEmail(email)) !== null) throw taken();
      const only = within === null ? undefined : { accountId: within, hasOperators: false };
      return issue({ ...wanted, kind: "invitation", email, expiresAtMs: now() + INVITATION_MS }, only);
    },
    read: (token) => find(token, "invitation"),
    accept: async ({ token, password }) => {
      const invitation = await find(token, "invitation");
      return redeem(invitation, invitation.email, password);
    },
    list: (page, only) => store.list(page, only),
    delete: (id, only) => store.delete(id, only),
  };
}

function readEmail(text: string): string {
  const email = normalisedEmail(text);
  if (email !== null) return email;
  throw new GatewayError("badRequest", "'email' must be an e-mail address.", { param: "email" });
}

async function unlessTaken(redeemed: Promise<boolean>): Promise<boolean> {
  try {
    return await redeemed;
  } catch (error) {
    throw error instanceof UniqueViolation ? taken() : error;
  }
}

function taken(): GatewayError {
  const message =
    "A user with this e-mail address already exists. If they forgot their password, create a reset link instead.";
  return new GatewayError("conflict", message, {
    code: "email_taken",
    param: "email",
  });
}

/** While nobody is admin, set-up links stay valid: a wrong one is mistyped, cut off or from elsewhere. */
function wrongSetUpLink(): GatewayError {
  const message =
    "This is not the set-up link of this gateway. Open the whole link that it printed when it started, or restart it to print a new one.";
  return new GatewayError("badRequest", message, { code: "wrong_setup_link", param: "token" });
}

/** The same error whether a link never existed, was used or has expired, so that nobody learns which. */
export function invalidLink(): GatewayError {
  const message = "This link has already been used or has expired. Sign in, or ask your admin for a new one.";
  return new GatewayError("badRequest", message, { code: "invalid_token", param: "token" });
}
