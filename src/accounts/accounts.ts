// Accounts: the owners of keys, profiles and credits.

import { randomBytes } from "node:crypto";
import type { Account, AccountStore, BillingMode, Page } from "../core/accounts.ts";
import { GatewayError } from "../core/errors.ts";
import { checkedName } from "../core/names.ts";
import type { Directory } from "./directory.ts";

/** The account of a single-tenant installation, made at the first start. */
export const DEFAULT_ACCOUNT = "default";

export interface Accounts {
  create(name: string): Promise<Account>;
  get(id: string): Promise<Account | null>;
  list(page: Page): Promise<readonly Account[]>;
  /**
   * Sets the mode; with null, the account follows the gateway's mode again. Running requests keep the mode they began
   * with.
   */
  setBillingMode(id: string, mode: BillingMode | null): Promise<Account>;
}

export interface AccountsContext {
  readonly store: AccountStore;
  readonly directory: Pick<Directory, "catchUp">;
  readonly now?: () => number;
}

export function createAccounts({ store, directory, now = Date.now }: AccountsContext): Accounts {
  return {
    create: async (wanted) => {
      const name = checkedName("An account", wanted);
      const account = { id: `account_${randomBytes(12).toString("hex")}`, name, billingMode: null, createdAtMs: now() };
      await store.insert(account);
      return account;
    },
    get: (id) => store.get(id),
    list: (page) => store.list(page),
    setBillingMode: async (id, mode) => {
      const account = await store.setBillingMode(id, mode);
      if (account === null) throw new GatewayError("notFound", "No such account.");
      await directory.catchUp();
      return account;
    },
  };
}
