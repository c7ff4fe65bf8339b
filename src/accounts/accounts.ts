// Accounts: the owners of keys, profiles and credits.

import { randomBytes } from "node:crypto";
import type { Account, AccountStore, Page } from "../core/accounts.ts";
import { GatewayError } from "../core/errors.ts";

/** The account of a single-tenant installation, made at the first start. */
export const DEFAULT_ACCOUNT = "default";

export interface Accounts {
  create(name: string): Promise<Account>;
  get(id: string): Promise<Account | null>;
  list(page: Page): Promise<readonly Account[]>;
}

export function createAccounts({ store, now = Date.now }: { store: AccountStore; now?: () => number }): Accounts {
  return {
    create: async (wanted) => {
      const name = wanted.trim();
      if (name.length < 1 || name.length > 200) {
        throw new GatewayError("badRequest", "An account's name has 1 to 200 characters.", { param: "name" });
      }
      const account = { id: `account_${randomBytes(12).toString("hex")}`, name, createdAtMs: now() };
      await store.insert(account);
      return account;
    },
    get: (id) => store.get(id),
    list: (page) => store.list(page),
  };
}
