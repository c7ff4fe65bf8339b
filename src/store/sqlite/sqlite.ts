// SQLite behind the Db port. Every call is a message to the thread that owns the connection (worker.mjs), which commits
// all waiting writes with one fsync.

import { chmodSync, closeSync, mkdirSync, openSync, realpathSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { Worker } from "node:worker_threads";
import { command } from "../../config/package.ts";
import type { Answers, Db, Decided, Queryable, SqlValue, Statement } from "../../core/db.ts";
import {
  BatchRejected,
  StoreBehind,
  StoreDamaged,
  StoreInUse,
  type StoreLoss,
  StoreUnavailable,
  StoreUnusable,
  UniqueViolation,
} from "../../core/store-errors.ts";
import { migrate } from "../migrate.ts";
import { runTransaction } from "../transaction.ts";

export interface SqliteOptions {
  /** Take the lock of the one process that serves from this file. */
  readonly exclusive: boolean;
  readonly busyTimeoutMs: number;
  readonly onAdopted: (commits: number) => void;
  /** Open a file that lost commits, and take what it holds for the truth from now on. */
  readonly acceptsLoss?: boolean;
  /** For a backup: nothing is written to it or beside it. */
  readonly isReadOnly?: boolean;
}

/** Opens a file (an absolute path; its folder is made where it is missing) or `:memory:`. */
export async function openSqlite(address: string, options: SqliteOptions): Promise<Db> {
  const { exclusive, busyTimeoutMs, onAdopted, acceptsLoss = false, isReadOnly = false } = options;
  const isFile = address !== ":memory:";
  const { path, isNew } = isFile ? makePlace(address) : { path: address, isNew: false };
  const lockPath = exclusive && isFile ? makeLockFile(path) : null;
  const thread = startThread({ path, lockPath, busyTimeoutMs, acceptsLoss, isReadOnly });
  const [[report] = []] = await thread.opened.catch((error) => {
    // An empty file must not take the place of one that should have been there.
    if (isNew && error instanceof StoreBehind) rmSync(path, { force: true });
    throw error;
  });
  if (Number(report?.adopted ?? 0) > 0) onAdopted(Number(report?.adopted));
  let transactionCount = 0;
  const nextTransaction = (): number => {
    transactionCount += 1;
    return transactionCount;
  };

  const db: Db = {
    kind: "sqlite",
    query: async (sql, params = []) => {
      const answers = await thread.call({ kind: "batch", isWrite: WRITE.test(sql), statements: [{ sql, params }] });
      return answers[0] ?? [];
    },
    batch: async (statements) =>
      statements.length === 0 ? [] : thread.call({ kind: "batch", isWrite: true, statements }),
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

async function exchange<T>(thread: Thread, transaction: number, { reads, decide }: ReadThenWrite<T>): Promise<T> {
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

/** What joins a group commit; anything else (reads, schema changes) runs by itself. */
const WRITE = /^\s*(insert|update|delete|with)\b/i;

/** A message to the thread. */
interface ThreadCall {
  readonly kind: "batch" | "begin" | "step" | "commit" | "rollback" | "problems" | "close";
  readonly isWrite?: boolean;
  readonly transaction?: number;
  readonly statements?: readonly Statement[];
}

/** An error as it crosses the thread; classes do not survive a message. */
interface ThreadFailure {
  readonly message: string;
  readonly errcode: number | null;
  readonly statementIndex: number;
  readonly rejection: { statementIndex: number; expectedRows: number; affectedRows: number } | null;
  readonly isInUse: boolean;
  readonly isMisplaced: boolean;
  readonly isDamaged: boolean;
  readonly loss: StoreLoss | null;
}

interface ThreadAnswer {
  readonly id: number;
  readonly rows?: Answers;
  readonly error?: ThreadFailure;
}

/** A caller that waits for the thread. */
interface Waiter {
  readonly resolve: (rows: Answers) => void;
  readonly reject: (error: Error) => void;
}

interface Thread {
  readonly opened: Promise<Answers>;
  call(call: ThreadCall): Promise<Answers>;
  close(): Promise<void>;
}

interface ThreadData {
  readonly path: string;
  readonly lockPath: string | null;
  readonly busyTimeoutMs: number;
  readonly acceptsLoss: boolean;
  readonly isReadOnly: boolean;
}

function startThread(workerData: ThreadData): Thread {
  const worker = new Worker(new URL("./worker.mjs", import.meta.url), { workerData });
  const exited = new Promise<void>((resolve) => worker.once("exit", () => resolve()));
  const waiters = new Map<number, Waiter>();
  let lastId = 0;
  let fault: Error | null = null;

  const wait = (id: number): Promise<Answers> =>
    new Promise((resolve, reject) => {
      // An idle database keeps no process alive; one that owes an answer does.
      if (waiters.size === 0) worker.ref();
      waiters.set(id, { resolve, reject });
    });
  const fail = (error: Error): void => {
    fault ??= error;
    for (const waiter of waiters.values()) waiter.reject(new StoreUnavailable(fault));
    waiters.clear();
  };

  worker.on("message", (answers: readonly ThreadAnswer[]) => {
    for (const answer of answers) settle(waiters, answer, workerData.path);
    if (waiters.size === 0) worker.unref();
  });
  worker.on("error", (error) => fail(error as Error));
  worker.once("exit", () => fail(new Error("the database is closed")));

  const call = (message: ThreadCall): Promise<Answers> => {
    if (fault !== null) return Promise.reject(new StoreUnavailable(fault));
    lastId += 1;
    const answer = wait(lastId);
    worker.postMessage({ ...message, id: lastId });
    return answer;
  };
  const opened = wait(0).catch(async (error) => {
    await worker.terminate();
    throw error;
  });
  const close = async (): Promise<void> => {
    if (fault !== null) return;
    const closing = call({ kind: "close" });
    fault = new Error("the database is closed");
    await closing;
    worker.ref();
    await exited;
  };
  return { opened, call, close };
}

/** Hands an answer to its waiter. */
function settle(waiters: Map<number, Waiter>, answer: ThreadAnswer, path: string): void {
  const waiter = waiters.get(answer.id);
  waiters.delete(answer.id);
  if (answer.error === undefined) waiter?.resolve(answer.rows ?? []);
  else waiter?.reject(toError(answer.error, path));
}

const UNIQUE_CODES = new Set([1555, 2067, 2579]);
/** Primary codes: busy, locked, read-only, I/O error, corrupt, full, cannot open, not a database. */
const UNAVAILABLE_CODES = new Set([5, 6, 8, 10, 11, 13, 14, 26]);

function toError(failure: ThreadFailure, path: string): Error {
  if (failure.rejection !== null) return new BatchRejected(failure.rejection);
  if (failure.isInUse) return new StoreInUse(path);
  if (failure.loss !== null) return new StoreBehind(path, failure.loss, command);
  const cause = Object.assign(new Error(failure.message), { errcode: failure.errcode });
  if (failure.isDamaged) return new StoreDamaged(path, cause, command);
  if (failure.isMisplaced) return new StoreUnavailable(cause);
  if (failure.errcode === null) return cause;
  if (UNIQUE_CODES.has(failure.errcode)) return new UniqueViolation(failure.statementIndex, cause);
  return UNAVAILABLE_CODES.has(failure.errcode & 0xff) ? new StoreUnavailable(cause) : cause;
}

/**
 * A folder and a file for this user alone; SQLite gives the files beside it the same rights. What exists stays as it is.
 * Returns the real path: the lock and SQLite's log belong to the file, whichever symbolic link led to it.
 */
function makePlace(address: string): { readonly path: string; readonly isNew: boolean } {
  let path: string;
  let names: number;
  let isNew: boolean;
  try {
    mkdirSync(dirname(address), { recursive: true, mode: 0o700 });
    isNew = makeFile(address);
    path = realpathSync(address);
    names = statSync(path).nlink;
  } catch (error) {
    throw new StoreUnavailable(error);
  }
  if (names > 1) throw new StoreUnusable(severalNames(path, names));
  return { path, isNew };
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
