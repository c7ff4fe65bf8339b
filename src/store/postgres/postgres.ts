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

/** Fails at once when the server cannot be reached: a wrong address should show at the start. */
export async function openPostgres(url: string, options: PostgresOptions): Promise<Db> {
  const pool = openPool(url, options);
  // A connection of its own, so that a page that reads much never delays a hold.
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
    // Statements that need no answers in between are sent without waiting for each other.
    pipeline: true,
    types: { getTypeParser } as pg.CustomTypesConfig,
  });
  // Without a listener a server that goes away would end the process.
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

/** A deadlock or a serialization failure undid everything, so trying again is safe. */
const TRIES = 4;

const runBatch = (lent: Lend, statements: readonly NamedStatement[], beginning: string): Promise<Answers> =>
  retried(lent, (loan) =>
    undoneOnFailure(loan, async () => {
      // A statement with too few rows must still undo the rest. Else the end is sent along: the server undoes everything
      // if a statement failed, and no row stays locked until a busy process has read the answers.
      const isCounted = statements.some(({ expectRows = 0 }) => expectRows > 0);
      const answers = await begin(loan, isCounted ? statements : [...statements, COMMIT], beginning);
      if (isCounted) await send(loan, [COMMIT]);
      return answers.slice(0, statements.length);
    }),
  );

/** A transaction that lost against others was undone as a whole, so it can be run again. */
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

// Frequent statements go by keys. The server keeps the plan it made when the tables were small: without this it would
// scan whole tables for as long as the connection lives.
const NO_SCANS = "SET enable_seqscan = off";
const BEGIN = "BEGIN; SET LOCAL enable_seqscan = off";
/** Nobody waits for it, so it waits for no disk: a crash of the server loses the last moments of it, as with SQLite. */
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

/** Reads, and the writes that are decided from them. */
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

/** Rolls back when the work fails; the first error is the one that is thrown. */
async function undoneOnFailure<T>(loan: Loan, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await rollback(loan).catch(() => undefined);
    throw error;
  }
}

/** Sends all in one packet; the first that fails, in their order, is the error. */
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

/** Without a name a statement is parsed and planned every time. */
interface NamedStatement extends Statement {
  readonly name?: string;
}

type Namer = (statement: Statement) => NamedStatement;

/** A name makes the server keep the prepared statement for as long as the connection lives. */
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

/** A connection whose rollback fails is broken and leaves the pool. */
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

/** One connection for all who write at the same time: the server keeps the order in which they sent. */
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
      // The next write gets another one.
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
  // While a connection is lent out its errors come here, not to the pool; the statement under way rejects as well.
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

/** Errors of the driver as those of the Db port. */
async function guarded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toError(error, 0);
  }
}

/**
 * Classes: connection (08P01 is a mistake of ours), resources (also disk full), operator intervention, system error,
 * authorisation; and read-only, and a lock that was waited for in vain.
 */
const UNAVAILABLE_STATES = /^(08(?!P01)|53|57|58|28|3D|25006|55P03)/;

/** Translates an error for the caller: a duplicate, a database that is away, or a mistake of ours. */
function toError(error: unknown, statementIndex: number): unknown {
  if (error instanceof pg.DatabaseError) {
    const state = error.code ?? "";
    if (state === "23505") return new UniqueViolation(statementIndex, error);
    return UNAVAILABLE_STATES.test(state) ? new StoreUnavailable(error) : error;
  }
  // Whatever else fails in the driver is the connection, save for our own mistakes.
  return error instanceof TypeError || error instanceof RangeError ? error : new StoreUnavailable(error);
}

/** Type ids of PostgreSQL. */
const BOOL = 16;
const INTEGERS = new Set([20, 21, 23]);
/** The type of SUM over BIGINT. */
const NUMERIC = 1700;
const FLOATS = new Set([700, 701]);

/** Only what SQLite knows too: text, integers (the rule is at SqlValue) and floating point. */
function getTypeParser(oid: number): (text: string) => SqlValue {
  if (INTEGERS.has(oid) || oid === NUMERIC) return readNumber;
  if (FLOATS.has(oid)) return Number;
  if (oid === BOOL) return (text) => (text === "t" ? 1 : 0);
  return (text) => text;
}

/** A safe integer as number, a larger one as bigint, as SQLite gives them. */
function readNumber(text: string): SqlValue {
  if (!/^-?\d+$/.test(text)) return Number(text);
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : BigInt(text);
}
