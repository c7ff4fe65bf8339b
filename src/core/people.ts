// People of the dashboard: users, logins, and one-time links. Tokens are known here by their hashes only.

import type { Page } from "./accounts.ts";

export const USER_ROLES = ["operator", "owner"] as const;
/** An operator sees every account, an owner their own. */
export type UserRole = (typeof USER_ROLES)[number];

export interface User {
  readonly id: string;
  /** In lower case; unique. */
  readonly email: string;
  readonly role: UserRole;
  readonly accountId: string;
  /** With its salt and parameters; see accounts/passwords.ts. */
  readonly passwordHash: string;
  readonly createdAtMs: number;
  readonly lastSignInAtMs: number | null;
}

/** Begins what is stored for a user without a password, who signs in with an identity provider. */
export const NO_PASSWORD = "none$";

export function hasPassword(passwordHash: string): boolean {
  return !passwordHash.startsWith(NO_PASSWORD);
}

export interface UserStore {
  hasOperator(): Promise<boolean>;
  byEmail(email: string): Promise<User | null>;
  byId(id: string): Promise<User | null>;
  list(page: Page): Promise<readonly User[]>;
  /** Ends all logins of the user but the one kept, and an open link for a new password, in the same transaction. */
  setPassword(id: string, passwordHash: string, keptLogin: string): Promise<void>;
  /** With logins and identities. Never deletes the last operator with a password, even if two try at the same moment. */
  delete(id: string): Promise<"deleted" | "missing" | "last-operator">;
}

export interface Login {
  readonly hash: string;
  readonly userId: string;
  readonly createdAtMs: number;
  readonly seenAtMs: number;
}

export interface LoginStore {
  /** Notes the sign-in with the user, and forgets logins that were not seen since `staleBeforeMs`. */
  insert(login: Login, staleBeforeMs: number): Promise<void>;
  find(hash: string): Promise<{ readonly login: Login; readonly user: User } | null>;
  touch(hash: string, seenAtMs: number): Promise<void>;
  delete(hash: string): Promise<void>;
}

export interface Invitation {
  readonly id: string;
  readonly hash: string;
  readonly kind: "setup" | "invitation";
  /** Empty for the kind `setup`: the holder of that link says who they are. */
  readonly email: string;
  readonly role: UserRole;
  readonly accountId: string;
  /** The e-mail of the user who sent it; empty for one made by the admin token or a command. */
  readonly invitedBy: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number | null;
}

/** A one-time link with which a user chooses a new password. */
interface PasswordReset {
  readonly userId: string;
  readonly hash: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
}

export interface PasswordResetStore {
  /** Takes the place of an earlier one of the same user. */
  insert(reset: PasswordReset): Promise<void>;
  find(hash: string): Promise<{ readonly reset: PasswordReset; readonly user: User } | null>;
  /** Sets the password, uses the link up and ends every login of the user: all or nothing. False when it was used up. */
  redeem(reset: PasswordReset, passwordHash: string): Promise<boolean>;
}

export interface InvitationStore {
  /** An invitation takes the place of an earlier one to the same address. */
  insert(invitation: Invitation): Promise<void>;
  byHash(hash: string): Promise<Invitation | null>;
  /** Lists invitations, without links of the kind `setup`. */
  list(page: Page): Promise<readonly Invitation[]>;
  delete(id: string): Promise<boolean>;
  /** Makes the user and uses the link up, both or neither. False when it was used up meanwhile. */
  redeem(invitation: Invitation, user: User): Promise<boolean>;
}
