// People of the dashboard: users, logins, one-time links, and the identity providers that vouch for people and programs.
// Tokens are known here by their hashes only. At the end, people and groups as an identity provider manages them by SCIM.

import type { Page } from "./accounts.ts";

export const USER_ROLES = ["operator", "admin", "billing", "member", "viewer"] as const;
/** An operator sees every account, all others their own; http/exchange/permissions.ts says what each may do. */
export type UserRole = (typeof USER_ROLES)[number];
/** The name that admins had. Requests and configuration may still use it. */
const OWNER = "owner";
export const GIVEN_ROLES = [...USER_ROLES, OWNER] as const;

export type GivenRole = (typeof GIVEN_ROLES)[number];

export function givenRole(role: GivenRole): UserRole {
  return role === OWNER ? "admin" : role;
}

export interface User {
  readonly id: string;
  /** In lower case; unique. */
  readonly email: string;
  readonly role: UserRole;
  readonly accountId: string;
  /** Teams of the account. */
  readonly teamIds: readonly string[];
  /** With its salt and parameters; see accounts/passwords.ts. */
  readonly passwordHash: string;
  readonly createdAtMs: number;
  readonly lastSignInAtMs: number | null;
  /** Set while an identity provider keeps them out. */
  readonly deactivatedAtMs: number | null;
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
  /** Lists those of one account, or of all. Without operators where `hasOperators` is false. */
  list(page: Page, only?: PeopleFilter): Promise<readonly User[]>;
  /** Reads addresses by id, of those who are in the account. */
  emailsOf(accountId: string, ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /**
   * Never demotes the last operator, nor the last one with a password; nor the last admin of an account, where
   * `keepsAdmin`. The user as it is then; null when missing. Somebody who leaves an account leaves its teams, and keys there
   * are revoked.
   */
  change(id: string, grant: UserGrant, options: ChangeOptions): Promise<User | null>;
  /** Ends all logins of the user but the one kept, and an open link for a new password, in the same transaction. */
  setPassword(id: string, passwordHash: string, keptLogin: string): Promise<void>;
  /**
   * With logins and identities; keys of the user are revoked. Never deletes the last operator with a password, even if two
   * try at the same moment.
   */
  delete(id: string, options: ChangeOptions): Promise<"deleted" | "missing" | "last-operator" | "last-admin">;
}

export interface PeopleFilter {
  readonly accountId: string;
  readonly hasOperators: boolean;
}

export interface ChangeOptions {
  readonly atMs: number;
  readonly keepsAdmin?: boolean;
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
  readonly teamIds: readonly string[];
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
  /** An invitation takes the place of an earlier one to the same address, of all accounts or of those given. */
  insert(invitation: Invitation, only?: PeopleFilter): Promise<void>;
  byHash(hash: string): Promise<Invitation | null>;
  /** Lists invitations, without links of the kind `setup`. */
  list(page: Page, only?: PeopleFilter): Promise<readonly Invitation[]>;
  delete(id: string, only?: PeopleFilter): Promise<boolean>;
  /** Makes the user and uses the link up, both or neither. False when it was used up meanwhile. */
  redeem(invitation: Invitation, user: User): Promise<boolean>;
}

/** An OpenID Connect issuer that people or programs sign in with. */
export interface IdentityProvider {
  /** Part of addresses, such as `/api/sign-in/okta`. */
  readonly id: string;
  /** On the button of the sign-in page. */
  readonly name: string;
  readonly issuer: string;
  /** Client for the dashboard; null where people cannot sign in with it. */
  readonly clientId: string | null;
  /** Secret of that client; null for a public one, which proves itself by PKCE alone. */
  readonly clientSecret: string | null;
  /** A public client with which `switchyard login` gets tokens; null where it cannot. */
  readonly deviceClientId: string | null;
  readonly scopes: readonly string[];
  /** Domains of e-mail addresses that may sign in; none allows all. */
  readonly domains: readonly string[];
  /** True where an address counts as verified although the identity provider does not say so. */
  readonly trustsEmail: boolean;
  /** Role of somebody whom no rule gives one; null keeps new people out. */
  readonly defaultRole: UserRole | null;
  /** Account of somebody whom no rule gives one; null keeps programs out. */
  readonly account: string | null;
  readonly rules: readonly ClaimRule[];
  /** Audiences of tokens that programs may bring; none takes no tokens. */
  readonly audiences: readonly string[];
  /** Signature algorithms of tokens and of sign-ins. */
  readonly algorithms: readonly string[];
}

/** Grants of a claim with a value to its holder. The first rule that matches and names a field decides that field. */
export interface ClaimRule {
  /** The name of a claim, or a path such as `realm_access.roles`. */
  readonly claim: string;
  /** A `*` at the end stands for any text. */
  readonly value: string;
  readonly role?: UserRole;
  readonly account?: string;
  /** The name of a team of that account. */
  readonly team?: string;
  /** Profile and limit of the key that is made for a program. */
  readonly profile?: string;
  readonly requestsPerMinute?: number;
}

/** A person as an identity provider knows them. Issuer and subject never change; the address may. */
export interface Identity {
  readonly id: string;
  readonly issuer: string;
  readonly subject: string;
  readonly userId: string;
  readonly email: string;
  readonly createdAtMs: number;
  readonly lastSignInAtMs: number;
}

/** A sign-in that was sent to an identity provider. It holds no secret: those are in the browser's cookie. */
export interface PendingSignIn {
  readonly stateHash: string;
  readonly provider: string;
  /** Page of the dashboard to open afterwards. */
  readonly returnTo: string;
  /** The user to link the identity to; null for a sign-in. */
  readonly linkTo: string | null;
  readonly expiresAtMs: number;
}

/** Fields of a user that claims decide; one that is left out stays. */
export type UserGrant = Partial<Pick<User, "role" | "accountId" | "teamIds">>;

export interface IdentityStore {
  find(issuer: string, subject: string): Promise<{ readonly identity: Identity; readonly user: User } | null>;
  ofUser(userId: string): Promise<readonly Identity[]>;
  /** Makes the user too, where one is given. Throws a UniqueViolation where identity or e-mail address exist. */
  insert(identity: Identity, user?: User): Promise<void>;
  /** Writes address and time. */
  noteSignIn(identity: Identity): Promise<void>;
  /** A user without a password follows the address of the identity, unless somebody else has it. */
  renameUser(userId: string, email: string): Promise<void>;
  /** False when the user has no such identity. */
  delete(userId: string, id: string): Promise<boolean>;
}

export interface PendingSignInStore {
  /** Forgets those that have expired. */
  insert(pending: PendingSignIn, nowMs: number): Promise<void>;
  /** Returns each once, whichever process asks. */
  take(stateHash: string): Promise<PendingSignIn | null>;
}

/** A key pair in a person's device or password manager, with which they sign in. Here is the public half. */
export interface Passkey {
  readonly id: string;
  /** The authenticator's name for the key pair, in base64url. */
  readonly credentialId: string;
  readonly userId: string;
  readonly name: string;
  /** COSE, in base64url. */
  readonly publicKey: string;
  /** Uses as the authenticator counts them; stays 0 where it does not count. */
  readonly counter: number;
  /** The host name that the passkey is for. */
  readonly host: string;
  readonly createdAtMs: number;
  readonly lastUsedAtMs: number | null;
}

export interface PasskeyStore {
  /** False when the user is gone, deactivated, or has another password by now. Throws a UniqueViolation for a known credential. */
  insert(passkey: Passkey, passwordHash: string): Promise<boolean>;
  find(credentialId: string): Promise<{ readonly passkey: Passkey; readonly user: User } | null>;
  ofUser(userId: string): Promise<readonly Passkey[]>;
  /** Writes counter and time. False when the passkey is gone, or has been used with this counter or a higher one. */
  noteUse(id: string, counter: number, atMs: number): Promise<boolean>;
  /** False when the user has no such passkey. */
  delete(userId: string, id: string): Promise<boolean>;
}

/** A random text that a passkey signs. */
interface PasskeyChallenge {
  readonly hash: string;
  /** The user who adds a passkey; null for a sign-in. */
  readonly userId: string | null;
  readonly expiresAtMs: number;
}

export interface PasskeyChallengeStore {
  /** Forgets those that have expired. */
  insert(challenge: PasskeyChallenge, nowMs: number): Promise<void>;
  /** Returns each once, whichever process asks. */
  take(hash: string): Promise<PasskeyChallenge | null>;
}

/** A token of an organisation's identity provider. Its text is stored nowhere. */
export interface ScimToken {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly hash: string;
  /** True for one that an operator made: operators of the organisation are people like others to it. */
  readonly reachesOperators: boolean;
  readonly createdAtMs: number;
  readonly lastUsedAtMs: number | null;
}

export interface ScimTokenStore {
  insert(token: ScimToken): Promise<void>;
  byHash(hash: string): Promise<ScimToken | null>;
  list(accountId: string, page: Page): Promise<readonly ScimToken[]>;
  delete(accountId: string, id: string): Promise<boolean>;
  touch(id: string, atMs: number): Promise<void>;
}

/** Facts that an identity provider tells about somebody and that nothing here depends on, but for the first two. */
interface ScimProfile {
  readonly userName: string;
  readonly externalId: string | null;
  readonly displayName: string | null;
  readonly name: Readonly<Record<string, string>>;
}

export interface ScimUser {
  readonly user: User;
  readonly profile: ScimProfile;
  readonly changedAtMs: number;
  readonly groups: readonly { readonly id: string; readonly displayName: string }[];
}

/** A user as an identity provider wants them to be. */
export interface ScimUserWish {
  readonly email: string;
  readonly profile: ScimProfile;
  readonly isActive: boolean;
}

export interface ScimGroup {
  readonly id: string;
  readonly displayName: string;
  readonly externalId: string | null;
  readonly createdAtMs: number;
  readonly changedAtMs: number;
  readonly members: readonly { readonly id: string; readonly email: string }[];
}

export interface ScimGroupWish {
  readonly displayName: string;
  readonly externalId: string | null;
  readonly memberIds: readonly string[];
}

/** Attributes that people and groups are searched by. */
const SCIM_ATTRIBUTES = ["id", "userName", "email", "externalId", "displayName", "member"] as const;
export type ScimSearch = Partial<Readonly<Record<(typeof SCIM_ATTRIBUTES)[number], string>>>;

/** A part of a list, by place. */
export interface ScimRange {
  readonly offset: number;
  readonly limit: number;
}

export interface ScimFound<Row> {
  readonly total: number;
  readonly rows: readonly Row[];
}

/** A wish that cannot be met. */
export type ScimProblem = "missing" | "taken" | "last-operator" | "no-member";

/** Everything is about one organisation, and without its operators where the reach leaves them out. */
export interface ScimUserStore {
  find(reach: PeopleFilter, search: ScimSearch, range: ScimRange): Promise<ScimFound<ScimUser>>;
  insert(user: User, wish: ScimUserWish): Promise<ScimProblem | null>;
  /**
   * Reads, edits and writes in one transaction. Somebody who is no longer active loses logins, links and keys in it; the
   * same keys come back with them.
   */
  update(reach: PeopleFilter, id: string, edit: ScimEdit<ScimUser, ScimUserWish>): Promise<ScimProblem | null>;
  delete(reach: PeopleFilter, id: string, atMs: number): Promise<ScimProblem | null>;
  /** Names of people who are gone, in lower case, by account. */
  endedNames(): Promise<ReadonlyMap<string, ReadonlySet<string>>>;
}

export interface ScimEdit<Row, Wish> {
  readonly atMs: number;
  /** Throws to change nothing. */
  edit(current: Row): Wish;
}

/** Each write also gives the people concerned what their groups give, in the same transaction. */
export interface ScimGroupStore {
  find(reach: PeopleFilter, search: ScimSearch, range: ScimRange): Promise<ScimFound<ScimGroup>>;
  insert(
    reach: PeopleFilter,
    group: ScimGroupWish & { readonly id: string },
    give: ScimGiving,
  ): Promise<ScimProblem | null>;
  update(
    reach: PeopleFilter,
    id: string,
    edit: ScimEdit<ScimGroup, ScimGroupWish> & ScimGiving,
  ): Promise<ScimProblem | null>;
  delete(reach: PeopleFilter, id: string, give: ScimGiving): Promise<ScimProblem | null>;
}

export interface ScimGiving {
  readonly atMs: number;
  /** Says what somebody in these groups gets; groups are told by name and by the identity provider's id. */
  grantOf(user: User, groups: readonly string[]): UserGrant;
}
