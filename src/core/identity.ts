// Identity providers: what an operator says about each, the identities they vouch for, and the ports that keep those.

import type { User, UserRole } from "./people.ts";

/** An OpenID Connect issuer that people or programs sign in with. */
export interface IdentityProvider {
  /** Part of addresses, such as `/api/sign-in/okta`. */
  readonly id: string;
  /** On the button of the sign-in page. */
  readonly name: string;
  readonly issuer: string;
  /** Null where people cannot sign in with it. */
  readonly clientId: string | null;
  /** Null for a public client, which proves itself by PKCE alone. */
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

/** What a claim with a value gives its holder. The first rule that matches and names a field decides that field. */
export interface ClaimRule {
  /** The name of a claim, or a path such as `realm_access.roles`. */
  readonly claim: string;
  /** A `*` at the end stands for any text. */
  readonly value: string;
  readonly role?: UserRole;
  readonly account?: string;
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
export type UserGrant = Partial<Pick<User, "role" | "accountId">>;

export interface IdentityStore {
  find(issuer: string, subject: string): Promise<{ readonly identity: Identity; readonly user: User } | null>;
  ofUser(userId: string): Promise<readonly Identity[]>;
  /** Makes the user too, where one is given. Throws a UniqueViolation where identity or e-mail address exist. */
  insert(identity: Identity, user?: User): Promise<void>;
  /** Writes address and time. */
  noteSignIn(identity: Identity): Promise<void>;
  /** A user without a password follows the address of the identity, unless somebody else has it. */
  renameUser(userId: string, email: string): Promise<void>;
  /** Never demotes the last operator, nor the last one with a password. The user as it is then; null when missing. */
  applyGrant(userId: string, grant: UserGrant): Promise<User | null>;
  /** False when the user has no such identity. */
  delete(userId: string, id: string): Promise<boolean>;
}

export interface PendingSignInStore {
  /** Forgets those that have expired. */
  insert(pending: PendingSignIn, nowMs: number): Promise<void>;
  /** Returns each once, whichever process asks. */
  take(stateHash: string): Promise<PendingSignIn | null>;
}
