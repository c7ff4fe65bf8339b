// PostgreSQL behind the Db port: a pool that reconnects by itself, and values read as SQLite gives them.

import pg from "pg";
import type { Answers, Db, Decided, Queryable, SqlRow, SqlValue, Statement } from "../../core/db.ts";
import { BatchRejected, StoreUnavailable, UniqueViolation } from "../../core/store-errors.ts";
import { migrate } from "../migrate.ts";
import { runTransaction } from "../transaction.ts";
import { type AtOnce, createAtOnce, rejectionOf } from "./at-once.ts";

/** Pool and timeouts. */
export interface PostgresOptions {
  readonly poolMax: number;
  readonly queryTimeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly onConnectionLost: (error: Error) => void;
}

/** Opens the database. Fails at once if the server cannot be reached, so that a wrong address shows at the start. */
export async function openPostgres(url: string, options: PostgresOptions): Promise<Db> {
  const pool = openPool(url, options);
  // A separate connection, so that a large page never delays a hold.
  const writer = openPool(url, { ...options, poolMax: 1 });
  writer.on("connect", (client) => client.query(NO_SCANS).catch(options.onConnectionLost));
  const inOrder = createShared(writer);
  const lent: Lend = (work) => withConnection(pool, work);
  const named = createNames();
  const atOnce = createAtOnce();
  let ending: Promise<void> | null = null;

  const db: Db = {
    kind: "postgres",
    query: (sql, params = []) => guarded(async () => (await pool.query<SqlRow>(sql, [...params])).rows),
    batch: async (statements, { isBackground = false } = {}) =>
      statements.length === 0 ? [] : runBatch(lent, statements.map(named), isBackground ? BEGIN_BACKGROUND : BEGIN),
    batchAtOnce: (statements) => {
      const combined = atOnce(statements);
      return retried(inOrder, (loan) => runAtOnce(loan, combined, statements));
    },
    transaction: <T>(work: (tx: Queryable) => Promise<T>) =>
      lent((loan) => inTransaction(loan, (query) => work({ query }))),
    readThenWrite: (reads, decide) => retried(lent, (loan) => exchange(loan, { reads, decide, named })),
    problems: () => db.query("SELECT 1 AS one").then(() => []),
    migrate: () => migrate(db),
    close: () => {
      ending ??= Promise.all([pool.end(), writer.end()]).then(() => undefined);
      return ending;
    },
  };
  try {
    await db.query("SELECT 1 AS one");
  } catch (error) {
    await db.close();
    throw error;
  }
  return db;
}

function openPool(url: string, options: PostgresOptions): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    application_name: "switchyard",
    max: options.poolMax,
    query_timeout: options.queryTimeoutMs,
    connectionTimeoutMillis: options.connectTimeoutMs,
    keepAlive: true,
    // Sends all statements without waiting, because none needs an answer of another.
    pipeline: true,
    types: { getTypeParser } as pg.CustomTypesConfig,
  });
  // Without a listener, a lost server would end the process.
  pool.on("error", options.onConnectionLost);
  return pool;
}

async function runAtOnce({ client }: Loan, combined: AtOnce, statements: readonly Statement[]): Promise<void> {
  try {
    await client.query(combined);
  } catch (error) {
    throw rejectionOf(error as Error, statements) ?? toError(error, 0);
  }
}

/** A deadlock or serialization failure undoes the whole transaction, so a retry is safe. */
const TRIES = 4;

const runBatch = (lent: Lend, statements: readonly NamedStatement[], beginning: string): Promise<Answers> =>
  retried(lent, (loan) =>
    undoneOnFailure(loan, async () => {
      // Statements that must affect rows are checked before the commit. Otherwise the commit is sent along, so that no row
      // stays locked until a busy process reads the answers. The server undoes everything if a statement failed.
      const isCounted = statements.some(({ expectRows = 0 }) => expectRows > 0);
      const answers = await begin(loan, isCounted ? statements : [...statements, COMMIT], beginning);
      if (isCounted) await send(loan, [COMMIT]);
      return answers.slice(0, statements.length);
    }),
  );

