// The database port: one portable SQL text that runs on SQLite and on PostgreSQL.

const SQLITE = "sqlite:";

/** The path in an address such as `sqlite:/data/switchyard.db`, also `:memory:`; null for PostgreSQL. */
export function sqlitePathOf(database: string): string | null {
  return database.startsWith(SQLITE) ? database.slice(SQLITE.length) : null;
}

/**
 * Integers come back as `number` while they are safe integers, and as `bigint` beyond, on both databases alike.
 * Read money with `BigInt(value)`, and a time or a count with `Number(value)`.
 */
export type SqlValue = string | number | bigint | null;
export type SqlRow = Readonly<Record<string, SqlValue>>;

export interface Queryable {
  /** Runs one statement with `$1` placeholders and returns its rows (also of RETURNING). */
  query(sql: string, params?: readonly SqlValue[]): Promise<readonly SqlRow[]>;
}

export interface Statement {
  readonly sql: string;
  readonly params?: readonly SqlValue[];
  /** SQLite only, in the place of `params`: the statement is run once with each of these. */
  readonly rows?: readonly (readonly SqlValue[])[];
  /** SQLite only, in the place of both. */
  readonly packed?: PackedRows;
  /** Minimum of rows that must be affected (or returned). With fewer, the whole batch is undone: `BatchRejected`. */
  readonly expectRows?: number;
}

/** Many rows for one statement, which takes them apart by itself. */
export interface PackedRows {
  readonly count: number;
  /** For `?1`, `?2` and so on. */
  readonly values: readonly (SqlValue | Uint8Array)[];
}

/** The rows of each statement, in their order. May be empty where no statement returned any. */
export type Answers = readonly (readonly SqlRow[])[];

interface BatchOptions {
  /** Nobody waits for it, so it may be written after what somebody waits for. */
  readonly isBackground?: boolean;
}

/** One portable SQL text on SQLite and PostgreSQL. */
export interface Db extends Queryable {
  readonly kind: "sqlite" | "postgres";
  /**
   * Commits when `work` resolves, rolls back when it throws or when any of its statements failed.
   * Inside, only `tx` may be used: on SQLite everything else waits until the transaction ends.
   */
  transaction<T>(work: (tx: Queryable) => Promise<T>): Promise<T>;
  /** One atomic transaction that needs no answers in between. The way to write: SQLite commits many in one fsync. */
  batch(statements: readonly Statement[], options?: BatchOptions): Promise<Answers>;
  /**
   * Runs a batch in one round trip. No statement may read what another one of the batch writes. A batch that is sent
   * while others are under way is written after them.
   */
  batchAtOnce(statements: readonly Statement[]): Promise<void>;
  /**
   * One transaction in two messages: the reads, then the writes that `decide` makes of their answers. For what is run all
   * the time: the texts should be few and always the same, so that each is prepared once.
   */
  readThenWrite<T>(reads: readonly Statement[], decide: (answers: Answers) => Decided<T>): Promise<T>;
  /**
   * Describes faults of the storage itself, such as a file that was deleted under the process. Rejects when the
   * database does not answer.
   */
  problems(): Promise<readonly string[]>;
  /** Applies what is missing and names it. */
  migrate(): Promise<readonly string[]>;
  close(): Promise<void>;
}

export interface Decided<T> {
  readonly writes: readonly Statement[];
  readonly result: T;
}
