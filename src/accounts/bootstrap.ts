// The first start: the account `default` and one key to begin with. CONTRACT 1.

import type { AccountStore } from "../core/accounts.ts";
import { UniqueViolation } from "../core/store-errors.ts";
import { DEFAULT_ACCOUNT } from "./accounts.ts";
import type { Keys } from "./keys.ts";

export interface FirstAccountOptions {
  readonly accounts: AccountStore;
  readonly keys: Keys;
  readonly now?: () => number;
}

/**
 * Returns the text of the first key when this call made it, null on every later start.
 * Whether there is a key is asked separately from whether there is an account, so that a start that broke off
 * between the two is finished by the next one.
 */
export async function ensureFirstAccount(options: FirstAccountOptions): Promise<string | null> {
  const { accounts, keys, now = Date.now } = options;
  if ((await accounts.get(DEFAULT_ACCOUNT)) === null) {
    await unlessThere(() => accounts.insert({ id: DEFAULT_ACCOUNT, name: DEFAULT_ACCOUNT, createdAtMs: now() }));
  }
  const known = await keys.list(DEFAULT_ACCOUNT, { limit: 1, after: null });
  if (known.length > 0) return null;
  // A fixed id: of two processes that start together, one makes the key.
  const made = await unlessThere(() => keys.create({ id: "key_first", accountId: DEFAULT_ACCOUNT, name: "first key" }));
  return made?.text ?? null;
}

async function unlessThere<T>(write: () => Promise<T>): Promise<T | null> {
  try {
    return await write();
  } catch (error) {
    if (error instanceof UniqueViolation) return null;
    throw error;
  }
}