/** Retries a transaction that lost against others. The server undid all of it. */
async function retried<T>(lent: Lend, work: (loan: Loan) => Promise<T>): Promise<T> {
  for (let tryNumber = 1; ; tryNumber += 1) {
    try {
      return await lent(work);
    } catch (error) {
      const isLost = error instanceof pg.DatabaseError && (error.code === "40P01" || error.code === "40001");
      if (!isLost || tryNumber === TRIES) throw error;
    }
  }
}

// Prefers indexes. The server keeps a plan from when the tables were small, and would scan whole tables for as long as the
// connection lives.
const NO_SCANS = "SET enable_seqscan = off";
const BEGIN = "BEGIN; SET LOCAL enable_seqscan = off";
/** Commits background writes without waiting for the disk. A crash of the server loses the last moments, as on SQLite. */
const BEGIN_BACKGROUND = `${BEGIN}; SET LOCAL synchronous_commit = off`;
const COMMIT: Statement = { sql: "COMMIT" };

/** A transaction and its first statements, in one packet. */
async function begin(loan: Loan, statements: readonly NamedStatement[], beginning = BEGIN): Promise<Answers> {
  const { stream } = loan.client.connection;
  stream.cork();
  const begun = loan.client.query(beginning);
  const answers = send(loan, statements);
  stream.uncork();
  const [{ status }] = await Promise.allSettled([begun, answers]);
  if (status === "rejected") await guarded(() => begun);
  return answers;
}

/** Runs reads and the writes that depend on them. */
interface NamedExchange<T> {
  readonly reads: readonly Statement[];
  readonly decide: (answers: Answers) => Decided<T>;
  readonly named: Namer;
}

function exchange<T>(loan: Loan, { reads, decide, named }: NamedExchange<T>): Promise<T> {
  return undoneOnFailure(loan, async () => {
    const answers = await begin(loan, reads.map(named));
    const { writes, result } = decide(answers);
    await send(loan, writes.map(named));
    await send(loan, [COMMIT]);
    return result;
  });
}

/** Rolls back if the work fails, and throws the first error. */
async function undoneOnFailure<T>(loan: Loan, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await rollback(loan).catch(() => undefined);
    throw error;
  }
}

/** Sends all statements in one packet. Throws the first failure in their order. */
async function send({ client }: Loan, statements: readonly NamedStatement[]): Promise<Answers> {
  const { stream } = client.connection;
  stream.cork();
  const pending = statements.map(({ name, sql, params }) =>
    client.query<SqlRow>({
      ...(name === undefined ? {} : { name }),
      text: sql,
      ...(params === undefined ? {} : { values: params as SqlValue[] }),
    }),
  );
  stream.uncork();
  const results = await Promise.allSettled(pending);
  return results.map((result, statementIndex) => {
    if (result.status === "rejected") throw toError(result.reason, statementIndex);
    const expectedRows = statements[statementIndex]?.expectRows ?? 0;
    const affectedRows = result.value.rowCount ?? 0;
    if (affectedRows < expectedRows) throw new BatchRejected({ statementIndex, expectedRows, affectedRows });
    return result.value.rows;
  });
}

/** Runs a statement without a name, which the server parses and plans every time. */
interface NamedStatement extends Statement {
  readonly name?: string;
}

type Namer = (statement: Statement) => NamedStatement;

/** Names a statement, so that the server keeps it prepared for as long as the connection lives. */
function createNames(): Namer {
  const names = new Map<string, string>();
  return (statement) => {
    const name = names.get(statement.sql) ?? `switchyard_${names.size + 1}`;
    names.set(statement.sql, name);
    return { ...statement, name };
  };
}

type Query = (sql: string, params?: readonly SqlValue[]) => Promise<readonly SqlRow[]>;

async function inTransaction<T>(loan: Loan, work: (query: Query) => Promise<T>): Promise<T> {
  const query: Query = (sql, params = []) =>
    guarded(async () => (await loan.client.query<SqlRow>(sql, [...params])).rows);
  await query("BEGIN");
  return runTransaction({ query, commit: () => query("COMMIT"), rollback: () => rollback(loan) }, (tx) =>
    work(tx.query),
  );
}

/** Rolls back. A connection that cannot is broken and leaves the pool. */
async function rollback(loan: Loan): Promise<void> {
  loan.isBroken = true;
  await guarded(() => loan.client.query("ROLLBACK"));
  loan.isBroken = false;
}

