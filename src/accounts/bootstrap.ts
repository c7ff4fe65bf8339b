// The first start: the account `default` and its first key. Behaviour 1.

import type { AccountStore } from "../core/accounts.ts";
import { UniqueViolation } from "../core/store-errors.ts";
import { DEFAULT_ACCOUNT } from "./accounts.ts";
import type { Keys } from "./keys.ts";

/** Before the port opens, so that no call finds the account missing. */
export async function ensureFirstAccount(accounts: AccountStore): Promise<void> {
  if ((await accounts.get(DEFAULT_ACCOUNT)) !== null) return;
  await unlessExisting(() =>
    accounts.insert({ id: DEFAULT_ACCOUNT, name: DEFAULT_ACCOUNT, billingMode: null, createdAtMs: Date.now() }),
  );
}

/** Returns the text of the first key when this call made it, null on every later start. */
export async function ensureFirstKey(keys: Keys): Promise<string | null> {
  const known = await keys.list(DEFAULT_ACCOUNT, { limit: 1, after: null });
  if (known.length > 0) return null;
  // With a fixed id, only one of two processes that start together makes the key.
  const made = await unlessExisting(() =>
    keys.create({ id: "key_first", accountId: DEFAULT_ACCOUNT, name: "first key" }),
  );
  return made?.text ?? null;
}

async function unlessExisting<T>(write: () => Promise<T>): Promise<T | null> {
  try {
    return await write();
  } catch (error) {
    if (error instanceof UniqueViolation) return null;
    throw error;
  }
}
