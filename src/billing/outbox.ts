// Settlements that could not be booked yet, in a file that is synced to disk before the answer goes on. Read again at the
// next start. Lines are added, and the file is emptied when everything in it is done.

import { mkdir, open, readFile, truncate } from "node:fs/promises";
import { dirname } from "node:path";
import type { SettleOp } from "../core/ledger.ts";
import type { Log } from "../core/ports.ts";

export interface Outbox {
  add(op: SettleOp): Promise<void>;
  done(holdId: string): Promise<void>;
  waiting(): Promise<readonly SettleOp[]>;
}

export function createOutbox(path: string, log: Log): Outbox {
  let pending: Map<string, SettleOp> | null = null;

  async function entries(): Promise<Map<string, SettleOp>> {
    pending ??= await readEntries(path, log);
    return pending;
  }

  async function append(line: object): Promise<void> {
    await mkdir(dirname(path), { recursive: true });
    const file = await open(path, "a", 0o600);
    try {
      await file.write(`${JSON.stringify(line, writeBigInt)}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
  }

  return {
    async add(op) {
      (await entries()).set(op.holdId, op);
      // A disk that is full as well leaves it in memory: it is still retried for as long as this process lives.
      await append({ settle: op }).catch((error) =>
        log.error({ holdId: op.holdId, err: error }, "the outbox cannot be written"),
      );
    },
    async done(holdId) {
      const all = await entries();
      all.delete(holdId);
      await (all.size === 0 ? truncate(path, 0) : append({ done: holdId })).catch((error) => {
        log.error(
          { holdId, err: error },
          "the outbox cannot be written; a settlement may be tried once more, harmlessly",
        );
      });
    },
    waiting: async () => [...(await entries()).values()],
  };
}

/** For commands, which settle nothing. */
export const NO_OUTBOX: Outbox = {
  add: () => Promise.reject(new Error("a command settles nothing")),
  done: () => Promise.resolve(),
  waiting: () => Promise.resolve([]),
};

async function readEntries(path: string, log: Log): Promise<Map<string, SettleOp>> {
  const text = await readFile(path, "utf8").catch(() => "");
  const entries = new Map<string, SettleOp>();
  for (const line of text.split("\n")) {
    if (line === "") continue;
    try {
      const { settle, done } = JSON.parse(line, readBigInt) as { settle?: SettleOp; done?: string };
      if (settle !== undefined) entries.set(settle.holdId, settle);
      if (done !== undefined) entries.delete(done);
    } catch {
      log.error({ path }, "a line of the outbox is cut off; it was never acknowledged and is passed over");
    }
  }
  return entries;
}

function writeBigInt(_name: string, value: unknown): unknown {
  return typeof value === "bigint" ? { $nano: value.toString() } : value;
}

function readBigInt(_name: string, value: unknown): unknown {
  const nano = (value as { $nano?: string } | null)?.$nano;
  return nano === undefined ? value : BigInt(nano);
}
