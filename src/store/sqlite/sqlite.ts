// SQLite behind the Db port. Every call is a message to the thread that owns the connection (worker.mjs), which commits
// all waiting writes with one fsync. A worker process sends its messages to the thread of the primary process.

import { chmodSync, closeSync, mkdirSync, openSync, realpathSync, rmSync, type Stats, statSync } from "node:fs";
import { dirname } from "node:path";
import type { Answers, Db, Decided, Queryable, SqlValue, Statement } from "../../core/db.ts";
import { StoreBehind, StoreInUse, StoreUnavailable, StoreUnusable } from "../../core/store-errors.ts";
import { migrate } from "../migrate.ts";
import { runTransaction } from "../transaction.ts";
import { type Channel, type FileContent, startThread, type Thread } from "./thread.ts";

export interface SqliteOptions {
  /** Take the lock of the one process that serves from this file. */
  readonly exclusive: boolean;
  readonly busyTimeoutMs: number;
  readonly onAdopted: (commits: number) => void;
  /** Open a file that lost commits, and accept its content from now on. */
  readonly acceptsLoss?: boolean;
  /** Write nothing to the file or beside it, for a backup. */
  readonly isReadOnly?: boolean;
  readonly holds?: FileContent;
  readonly attached?: string;
}

/** Opens a file by its absolute path, or `:memory:`. Creates a missing folder. */
export async function openSqlite(address: string, options: SqliteOptions): Promise<Db> {
  return sqliteOver(await openThread(address, options));
}

/** Opens only the thread, for the process that lends it to workers. */
export async function openThread(address: string, options: SqliteOptions): Promise<Thread> {
  const { exclusive, busyTimeoutMs, onAdopted, acceptsLoss = false, isReadOnly = false } = options;
  const { holds = "ledger", attached = null } = options;
  const isFile = address !== ":memory:";
  const { path, isNew } = isFile ? makePlace(address) : { path: address, isNew: false };
  const lockPath = exclusive && isFile ? makeLockFile(path) : null;
  const thread = startThread({ path, lockPath, busyTimeoutMs, acceptsLoss, isReadOnly, holds, attached });
  const [[report] = []] = await thread.opened.catch((error) => {
    // An empty file must not replace the one that is missing.
    if (isNew && error instanceof StoreBehind) rmSync(path, { force: true });
    throw error;
  });
  if (Number(report?.adopted ?? 0) > 0) onAdopted(Number(report?.adopted));
  return thread;
}

/** Makes the Db. `name` distinguishes the transactions of processes that share the thread. */
export function sqliteOver(thread: Channel, name = ""): Db {
  let transactionCount = 0;
  const nextTransaction = (): string => {
    transactionCount += 1;
    return `${name} ${transactionCount}`;
  };

  const db: Db = {
    kind: "sqlite",
    query: async (sql, params = []) => {
      const answers = await thread.call({ kind: "batch", isWrite: WRITE.test(sql), statements: [{ sql, params }] });
      return answers[0] ?? [];
    },
    batch: async (statements, { isBackground = false } = {}) =>
      statements.length === 0 ? [] : thread.call({ kind: "batch", isWrite: true, isBackground, statements }),
    batchAtOnce: async (statements) => {
      await thread.call({ kind: "batch", isWrite: true, statements });
    },
    transaction: async <T>(work: (tx: Queryable) => Promise<T>): Promise<T> => {
      const transaction = nextTransaction();
      await thread.call({ kind: "begin", transaction });
      const session = {
        query: async (sql: string, params: readonly SqlValue[] = []) => {
          const answers = await thread.call({ kind: "step", transaction, statements: [{ sql, params }] });
          return answers[0] ?? [];
        },
        commit: () => thread.call({ kind: "commit", transaction }),
        rollback: () => thread.call({ kind: "rollback", transaction }),
      };
      return runTransaction(session, work);
    },
    readThenWrite: (reads, decide) => exchange(thread, nextTransaction(), { reads, decide }),
    problems: async () => ((await thread.call({ kind: "problems" }))[0] ?? []).map(({ problem }) => String(problem)),
    migrate: () => migrate(db),
    close: () => thread.close(),
  };
  return db;
}

/** Takes only the lock, so that no gateway starts while the file is replaced. */
export async function lockSqlite(path: string): Promise<{ close(): Promise<void> }> {
  const lockPath = makeLockFile(path);
  const thread = startThread({ path: ":memory:", lockPath, busyTimeoutMs: 0, acceptsLoss: false, isReadOnly: false });
  await thread.opened.catch((error) => {
    throw error instanceof StoreInUse ? new StoreInUse(path) : error;
  });
  return { close: () => thread.close() };
}

interface ReadThenWrite<T> {
  readonly reads: readonly Statement[];
  readonly decide: (answers: Answers) => Decided<T>;
}

async function exchange<T>(thread: Channel, transaction: string, { reads, decide }: ReadThenWrite<T>): Promise<T> {
  const answers = await thread.call({ kind: "begin", transaction, statements: reads });
  let decided: Decided<T>;
  try {
    decided = decide(answers);
  } catch (error) {
    await thread.call({ kind: "rollback", transaction }).catch(() => undefined);
    throw error;
  }
  await thread.call({ kind: "commit", transaction, statements: decided.writes });
  return decided.result;
}

/** Statements that join a group commit. Reads and schema changes run alone. */
const WRITE = /^\s*(insert|update|delete|with)\b/i;

/**
 * Creates a folder and a file for this user alone, unless they exist. SQLite gives the files beside it the same rights.
 * Returns the real path, because the lock and SQLite's log belong to the file and not to a symbolic link.
 */
function makePlace(address: string): { readonly path: string; readonly isNew: boolean } {
  let path: string;
  let found: Stats;
  let isNew: boolean;
  try {
    mkdirSync(dirname(address), { recursive: true, mode: 0o700 });
    isNew = makeFile(address);
    path = realpathSync(address);
    found = statSync(path);
  } catch (error) {
    throw new StoreUnusable(noPlace(address, error as Error), error);
  }
  if (!found.isFile()) throw new StoreUnusable(`${path} is not a file, so it cannot be a database.`);
  if (found.nlink > 1) throw new StoreUnusable(severalNames(path, found.nlink));
  return { path, isNew };
}

function noPlace(address: string, { message }: Error): string {
  return (
    `The database ${address} cannot be opened or created (${message}). ` +
    "Give this user write access there, or set SWITCHYARD_DATA or DATABASE_URL to another place."
  );
}

/** Refuses hard links: SQLite names its log after the file, so each link would get its own log and lock. */
function severalNames(path: string, names: number): string {
  return (
    `${path} has ${names} names (hard links). SQLite would keep a separate log for each and damage the file. ` +
    `Nothing was changed. Find them with \`find -samefile\`, and remove all but one.`
  );
}

/**
 * Creates a file but never opens an existing one: closing any handle drops all locks of this process on it (POSIX). Then
 * another program that closes the database would believe to be the last one, and delete the log.
 */
function makeFile(path: string): boolean {
  try {
    closeSync(openSync(path, "wx", 0o600));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return false;
  }
}

/** Creates the lock file. Sets its rights again, because earlier versions left them to the umask. */
function makeLockFile(path: string): string {
  const lockPath = `${path}.lock`;
  try {
    makeFile(lockPath);
    chmodSync(lockPath, 0o600);
  } catch (error) {
    throw new StoreUnavailable(error);
  }
  return lockPath;
}
