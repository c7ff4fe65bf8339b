// The outbox: settlements that could not be booked yet, in a file that is synced to disk before the response goes on. Each
// process has its own file and takes over those of dead processes. Booking twice does no harm; losing a settlement would.

import { mkdir, open, readdir, readFile, rename, stat, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { SettleOp } from "../core/ledger.ts";
import type { Log } from "../core/log.ts";

export interface Outbox {
  /** Resolves when the settlement is on disk, or logged as kept in memory only. */
  add(op: SettleOp): Promise<void>;
  has(holdId: string): boolean;
  /** Forgets settlements that are booked. */
  done(holdIds: readonly string[]): Promise<void>;
  /** The first call takes over the files of earlier processes, and rejects if one cannot be read. */
  waiting(): Promise<readonly SettleOp[]>;
}

export interface OutboxOptions {
  readonly folder: string;
  /** Name of this run of this process. */
  readonly name: string;
  readonly log: Log;
  /** Called with the number of waiting settlements when it changes. */
  readonly onWaiting?: (count: number) => void;
}

/** One line of the file. */
type OutboxRecord = { readonly settle: SettleOp } | { readonly done: readonly string[] };

const FILE = /^outbox-.*\.ndjson$/;

export function createOutbox(options: OutboxOptions): Outbox {
  const { log, onWaiting = () => undefined } = options;
  const path = join(options.folder, `outbox-${options.name}.ndjson`);
  const pending = new Map<string, SettleOp>();
  const write = createWriter(path, () => pending.size === 0);
  let adoption: Promise<void> | null = null;

  /** Resolves when the settlements are on disk. */
  async function keep(ops: readonly SettleOp[]): Promise<void> {
    for (const op of ops) pending.set(op.holdId, op);
    onWaiting(pending.size);
    if (ops.length > 0) await write(ops.map((settle) => ({ settle })));
  }

  return {
    async add(op) {
      // If the disk is full too, the settlement stays in memory and is retried for as long as this process lives.
      await keep([op]).catch((error) =>
        log.error({ event: "outbox.write_failed", holdId: op.holdId, err: error }, "outbox cannot be written"),
      );
    },
    has: (holdId) => pending.has(holdId),
    async done(holdIds) {
      if (holdIds.length === 0) return;
      for (const holdId of holdIds) pending.delete(holdId);
      onWaiting(pending.size);
      await write([{ done: holdIds }]).catch((error) =>
        log.error({ event: "outbox.write_failed", err: error }, "outbox cannot be written"),
      );
    },
    async waiting() {
      adoption ??= takeOver(options, path, keep);
      await adoption.catch((error) => {
        adoption = null;
        throw error;
      });
      return [...pending.values()];
    },
  };
}

type WriteRecords = (records: readonly OutboxRecord[]) => Promise<void>;

/** Writes one batch after the other, and deletes the file when nothing is pending. */
function createWriter(path: string, isEmpty: () => boolean): WriteRecords {
  let unwritten: readonly OutboxRecord[] = [];
  let writing: Promise<void> = Promise.resolve();

  async function flush(): Promise<void> {
    const records = unwritten;
    unwritten = [];
    try {
      if (isEmpty()) await unlink(path).catch(unlessMissing);
      else if (records.length > 0) await append(path, records);
    } catch (error) {
      unwritten = [...records, ...unwritten];
      throw error;
    }
  }

  // Records that arrive during a write go into the next one together.
  return (records) => {
    unwritten = [...unwritten, ...records];
    writing = writing.catch(() => undefined).then(flush);
    return writing;
  };
}

/** Takes over the files of earlier processes. A file is removed only after `keep` has stored its settlements. */
async function takeOver(
  { folder, name, log }: OutboxOptions,
  ownPath: string,
  keep: (ops: readonly SettleOp[]) => Promise<void>,
): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const left = (await readdir(folder)).filter((file) => FILE.test(file) && join(folder, file) !== ownPath);
  for (const [index, file] of left.entries()) {
    const claimed = join(folder, `outbox-${name}-${index}.ndjson`);
    // Only one of two processes that start at once renames the file.
    if (!(await rename(join(folder, file), claimed).then(() => true, unlessMissing))) continue;
    const found = readRecords(await readFile(claimed, "utf8"), () =>
      log.error({ event: "outbox.line_skipped", file }, "skipped a cut-off outbox line"),
    );
    await keep(found);
    await unlink(claimed);
  }
}

/** The outbox of commands, which settle nothing. */
export const NO_OUTBOX: Outbox = {
  add: () => Promise.reject(new Error("a command settles nothing")),
  has: () => false,
  done: () => Promise.resolve(),
  waiting: () => Promise.resolve([]),
};

async function append(path: string, records: readonly OutboxRecord[]): Promise<void> {
  const file = await open(path, "a", 0o600);
  let isStillThere: boolean;
  try {
    // The line break in front separates the text from an earlier write that was cut off.
    await file.appendFile(`\n${records.map((record) => JSON.stringify(record, writeBigInt)).join("\n")}\n`);
    await file.sync();
    const there = await stat(path).catch(() => null);
    isStillThere = there?.ino === (await file.stat()).ino;
  } finally {
    await file.close();
  }
  // Another process took the file over during the write, perhaps without these lines.
  if (!isStillThere) await append(path, records);
}

/** Returns the open settlements of a file. Skips lines that were cut off by a crash. */
function readRecords(text: string, onTorn: () => void): readonly SettleOp[] {
  const entries = new Map<string, SettleOp>();
  for (const line of text.split("\n")) {
    if (line === "") continue;
    try {
      const { settle, done = [] } = JSON.parse(line, readBigInt) as { settle?: SettleOp; done?: readonly string[] };
      if (settle !== undefined) entries.set(settle.holdId, settle);
      for (const holdId of done) entries.delete(holdId);
    } catch {
      onTorn();
    }
  }
  return [...entries.values()];
}

/** Returns false if the file is missing; throws any other failure. */
function unlessMissing(error: NodeJS.ErrnoException): false {
  if (error.code !== "ENOENT") throw error;
  return false;
}

// JSON has no 64-bit integers, so amounts are written as {"$nano": "123"}.
function writeBigInt(_name: string, value: unknown): unknown {
  return typeof value === "bigint" ? { $nano: value.toString() } : value;
}

function readBigInt(_name: string, value: unknown): unknown {
  const nano = (value as { $nano?: string } | null)?.$nano;
  return nano === undefined ? value : BigInt(nano);
}
