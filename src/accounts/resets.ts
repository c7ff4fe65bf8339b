// Password reset links. An operator makes one; it works once, for a day, and ends every login of the user.

import { GatewayError } from "../core/errors.ts";
import type { PasswordResetStore, User, UserStore } from "../core/people.ts";
import { invalidLink } from "./invitations.ts";
import { checkPassword, type Passwords } from "./passwords.ts";
import { hashToken, makeToken } from "./token.ts";
import { normalisedEmail } from "./users.ts";

interface MadeReset {
  readonly user: User;
  /** Returned here and stored nowhere. */
  readonly token: string;
  readonly expiresAtMs: number;
}

export interface Resets {
  /** Replaces an earlier link. Null when there is no such user. */
  makeFor(user: { readonly id: string } | { readonly email: string }): Promise<MadeReset | null>;
  /** Throws the same error whether a link never existed, was used, was replaced or has expired. */
  redeem(given: { readonly token: string; readonly password: string }): Promise<User>;
}

export interface ResetsOptions {
  readonly store: PasswordResetStore;
  readonly users: Pick<UserStore, "byEmail" | "byId">;
  readonly passwords: Passwords;
  readonly now?: () => number;
}

const RESET_MS = 24 * 3_600_000;

export function createResets({ store, users, passwords, now = Date.now }: ResetsOptions): Resets {
  const find = (wanted: { readonly id: string } | { readonly email: string }): Promise<User | null> => {
    if ("id" in wanted) return users.byId(wanted.id);
    const email = normalisedEmail(wanted.email);
    if (email !== null) return users.byEmail(email);
    throw new GatewayError("badRequest", `'${wanted.email}' is no e-mail address.`, { param: "email" });
  };
  return {
    makeFor: async (wanted) => {
      const user = await find(wanted);
      if (user === null) return null;
      const token = makeToken();
      const createdAtMs = now();
      const expiresAtMs = createdAtMs + RESET_MS;
      await store.insert({ userId: user.id, hash: hashToken(token) as string, createdAtMs, expiresAtMs });
      return { user, token, expiresAtMs };
    },
    redeem: async ({ token, password }) => {
      const hash = hashToken(token);
      const found = hash === null ? null : await store.find(hash);
      if (found === null || found.reset.expiresAtMs <= now()) throw invalidLink();
      checkPassword(password, found.user.email, "password");
      const passwordHash = await passwords.hash(password);
      if (!(await store.redeem(found.reset, passwordHash))) throw invalidLink();
      return { ...found.user, passwordHash };
    },
  };
}
