// Accounts, and the pages in which their keys and profiles are listed.

/** Whose keys, profiles and credits are whose. */
export interface Account {
  readonly id: string;
  readonly name: string;
  readonly createdAtMs: number;
}

export interface AccountStore {
  insert(account: Account): Promise<void>;
  get(id: string): Promise<Account | null>;
  list(page: Page): Promise<readonly Account[]>;
}

/** Keyset pagination: rows after the one with this id, newest first. */
export interface Page {
  readonly limit: number;
  readonly after: string | null;
}
