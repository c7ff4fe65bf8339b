// Prompts that clients keep at the gateway to begin later requests with, and the port of their store.

import type { JsonItem, OwnedId } from "./stored.ts";

export interface StoredCache extends OwnedId {
  readonly model: string;
  /** Shown to people; null where the client gave none. */
  readonly displayName: string | null;
  /** An estimate. */
  readonly tokens: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly expiresAtMs: number;
}

/** Ids grow with time, so the list is in their order. */
interface CachePage {
  readonly after: string | null;
  readonly limit: number;
}

/** Store of such prompts. One that has expired does not exist. */
export interface CacheStore {
  insert(cache: StoredCache, prompt: JsonItem): Promise<void>;
  find(name: OwnedId): Promise<StoredCache | null>;
  /** The part of a request that was kept. */
  prompt(name: OwnedId): Promise<JsonItem | null>;
  list(accountId: string, page: CachePage): Promise<readonly StoredCache[]>;
  /** Gives it another end. False when it does not exist. */
  extend(name: OwnedId, expiresAtMs: number): Promise<boolean>;
  /** False when it does not exist. */
  remove(name: OwnedId): Promise<boolean>;
  /** Deletes at most so many that have expired. */
  deleteExpired(limit: number): Promise<number>;
}
