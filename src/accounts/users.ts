// Dashboard users: sign in, change the password, list, delete.

import type { Page } from "../core/accounts.ts";
import { GatewayError } from "../core/errors.ts";
import {
  type ChangeOptions,
  hasPassword,
  type PeopleFilter,
  type User,
  type UserGrant,
  type UserRole,
  type UserStore,
} from "../core/people.ts";
import { knownDevice } from "./devices.ts";
import type { Directory } from "./directory.ts";
import { createSignInLimiter, type SignInLimit, type SignInLimiter } from "./limits/sign-ins.ts";
import { networkOf } from "./limits/wrong-keys.ts";
import type { SignedIn } from "./logins.ts";
import { checkPassword, type Passwords } from "./passwords.ts";

interface SignInCredentials {
  readonly email: string;
  readonly password: string;
  /** The network address the attempt comes from. */
  readonly address: string;
  /** The token of the device, where it has one. */
  readonly device?: string | undefined;
}

export interface Users {
  /** Throws the same error for a wrong password and for an unknown e-mail address. */
  signIn(credentials: SignInCredentials): Promise<User>;
  /** Ends the user's other logins. Returns the user with the new password. */
  changePassword(signedIn: SignedIn, change: PasswordChange): Promise<User>;
  /** Throws unless this is the password of the user who is signed in. */
  confirm(signedIn: SignedIn, password: string): Promise<void>;
  byEmail(email: string): Promise<User | null>;
  byId(id: string): Promise<User | null>;
  /** Lists those of one account, or of all. */
  list(page: Page, only?: PeopleFilter): Promise<readonly User[]>;
  /** Reads addresses by id, of those who are in the account. */
  emailsOf(accountId: string, ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Returns null when there is no such user. Throws where the last operator would be demoted, or with `keepsAdmin` the last admin. */
  change(id: string, grant: UserGrant, options?: KeepOptions): Promise<User | null>;
  /** False when there is no such user. Throws for the last operator, and with `keepsAdmin` for the last admin. */
  delete(id: string, options?: KeepOptions): Promise<boolean>;
  hasOperator(): Promise<boolean>;
}

type KeepOptions = Omit<ChangeOptions, "atMs">;

interface PasswordChange {
  readonly current: string;
  readonly next: string;
}

export interface UsersOptions {
  readonly store: UserStore;
  readonly passwords: Passwords;
  /** Counts in this process alone if left out. */
  readonly signIns?: SignInLimiter;
  /** Told when keys were revoked with their owner. */
  readonly directory?: Pick<Directory, "changed">;
  readonly now?: () => number;
}

/** For one person at one place. A forgotten password takes a few attempts; a guessed one takes thousands. */
const FAILURES = 10;
/** For one account, from all places together. Known devices do not count, so that an outsider cannot lock them out. */
const FAILURES_BY_ACCOUNT = 30;
/** For one network address. Higher, because many people may share it. */
const FAILURES_BY_ADDRESS = 50;

export function createUsers(options: UsersOptions): Users {
  const { store, passwords, directory, now = Date.now, signIns = createSignInLimiter(now) } = options;
  let isOperatorKnown = false;
  const authenticate = authenticator(passwords, signIns);
  const confirm = async ({ user, login }: SignedIn, password: string, param: string): Promise<void> => {
    if ((await authenticate(user, password, [limitOf(`session ${login.hash}`)])) !== null) return;
    throw new GatewayError("badRequest", "The current password is wrong.", { code: "wrong_password", param });
  };
  return {
    signIn: async ({ email, password, address, device }) => {
      const known = normalisedEmail(email);
      const found = known === null ? null : await store.byEmail(known);
      const knownAs = found === null || device === undefined ? null : knownDevice(device, found, now());
      const limits = knownAs === null ? limitsOf(known ?? email, address) : [limitOf(`device ${knownAs}`)];
      const user = await authenticate(found, password, limits);
      if (user !== null) return user;
      const message = "The e-mail address or the password is wrong.";
      throw new GatewayError("unauthenticated", message, { code: "wrong_credentials" });
    },
    changePassword: async ({ user, login }, { current, next }) => {
      if (!hasPassword(user.passwordHash)) throw noPasswordYet();
      await confirm({ user, login }, current, "current");
      checkPassword(next, user.email, "next");
      const passwordHash = await passwords.hash(next);
      await store.setPassword(user.id, passwordHash, login.hash);
      return { ...user, passwordHash };
    },
    confirm: (signedIn, password) => confirm(signedIn, password, "password"),
    byEmail: (email) => store.byEmail(email),
    byId: (id) => store.byId(id),
    list: (page, only) => store.list(page, only),
    emailsOf: (accountId, ids) => store.emailsOf(accountId, ids),
    change: async (id, grant, options) => {
      const changed = await store.change(id, grant, { ...options, atMs: now() });
      if (changed !== null && grant.accountId !== undefined) await directory?.changed();
      if (changed === null || grant.role === undefined || changed.role === grant.role) return changed;
      throw isLast(changed.role);
    },
    delete: async (id, options) => {
      const outcome = await store.delete(id, { ...options, atMs: now() });
      if (outcome === "deleted") await directory?.changed();
      if (outcome === "last-operator") throw isLast("operator");
      if (outcome === "last-admin") throw isLast("admin");
      return outcome === "deleted";
    },
    // Once there is one, there always is: the last operator is never deleted.
    hasOperator: async () => {
      isOperatorKnown ||= await store.hasOperator();
      return isOperatorKnown;
    },
  };
}

/** Returns the user if the password is right, else null. Throws after too many failures. */
function authenticator(passwords: Passwords, signIns: SignInLimiter) {
  return async (user: User | null, password: string, limits: readonly SignInLimit[]): Promise<User | null> => {
    const attempt = await signIns.begin(limits);
    if (attempt.waitSeconds > 0) throw tooManyAttempts(attempt.waitSeconds);
    const isRight = await passwords.isRight(password, user?.passwordHash ?? null);
    if (!isRight) return null;
    attempt.succeeded();
    return user;
  };
}

function isLast(role: UserRole): GatewayError {
  const [message, code] =
    role === "operator"
      ? ["The last operator with a password cannot be deleted or demoted. Invite another one first.", "last_operator"]
      : ["The last admin of an organisation cannot be deleted or demoted. Appoint another one first.", "last_admin"];
  return new GatewayError("conflict", message, { code });
}

/** 64 characters, `@` and 190. */
export const EMAIL_MAX = 255;
const EMAIL = /^[^\s@\p{Cc}\p{Cf}]{1,64}@[^\s@\p{Cc}\p{Cf}]{1,190}$/u;

/** The sign for kelvin, which becomes a plain k in lower case: another address, but the user of the one with k. */
const FALSE_FRIEND = "\u212a";

/** Trimmed and in lower case; null when it is no e-mail address. */
export function normalisedEmail(text: string): string | null {
  const email = text.trim().toLowerCase();
  return EMAIL.test(email) && !text.includes(FALSE_FRIEND) ? email : null;
}

/** For a device that is not known. Alone, one address cannot use up what the account allows. */
function limitsOf(email: string, address: string): readonly SignInLimit[] {
  const network = networkOf(address);
  const account = email.slice(0, 256);
  return [
    limitOf(`account ${account} from ${network}`),
    { name: `account ${account}`, most: FAILURES_BY_ACCOUNT },
    addressLimit(address),
  ];
}

/** Limits failed sign-ins of every kind. */
export function addressLimit(address: string): SignInLimit {
  return { name: `address ${networkOf(address)}`, most: FAILURES_BY_ADDRESS };
}

function limitOf(name: string): SignInLimit {
  return { name, most: FAILURES };
}

function noPasswordYet(): GatewayError {
  const message =
    "You sign in with an identity provider and have no password. Ask your admin for a reset link to set one.";
  return new GatewayError("badRequest", message, { code: "no_password", param: "current" });
}

export function tooManyAttempts(retryAfterSeconds: number): GatewayError {
  return new GatewayError("rateLimited", `Too many attempts. Wait ${retryAfterSeconds} s.`, {
    code: "too_many_attempts",
    retryAfterSeconds,
  });
}
