// Accounts, and the pages in which their keys and profiles are listed.

/** Whether an empty balance refuses requests (`prepaid`), or each charge is covered by a grant (`metered`). */
export const BILLING_MODES = ["prepaid", "metered"] as const;
export type BillingMode = (typeof BILLING_MODES)[number];

/** Whose keys, profiles and credits are whose. */
export interface Account {
  readonly id: string;
  readonly name: string;
  /** Null: the gateway's own mode. */
  readonly billingMode: BillingMode | null;
  readonly createdAtMs: number;
}

export interface AccountStore {
  insert(account: Account): Promise<void>;
  get(id: string): Promise<Account | null>;
  list(page: Page): Promise<readonly Account[]>;
  /** The account as it is then; null when there is none such. */
  setBillingMode(id: string, mode: BillingMode | null): Promise<Account | null>;
  /** Only of accounts that have a mode of their own. */
  billingModes(): Promise<ReadonlyMap<string, BillingMode>>;
}

/** Keyset pagination: rows after the one with this id, newest first. */
export interface Page {
  readonly limit: number;
  readonly after: string | null;
}
