// Logins: opened at sign-in, found by their token, ended at sign-out. They live in the database, so that they
// survive a restart and are valid on every process.

import { GatewayError } from "../core/errors.ts";
import type { Login, LoginStore, User } from "../core/people.ts";
import { BatchRejected } from "../core/store-errors.ts";
import { hashToken, makeToken } from "./token.ts";

export interface SignedIn {
  readonly user: User;
  readonly login: Login;
}

export interface Logins {
  /** The token is returned here and stored nowhere. Every sign-in ends here, and throws for somebody who is deactivated. */
  open(user: User): Promise<string>;
  /** One login for all visitors of a demo, so that a crawler without cookies does not fill the database. */
  openShared(user: User): Promise<string>;
  /** Returns null when there is no such login, or the login has ended. */
  find(token: string): Promise<SignedIn | null>;
  /** A shared login goes on for the other visitors. */
  end(token: string): Promise<void>;
}

const DAY_MS = 86_400_000;
/** A login ends when it was not used for this long. */
export const LOGIN_IDLE_MS = 14 * DAY_MS;
/** Limit after which a login ends in any case. */
export const LOGIN_MAX_MS = 90 * DAY_MS;
/** Interval at which the last use of a login is written, so that not every request writes. */
const TOUCH_MS = 10 * 60_000;

interface LoginsOptions {
  readonly store: LoginStore;
  /** The login of all visitors, where the store has it already. */
  readonly shared?: string | undefined;
  readonly now?: () => number;
}

export function createLogins({ store, shared: known, now = Date.now }: LoginsOptions): Logins {
  let shared: Promise<string> | null = known === undefined ? null : Promise.resolve(known);

  async function open(user: User): Promise<string> {
    const token = makeToken();
    const atMs = now();
    const login = { hash: hashToken(token) as string, userId: user.id, createdAtMs: atMs, seenAtMs: atMs };
    try {
      await store.insert(login, atMs - LOGIN_IDLE_MS);
    } catch (error) {
      throw error instanceof BatchRejected ? deactivated() : error;
    }
    return token;
  }

  async function find(token: string): Promise<SignedIn | null> {
    const hash = hashToken(token);
    const found = hash === null ? null : await store.find(hash);
    if (found === null) return null;
    const atMs = now();
    const { createdAtMs, seenAtMs } = found.login;
    if (atMs >= seenAtMs + LOGIN_IDLE_MS || atMs >= createdAtMs + LOGIN_MAX_MS) return null;
    if (atMs >= seenAtMs + TOUCH_MS) await store.touch(found.login.hash, atMs);
    return found;
  }

  return {
    open,
    openShared: (user) => {
      const before = shared?.catch(() => null) ?? Promise.resolve(null);
      shared = before.then(async (token) => (token !== null && (await find(token)) !== null ? token : open(user)));
      return shared;
    },
    find,
    end: async (token) => {
      if (token === (await shared?.catch(() => null))) return;
      const hash = hashToken(token);
      if (hash !== null) await store.delete(hash);
    },
  };
}

function deactivated(): GatewayError {
  const message = "Your access has ended. Ask your admin.";
  return new GatewayError("forbidden", message, { code: "deactivated" });
}
