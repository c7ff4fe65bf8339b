// SQLite behind the Db port. Every call is a message to the thread that owns the connection (worker.mjs), which commits
// all waiting writes with one fsync. A worker process has no thread; its messages go to that of the primary process.

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
  /** Open a file that lost commits, and take what it holds for the truth from now on. */
  readonly acceptsLoss?: boolean;
  /** For a backup: nothing is written to it or beside it. */
  readonly isReadOnly?: boolean;
  readonly holds?: FileContent;
  readonly attached?: string;
}

/** Opens a file (an absolute path; its folder is made where it is missing) or `:memory:`. */
export async function openSqlite(address: string, options: SqliteOptions): Promise<Db> {
  return sqliteOver(await openThread(address, options));
}

/** The thread alone, for the process that lends it to others. */
export async function openThread(address: string, options: SqliteOptions): Promise<Thread> {
  const { exclusive, busyTimeoutMs, onAdopted, acceptsLoss = false, isReadOnly = false } = options;
  const { holds = "ledger", attached = null } = options;
  const isFile = address !== ":memory:";
  const { path, isNew } = isFile ? makePlace(address) : { path: address, isNew: false };
  const lockPath = exclusive && isFile ? makeLockFile(path) : null;
  const thread = startThread({ path, lockPath, busyTimeoutMs, acceptsLoss, isReadOnly, holds, attached });
  const [[report] = []] = await thread.opened.catch((error) => {
    // An empty file must not take the place of one that should have been there.
    if (isNew && error instanceof StoreBehind) rmSync(path, { force: true });
    throw error;
  });
  if (Number(report?.adopted ?? 0) > 0) onAdopted(Number(report?.adopted));
  return thread;
}

/** `name` tells the transactions of this process from those of others that use the same thread. */
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

/** The lock of the file alone, for when it is replaced: no gateway can start on it meanwhile. */
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

/** Statements that join a group commit; others (reads, schema changes) run by themselves. */
const WRITE = /^\s*(insert|update|delete|with)\b/i;

/**
 * A folder and a file for this user alone; SQLite gives the files beside it the same rights. What exists stays as it is.
 * Returns the real path: the lock and SQLite's log belong to the file, whichever symbolic link led to it.
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

/** SQLite names its log after the file, so each hard link would get a log and a lock of its own. */
function severalNames(path: string, names: number): string {
  return (
    `${path} has ${names} names (hard links). SQLite would keep a separate log for each and damage the file. ` +
    `Nothing was changed. Find them with \`find -samefile\`, and remove all but one.`
  );
}

/**
 * Never opens a file that exists: closing any handle of a file drops every lock that this process has on it (POSIX). Another
 * program that closes the database would then believe to be the last one, and delete the log under us.
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

/** Earlier versions left the rights of this file to the umask. */
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
