// Settlements that could not be booked yet, in a file that is synced to disk before the answer goes on. Each process has a
// file of its own and takes over what others left in the folder; booking one twice does no harm, losing one would.

import { mkdir, open, readdir, readFile, rename, stat, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { SettleOp } from "../core/ledger.ts";
import type { Log } from "../core/log.ts";

export interface Outbox {
  add(op: SettleOp): Promise<void>;
  has(holdId: string): boolean;
  done(holdIds: readonly string[]): Promise<void>;
  /** The first call takes over what earlier processes left; it rejects when that cannot be read. */
  waiting(): Promise<readonly SettleOp[]>;
}

export interface OutboxOptions {
  readonly folder: string;
  /** Of this run of this process. */
  readonly name: string;
  readonly log: Log;
  /** Told how many wait, each time that changes. */
  readonly onWaiting?: (count: number) => void;
}

type Line = { readonly settle: SettleOp } | { readonly done: readonly string[] };

const FILE = /^outbox-.*\.ndjson$/;

export function createOutbox({ folder, name, log, onWaiting = () => undefined }: OutboxOptions): Outbox {
  const path = join(folder, `outbox-${name}.ndjson`);
  const pending = new Map<string, SettleOp>();
  let unwritten: readonly Line[] = [];
  let writing: Promise<void> = Promise.resolve();
  let adoption: Promise<void> | null = null;

  /** What is added while a write is under way goes out together in the next one. */
  function write(lines: readonly Line[]): Promise<void> {
    unwritten = [...unwritten, ...lines];
    writing = writing.catch(() => undefined).then(flush);
    return writing;
  }

  async function flush(): Promise<void> {
    const lines = unwritten;
    unwritten = [];
    try {
      if (pending.size === 0) await unlink(path).catch(unlessMissing);
      else if (lines.length > 0) await append(path, lines);
    } catch (error) {
      unwritten = [...lines, ...unwritten];
      throw error;
    }
  }

  async function adopt(): Promise<void> {
    await mkdir(folder, { recursive: true });
    const left = (await readdir(folder)).filter((file) => FILE.test(file) && join(folder, file) !== path);
    for (const [index, file] of left.entries()) {
      const claimed = join(folder, `outbox-${name}-${index}.ndjson`);
      // Two that start at once cannot both have it.
      if (!(await rename(join(folder, file), claimed).then(() => true, unlessMissing))) continue;
      const found = readLines(await readFile(claimed, "utf8"), () =>
        log.error({ event: "outbox.line_skipped", file }, "skipped a cut-off outbox line"),
      );
      for (const op of found) pending.set(op.holdId, op);
      onWaiting(pending.size);
      if (found.length > 0) await write(found.map((settle) => ({ settle })));
      await unlink(claimed);
    }
  }

  return {
    async add(op) {
      pending.set(op.holdId, op);
      onWaiting(pending.size);
      // A disk that is full as well leaves it in memory: it is still retried for as long as this process lives.
      await write([{ settle: op }]).catch((error) =>
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
      adoption ??= adopt();
      await adoption.catch((error) => {
        adoption = null;
        throw error;
      });
      return [...pending.values()];
    },
  };
}

/** For commands, which settle nothing. */
export const NO_OUTBOX: Outbox = {
  add: () => Promise.reject(new Error("a command settles nothing")),
  has: () => false,
  done: () => Promise.resolve(),
  waiting: () => Promise.resolve([]),
};

async function append(path: string, lines: readonly Line[]): Promise<void> {
  const file = await open(path, "a", 0o600);
  let isStillThere: boolean;
  try {
    // It starts with a line break, so that a write that was cut off before does not spoil it.
    await file.appendFile(`\n${lines.map((line) => JSON.stringify(line, writeBigInt)).join("\n")}\n`);
    await file.sync();
    const there = await stat(path).catch(() => null);
    isStillThere = there?.ino === (await file.stat()).ino;
  } finally {
    await file.close();
  }
  // Another process took the file over while this was written, perhaps without these lines.
  if (!isStillThere) await append(path, lines);
}

function readLines(text: string, onTorn: () => void): readonly SettleOp[] {
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

function unlessMissing(error: NodeJS.ErrnoException): false {
  if (error.code !== "ENOENT") throw error;
  return false;
}

function writeBigInt(_name: string, value: unknown): unknown {
  return typeof value === "bigint" ? { $nano: value.toString() } : value;
}

function readBigInt(_name: string, value: unknown): unknown {
  const nano = (value as { $nano?: string } | null)?.$nano;
  return nano === undefined ? value : BigInt(nano);
}
