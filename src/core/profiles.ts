// Routing profiles: named constraints that a key carries, and the port to store them.

import type { Page } from "./accounts.ts";
import type { Constraints } from "./decision.ts";

export interface Profile {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  /** What it is for, in the words of its author. */
  readonly description: string | null;
  readonly constraints: Constraints;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export interface ProfileStore {
  insert(profile: Profile): Promise<void>;
  /** False when the account has no such profile. */
  update(profile: Profile): Promise<boolean>;
  /**
   * With `keysTo`, its keys have that profile of the account from then on (or none, for null): both or neither, so that
   * no key is rejected in between. `heir-missing` when the account has no such profile.
   */
  delete(accountId: string, id: string, keysTo?: string | null): Promise<"deleted" | "missing" | "heir-missing">;
  all(): Promise<readonly Profile[]>;
  list(accountId: string, page: Page): Promise<readonly Profile[]>;
}
