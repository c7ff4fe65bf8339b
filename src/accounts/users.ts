// Dashboard users: sign in, change the password, list, delete.

import type { Page } from "../core/accounts.ts";
import { GatewayError } from "../core/errors.ts";
import type { User, UserStore } from "../core/people.ts";
import { createSignInLimiter, type SignInLimit, type SignInLimiter } from "./limits/sign-ins.ts";
import { checkPassword, type Passwords } from "./passwords.ts";
import type { SignedIn } from "./sessions.ts";

interface SignInCredentials {
  readonly email: string;
  readonly password: string;
  /** The network address the attempt comes from. */
  readonly address: string;
}

export interface Users {
  /** Throws the same error for a wrong password and for an unknown e-mail address. */
  signIn(credentials: SignInCredentials): Promise<User>;
  /** Ends the user's other sessions. */
  changePassword(signedIn: SignedIn, change: PasswordChange): Promise<void>;
  list(page: Page): Promise<readonly User[]>;
  /** False when there is no such user. */
  delete(id: string): Promise<boolean>;
  hasOperator(): Promise<boolean>;
}

interface PasswordChange {
  readonly current: string;
  readonly next: string;
  readonly address: string;
}

export interface UsersOptions {
  readonly store: UserStore;
  readonly passwords: Passwords;
  /** Counts in this process alone if left out. */
  readonly signIns?: SignInLimiter;
  readonly now?: () => number;
}

/** A forgotten password takes a few attempts; a guessed one takes thousands. */
const FAILURES_BY_EMAIL = 10;
/** Higher, because many people may share one network address. */
const FAILURES_BY_ADDRESS = 50;

export function createUsers(options: UsersOptions): Users {
  const { store, passwords, now = Date.now, signIns = createSignInLimiter(now) } = options;
  let isOperatorKnown = false;
  /** The user if the password is right, else null. Throws after too many failures. */
  const authenticate = async (
    user: User | null,
    email: string,
    given: Omit<SignInCredentials, "email">,
  ): Promise<User | null> => {
    const attempt = await signIns.begin(limitsOf(email, given.address));
    if (attempt.waitSeconds > 0) throw tooManyAttempts(attempt.waitSeconds);
    const isRight = await passwords.isRight(given.password, user?.passwordHash ?? null);
    if (!isRight) return null;
    attempt.succeeded();
    return user;
  };
  return {
    signIn: async ({ email, password, address }) => {
      const known = normalisedEmail(email);
      const user = await authenticate(known === null ? null : await store.byEmail(known), known ?? email, {
        password,
        address,
      });
      if (user !== null) return user;
      const message = "The e-mail address or the password is wrong.";
      throw new GatewayError("unauthenticated", message, { code: "wrong_credentials" });
    },
    changePassword: async ({ user, session }, { current, next, address }) => {
      if ((await authenticate(user, user.email, { password: current, address })) === null) {
        throw new GatewayError("badRequest", "The current password is wrong.", {
          code: "wrong_password",
          param: "current",
        });
      }
      checkPassword(next, user.email, "next");
      await store.setPassword(user.id, await passwords.hash(next), session.hash);
    },
    list: (page) => store.list(page),
    delete: async (id) => {
      const outcome = await store.delete(id);
      if (outcome !== "last-operator") return outcome === "deleted";
      throw new GatewayError("conflict", "The last operator cannot be deleted. Invite another one first.", {
        code: "last_operator",
      });
    },
    // Once there is one, there always is: the last operator is never deleted.
    hasOperator: async () => {
      isOperatorKnown ||= await store.hasOperator();
      return isOperatorKnown;
    },
  };
}

const EMAIL = /^[^\s@\p{Cc}\p{Cf}]{1,64}@[^\s@\p{Cc}\p{Cf}]{1,190}$/u;

/** Trimmed and in lower case; null when it is no e-mail address. */
export function normalisedEmail(text: string): string | null {
  const email = text.trim().toLowerCase();
  return EMAIL.test(email) ? email : null;
}

function limitsOf(email: string, address: string): readonly SignInLimit[] {
  return [
    { name: `email ${email.slice(0, 256)}`, most: FAILURES_BY_EMAIL },
    { name: `address ${address}`, most: FAILURES_BY_ADDRESS },
  ];
}

function tooManyAttempts(retryAfterSeconds: number): GatewayError {
  return new GatewayError("rateLimited", `Too many attempts. Wait ${retryAfterSeconds} s.`, {
    code: "too_many_attempts",
    retryAfterSeconds,
  });
}