/** A connection for the time of one transaction; a broken one is not put back. */
interface Loan {
  readonly client: pg.PoolClient;
  isBroken: boolean;
}

/** Lends a connection for some work. */
type Lend = <T>(work: (loan: Loan) => Promise<T>) => Promise<T>;

async function withConnection<T>(pool: pg.Pool, work: (loan: Loan) => Promise<T>): Promise<T> {
  const { loan, end } = await lend(pool);
  try {
    return await noting(loan, work);
  } finally {
    end();
  }
}

/** Shares one connection among concurrent writes. The server keeps their order. */
function createShared(pool: pg.Pool): Lend {
  let shared: Shared | null = null;
  return async (work) => {
    shared ??= { lent: lend(pool), users: 0 };
    const own = shared;
    own.users += 1;
    try {
      const { loan } = await own.lent;
      return await noting(loan, work);
    } catch (error) {
      // The next write gets a new connection.
      if (error instanceof StoreUnavailable && shared === own) shared = null;
      throw error;
    } finally {
      own.users -= 1;
      if (own.users === 0) {
        if (shared === own) shared = null;
        own.lent.then(({ end }) => end()).catch(() => undefined);
      }
    }
  };
}

interface Shared {
  readonly lent: Promise<OpenLoan>;
  users: number;
}

interface OpenLoan {
  readonly loan: Loan;
  end(): void;
}

async function lend(pool: pg.Pool): Promise<OpenLoan> {
  const loan: Loan = { client: await pool.connect().catch(notConnected), isBroken: false };
  // Errors of a lent connection come here, not to the pool. The running statement rejects too.
  const onError = (): void => {
    loan.isBroken = true;
  };
  loan.client.on("error", onError);
  return {
    loan,
    end() {
      loan.client.off("error", onError);
      loan.client.release(loan.isBroken);
    },
  };
}

function notConnected(cause: unknown): never {
  const error = toError(cause, 0);
  throw error instanceof StoreUnavailable ? new StoreUnavailable(cause, { isUnsent: true }) : error;
}

async function noting<T>(loan: Loan, work: (loan: Loan) => Promise<T>): Promise<T> {
  try {
    return await work(loan);
  } catch (error) {
    if (error instanceof StoreUnavailable) loan.isBroken = true;
    throw error;
  }
}

/** Runs work and translates errors of the driver into those of the Db port. */
async function guarded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toError(error, 0);
  }
}

/**
 * Codes of a database that is away. Classes: connection (except 08P01, a bug of the program), resources (also disk full),
 * operator intervention, system error, authorisation. Also read-only, and a lock timeout.
 */
const UNAVAILABLE_STATES = /^(08(?!P01)|53|57|58|28|3D|25006|55P03)/;

/** Translates an error: a duplicate, a database that is away, or a bug of the program. */
function toError(error: unknown, statementIndex: number): unknown {
  if (error instanceof pg.DatabaseError) {
    const state = error.code ?? "";
    if (state === "23505") return new UniqueViolation(statementIndex, error);
    return UNAVAILABLE_STATES.test(state) ? new StoreUnavailable(error) : error;
  }
  // Any other failure of the driver is the connection, except for bugs of the program.
  return error instanceof TypeError || error instanceof RangeError ? error : new StoreUnavailable(error);
}

/** Type ids of PostgreSQL. */
const BOOL = 16;
const INTEGERS = new Set([20, 21, 23]);
/** The type of SUM over BIGINT. */
const NUMERIC = 1700;
const FLOATS = new Set([700, 701]);

/** Parses only types that SQLite has too: text, integers (see SqlValue) and floating point. */
function getTypeParser(oid: number): (text: string) => SqlValue {
  if (INTEGERS.has(oid) || oid === NUMERIC) return readNumber;
  if (FLOATS.has(oid)) return Number;
  if (oid === BOOL) return (text) => (text === "t" ? 1 : 0);
  return (text) => text;
}

/** Reads a safe integer as number and a larger one as bigint, as SQLite does. */
function readNumber(text: string): SqlValue {
  if (!/^-?\d+$/.test(text)) return Number(text);
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : BigInt(text);
}
