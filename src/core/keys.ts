// API keys as they are stored, and the ports to read and change them.

import type { Page } from "./accounts.ts";
import type { KeySpend } from "./ledger.ts";
import type { Residency } from "./requests/controls.ts";

export interface KeyRecord {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  /** The first characters of the key, for people to recognise it by. */
  readonly prefix: string;
  /** SHA-256 of the whole key, hex. The key itself is stored nowhere. */
  readonly hash: string;
  readonly profileId: string | null;
  /** The team that it is in; null for none. */
  readonly teamId: string | null;
  /** The user that it belongs to; null for the key of a service. */
  readonly memberId: string | null;
  /** Required of every host, beside what its profile and its teams require; null requires nothing. */
  readonly requires: Residency | null;
  readonly requestsPerMinute: number | null;
  readonly spendLimitNano: bigint | null;
  /** Period after which the spend counts from zero again. */
  readonly spendReset: SpendReset;
  /** The key that its spending counts under: itself, or the first of those that it replaced. */
  readonly spendKeyId: string;
  readonly expiresAtMs: number | null;
  readonly revokedAtMs: number | null;
  readonly lastUsedAtMs: number | null;
  readonly createdAtMs: number;
}

/** Fields of a key that can change later; fields that are left out stay the same. */
export type KeyChange = Partial<
  Pick<
    KeyRecord,
    | "name"
    | "profileId"
    | "teamId"
    | "memberId"
    | "requires"
    | "requestsPerMinute"
    | "spendLimitNano"
    | "spendReset"
    | "expiresAtMs"
  >
>;

/** The end of a key that another one replaces: it expires, or sooner when it was to, or is revoked at once. */
interface ReplacedKey {
  readonly id: string;
  readonly expiresAtMs: number;
  readonly revokedAtMs: number | null;
}

export const KEY_STATUSES = ["active", "revoked", "expired"] as const;
export type KeyStatus = (typeof KEY_STATUSES)[number];

export const KEY_SORTS = ["created", "name", "lastUsed", "spend", "status"] as const;
export type KeySort = (typeof KEY_SORTS)[number];

/** Selects and sorts the keys of an account. A field that is left out selects every key; the newest come first. */
export interface KeySearch {
  /** A part of the name, the beginning of the key, or an id. */
  readonly text?: string;
  readonly status?: KeyStatus;
  /** Selects the keys of a profile; null selects keys without one. */
  readonly profileId?: string | null;
  /** Selects the keys of a team; null selects keys without one. */
  readonly teamId?: string | null;
  /** Selects the keys of a person; null selects keys of services. */
  readonly memberId?: string | null;
  readonly sort?: KeySort;
  readonly isAscending?: boolean;
  /** Spend counts from the day that this time is in. */
  readonly spendFromMs?: number;
}

export interface KeyStore {
  /**
   * Both the key and the end of the one that it replaces are written, or neither. Throws BatchRejected where its team or
   * its member is gone.
   */
  insert(key: KeyRecord, replaced?: ReplacedKey): Promise<void>;
  all(): Promise<readonly KeyRecord[]>;
  /** `atMs` tells which keys have expired. */
  list(accountId: string, page: Page, atMs: number, search?: KeySearch): Promise<readonly KeyRecord[]>;
  /** Counts the keys that a search finds. */
  count(accountId: string, atMs: number, search?: KeySearch): Promise<number>;
  /** Counts the active keys of each profile, by profile id; profiles without active keys are left out. */
  countByProfile(accountId: string, atMs: number): Promise<ReadonlyMap<string, number>>;
  get(accountId: string, id: string): Promise<KeyRecord | null>;
  /** The key as it is then; null when the account has none such that is not revoked. Throws as `insert` does. */
  update(accountId: string, id: string, change: KeyChange): Promise<KeyRecord | null>;
  /** All at once; the ids of those that the account has. Revoking twice keeps the first time. */
  revoke(accountId: string, ids: readonly string[], atMs: number): Promise<readonly string[]>;
  touch(lastUsedAtMsById: ReadonlyMap<string, number>): Promise<void>;
  /** A number that moves with every change of a key or a profile, by whichever process; `touch` does not move it. */
  revision(): Promise<number>;
}

export interface KeySpendStore {
  /** By the id of the key, for those that were ever counted. */
  of(keyIds: readonly string[]): Promise<ReadonlyMap<string, KeySpend>>;
  /** A period begins, whatever has been spent. */
  reset(keyId: string, atMs: number): Promise<void>;
}

/** Periods of spend limits: never starting at zero again, or each day, week (Monday) or month, in UTC. */
export const SPEND_RESETS = ["never", "daily", "weekly", "monthly"] as const;
export type SpendReset = (typeof SPEND_RESETS)[number];

const DAY_MS = 86_400_000;
/** The first Monday before time was counted: 1970 began on a Thursday. */
const MONDAY_MS = -3 * DAY_MS;

/** Returns the start of the period that this moment lies in; 0 for a limit that is never reset. */
export function periodStartMs(reset: SpendReset, atMs: number): number {
  if (reset === "never") return 0;
  if (reset === "daily") return Math.floor(atMs / DAY_MS) * DAY_MS;
  if (reset === "weekly") return Math.floor((atMs - MONDAY_MS) / (7 * DAY_MS)) * 7 * DAY_MS + MONDAY_MS;
  return monthStartMs(atMs, 0);
}

/** Returns the start of the next period; null when none will come. */
export function nextPeriodMs(reset: SpendReset, atMs: number): number | null {
  if (reset === "never") return null;
  if (reset === "monthly") return monthStartMs(atMs, 1);
  return periodStartMs(reset, atMs) + (reset === "daily" ? 1 : 7) * DAY_MS;
}

function monthStartMs(atMs: number, monthsOn: number): number {
  const date = new Date(atMs);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + monthsOn, 1);
}
