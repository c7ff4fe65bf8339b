// The process's end of the thread that owns a SQLite connection (worker.mjs): sends messages, receives answers and turns
// failures into errors of the store. Worker processes use the thread of the primary process.

import { deserialize, serialize } from "node:v8";
import { Worker } from "node:worker_threads";
import { command } from "../../config/package.ts";
import type { Answers, Statement } from "../../core/db.ts";
import {
  BatchRejected,
  StoreBehind,
  StoreDamaged,
  StoreInUse,
  type StoreLoss,
  StoreUnavailable,
  UniqueViolation,
} from "../../core/store-errors.ts";

/** A call, which the thread gets as a message with an id. */
export interface ThreadCall {
  readonly kind: "batch" | "begin" | "step" | "commit" | "rollback" | "problems" | "close";
  readonly isWrite?: boolean;
  readonly isBackground?: boolean;
  readonly transaction?: string;
  readonly statements?: readonly Statement[];
}

/** Takes calls for the thread of this or another process. */
export interface Channel {
  call(call: ThreadCall): Promise<Answers>;
  close(): Promise<void>;
}

/** A call of another process. Its statements stay encoded until they reach the thread. */
export interface ForwardedCall extends Omit<ThreadCall, "statements"> {
  readonly encoded: Uint8Array;
}

/** An answer to another process. Its rows stay encoded until they reach the caller; null if there are none. */
export interface ForwardedAnswer {
  readonly encoded: Uint8Array | null;
  readonly error: ThreadFailure | null;
}

/** The thread in its own process. */
export interface Thread extends Channel {
  readonly opened: Promise<Answers>;
  forward(call: ForwardedCall): Promise<ForwardedAnswer>;
}

/** Makes the channel of another process. `send` carries a call to the process of the thread. */
export function channelOver(send: (call: ForwardedCall) => Promise<ForwardedAnswer>, path: string): Channel {
  return {
    async call({ statements = [], ...call }) {
      const answer = await send({ ...call, encoded: serialize(statements) });
      if (answer.error !== null) throw toError(answer.error, path);
      return answer.encoded === null ? [] : (deserialize(answer.encoded) as Answers);
    },
    close: () => Promise.resolve(),
  };
}

/** An error as plain data, because classes do not survive a message. */
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
  /** Replaces `rows` for a call with encoded statements. */
  readonly encoded?: Uint8Array;
  readonly error?: ThreadFailure;
}

/** A caller that waits for an answer. */
interface ThreadWaiter {
  readonly resolve: (answer: ThreadAnswer) => void;
  readonly reject: (error: Error) => void;
}

/**
 * The ledger with all other tables; the request log, whose commits do not wait for the disk; stored contents; or an
 * unfinished copy.
 */
export type FileContent = "ledger" | "log" | "contents" | "copy";

interface ThreadData {
  readonly path: string;
  readonly holds?: FileContent;
  /** Second file, read only. Its tables are used if `path` has none of that name. */
  readonly attached?: string | null;
  readonly lockPath: string | null;
  readonly busyTimeoutMs: number;
  readonly acceptsLoss: boolean;
  readonly isReadOnly: boolean;
}

export function startThread(workerData: ThreadData): Thread {
  const worker = new Worker(new URL("./worker.mjs", import.meta.url), { workerData });
  const exited = new Promise<void>((resolve) => worker.once("exit", () => resolve()));
  const waiters = new Map<number, ThreadWaiter>();
  let lastId = 0;
  let fault: Error | null = null;

  const wait = (id: number): Promise<ThreadAnswer> =>
    new Promise((resolve, reject) => {
      // Keeps the process alive only while an answer is due.
      if (waiters.size === 0) worker.ref();
      waiters.set(id, { resolve, reject });
    });
  const rowsOf = ({ rows, error }: ThreadAnswer): Answers => {
    if (error !== undefined) throw toError(error, workerData.path);
    return rows ?? [];
  };
  const fail = (error: Error): void => {
    fault ??= error;
    for (const waiter of waiters.values()) waiter.reject(new StoreUnavailable(fault));
    waiters.clear();
  };

  worker.on("message", (answers: readonly ThreadAnswer[]) => {
    for (const answer of answers) {
      waiters.get(answer.id)?.resolve(answer);
      waiters.delete(answer.id);
    }
    if (waiters.size === 0) worker.unref();
  });
  worker.on("error", (error) => fail(error as Error));
  worker.once("exit", () => fail(new Error("the database is closed")));

  const ask: SendToThread = (call, moved) => {
    if (fault !== null) return Promise.reject(new StoreUnavailable(fault));
    lastId += 1;
    const answer = wait(lastId);
    worker.postMessage({ id: lastId, ...call }, moved);
    return answer;
  };
  const call = (asked: ThreadCall): Promise<Answers> => ask(asked).then(rowsOf);
  const opened = wait(0)
    .then(rowsOf)
    .catch(async (error) => {
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
  return { opened, call, forward: createForward(ask), close };
}

/** Sends a call. `moved` memory is transferred instead of copied. */
type SendToThread = (call: ThreadCall | ForwardedCall, moved?: readonly ArrayBuffer[]) => Promise<ThreadAnswer>;

function createForward(ask: SendToThread): Thread["forward"] {
  return async (call) => {
    // Copied: it may be a small part of a received chunk, and a message would take the whole chunk along.
    const own = new Uint8Array(call.encoded);
    const { encoded = null, error = null } = await ask({ ...call, encoded: own }, [own.buffer]);
    return { encoded, error };
  };
}

const UNIQUE_CODES = new Set([1555, 2067, 2579]);
/** SQLite's codes: busy, locked, read-only, I/O error, corrupt, full, cannot open, not a database. */
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
