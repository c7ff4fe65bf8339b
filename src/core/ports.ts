// How services know each other: small interfaces, each really implemented by everyone who implements it.

import type { Constraints } from "./decision.ts";
import type { KeySpend } from "./ledger.ts";
import type { SpendReset } from "./spend-reset.ts";

/**
 * Integers come back as `number` when they are safe integers and as `bigint` beyond that, on both stores alike.
 * Whoever reads money takes `BigInt(value)`, whoever reads a time or a count takes `Number(value)`.
 */
export type SqlValue = string | number | bigint | null;
export type Row = Readonly<Record<string, SqlValue>>;

export interface Queryable {
  /** Runs one statement with `$1` placeholders and returns its rows (also of RETURNING). */
  query(sql: string, params?: readonly SqlValue[]): Promise<readonly Row[]>;
}

export interface Statement {
  readonly sql: string;
  readonly params?: readonly SqlValue[];
  /** SQLite only, in the place of `params`: the statement is run once with each of these. */
  readonly rows?: readonly (readonly SqlValue[])[];
  /** When fewer rows than this are affected (or returned), the whole batch is undone: `BatchRefused`. */
  readonly expectRows?: number;
}

/** The rows of each statement, in their order. */
export type Answers = readonly (readonly Row[])[];

/** One portable SQL text on SQLite and PostgreSQL. */
export interface Db extends Queryable {
  readonly kind: "sqlite" | "postgres";
  /**
   * Commits when `work` resolves, rolls back when it throws or when any of its statements failed.
   * Inside, only `tx` may be used: on SQLite everything else waits until the transaction ends.
   */
  transaction<T>(work: (tx: Queryable) => Promise<T>): Promise<T>;
  /** One atomic transaction that needs no answers in between. The way to write: SQLite commits many in one fsync. */
  batch(statements: readonly Statement[]): Promise<Answers>;
  /** As `batch`, for statements none of which looks at what another one writes: in one message, there and back. */
  batchAtOnce(statements: readonly Statement[]): Promise<void>;
  /**
   * One transaction in two messages: the reads, then the writes that `decide` makes of their answers. For what is run all
   * the time: the texts should be few and always the same, so that each is prepared once.
   */
  readThenWrite<T>(reads: readonly Statement[], decide: (answers: Answers) => Decided<T>): Promise<T>;
  /** Applies what is missing and names it. */
  migrate(): Promise<readonly string[]>;
  close(): Promise<void>;
}

export interface Decided<T> {
  readonly writes: readonly Statement[];
  readonly result: T;
}

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

export interface KeyRecord {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  /** The first characters of the key, for people to recognise it by. */
  readonly prefix: string;
  /** SHA-256 of the whole key, hex. The key itself is stored nowhere. */
  readonly hash: string;
  readonly profileId: string | null;
  readonly requestsPerMinute: number | null;
  readonly spendLimitNano: bigint | null;
  /** When what counts against the limit is nothing again. */
  readonly spendReset: SpendReset;
  readonly expiresAtMs: number | null;
  readonly revokedAtMs: number | null;
  readonly lastUsedAtMs: number | null;
  readonly createdAtMs: number;
}

/** What of a key may be changed after it was made; what is left out stays. */
export type KeyChange = Partial<
  Pick<KeyRecord, "name" | "profileId" | "requestsPerMinute" | "spendLimitNano" | "spendReset" | "expiresAtMs">
>;

/** Keyset pagination: rows after the one with this id, newest first. */
export interface Page {
  readonly limit: number;
  readonly after: string | null;
}

export interface KeyStore {
  /** The key that it takes the place of expires then, or sooner when it was to; both or neither. */
  insert(key: KeyRecord, replaced?: { readonly id: string; readonly expiresAtMs: number }): Promise<void>;
  all(): Promise<readonly KeyRecord[]>;
  list(accountId: string, page: Page): Promise<readonly KeyRecord[]>;
  /** The key as it is then; null when the account has none such that is not revoked. */
  update(accountId: string, id: string, change: KeyChange): Promise<KeyRecord | null>;
  /** False when the account has no such key. Revoking twice keeps the first time. */
  revoke(accountId: string, id: string, atMs: number): Promise<boolean>;
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

export interface Profile {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  /** What it is for, in the words of whoever made it. */
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
   * no key is refused in between. `heir-missing` when the account has no such profile.
   */
  delete(accountId: string, id: string, keysTo?: string | null): Promise<"deleted" | "missing" | "heir-missing">;
  all(): Promise<readonly Profile[]>;
  list(accountId: string, page: Page): Promise<readonly Profile[]>;
}

export interface Log {
  debug(fields: object, message?: string): void;
  info(fields: object, message?: string): void;
  warn(fields: object, message?: string): void;
  error(fields: object, message?: string): void;
}
