// The ledger alone, in this process: pairs of hold and settlement, many at once, all on one account, which is the hardest
// case. On a SQLite file and, where a server can be started, on PostgreSQL.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { createLedger, type Ledger } from "../src/billing/ledger.ts";
import { createOutbox } from "../src/billing/outbox.ts";
import type { Db } from "../src/core/db.ts";
import { openDb } from "../src/store/db.ts";
import { createLedgerStore } from "../src/store/ledger/ledger.ts";
import { SILENT_LOG } from "../src/telemetry/log.ts";
import { startPostgres } from "../test/support/stores/postgres-server.ts";
import { percentile } from "./harness/statistics.ts";
import { show, type Table } from "./harness/table.ts";

/** Duration, and pairs at once. */
export interface LedgerPlan {
  readonly warmUpMs: number;
  readonly forMs: number;
  readonly concurrent: number;
}

const ACCOUNT = "bench";
/** In micro-USD per million tokens. */
const PRICE = { input: 150_000, output: 600_000, cacheRead: 75_000, cacheWrite: null };

export async function measureLedger(plan: LedgerPlan): Promise<Table> {
  const folder = mkdtempSync(join(tmpdir(), "switchyard-bench-"));
  try {
    const rows = [["SQLite file", ...(await measureStore(`sqlite:${join(folder, "bench.db")}`, folder, plan))]];
    const { url, stop } = await findPostgres();
    if (url !== null) rows.push(["PostgreSQL", ...(await measureStore(url, folder, plan))]);
    await stop();
    return {
      title: `ledger: hold + settle pairs, ${plan.concurrent} at once on one account`,
      columns: ["store", "pairs/s", "event loop µs/pair", "pair p50 ms", "pair p99 ms"],
      rows,
      notes: [
        "Every hold and every settlement is on disk before it counts (SQLite: fdatasync of its log; PostgreSQL: fsync=on).",
      ],
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The server that SWITCHYARD_TEST_POSTGRES names, else one of its own, else none. */
async function findPostgres(): Promise<{ readonly url: string | null; stop(): Promise<void> }> {
  const existing = process.env.SWITCHYARD_TEST_POSTGRES;
  if (existing !== undefined && existing !== "") return { url: existing, stop: () => Promise.resolve() };
  try {
    return await startPostgres({ settings: ["fsync=on"] });
  } catch (error) {
    console.log(`PostgreSQL is left out: ${(error as Error).message}`);
    return { url: null, stop: () => Promise.resolve() };
  }
}

async function measureStore(url: string, folder: string, plan: LedgerPlan): Promise<readonly string[]> {
  const { ledger, close } = await openLedger(url, folder, "bench");
  try {
    await runPairs(ledger, plan.concurrent, plan.warmUpMs);
    return await timed(() => runPairs(ledger, plan.concurrent, plan.forMs));
  } finally {
    await close();
  }
}

/** A ledger with credits on the one account. Ledgers of other names may be open on the same database. */
export async function openLedger(
  url: string,
  folder: string,
  name: string,
): Promise<{ readonly ledger: Ledger; readonly db: Db; close(): Promise<void> }> {
  const db = await openDb(url);
  await db.migrate();
  await db.query("INSERT INTO accounts (id, name, created_at) VALUES ($1, $1, 0) ON CONFLICT (id) DO NOTHING", [
    ACCOUNT,
  ]);
  const store = createLedgerStore(db, name);
  const outbox = createOutbox({ folder, name, log: SILENT_LOG });
  const ledger = createLedger({ store, owner: name, outbox, log: SILENT_LOG, ownerSilentMs: 0 });
  await ledger.move({
    id: `topup:${name}:${process.hrtime.bigint()}`,
    transactionKind: "topup",
    accountId: ACCOUNT,
    amount: 1_000_000_000_000_000n,
    note: null,
    actor: null,
  });
  return {
    ledger,
    db,
    async close() {
      await ledger.stop();
      await db.close();
    },
  };
}

/** Event-loop time, not CPU time: it is what limits a single process. */
async function timed(work: () => Promise<readonly number[]>): Promise<readonly string[]> {
  const startedAt = performance.now();
  const before = performance.eventLoopUtilization();
  const timesMs = await work();
  const { active } = performance.eventLoopUtilization(before);
  const perSecond = (timesMs.length / (performance.now() - startedAt)) * 1000;
  const activeUs = (active / timesMs.length) * 1000;
  return [perSecond, activeUs, percentile(timesMs, 0.5), percentile(timesMs, 0.99)].map(show);
}

/** Duration of each pair, in milliseconds. */
async function runPairs(ledger: Ledger, concurrent: number, forMs: number): Promise<readonly number[]> {
  const timesMs: number[] = [];
  const endsAt = performance.now() + forMs;
  let count = 0;
  const client = async (): Promise<void> => {
    while (performance.now() < endsAt) {
      count += 1;
      const startedAt = performance.now();
      await runPair(ledger, `${Date.now().toString(36)}${count}~req_${startedAt}`);
      timesMs.push(performance.now() - startedAt);
    }
  };
  await Promise.all(Array.from({ length: concurrent }, client));
  return timesMs;
}

async function runPair(ledger: Ledger, holdId: string): Promise<void> {
  await holdOne(ledger, holdId);
  await settleOne(ledger, holdId);
}

/** With a fallback amount, as a chain of two models has it. */
export async function holdOne(ledger: Ledger, holdId: string): Promise<void> {
  const amounts = [2_000_000n, 500_000n];
  const limit = { spendLimit: null, isMetered: false, periodStartMs: 0 };
  const terms = { accountId: ACCOUNT, keyId: "key_bench", amounts, atLeast: null };
  const { state } = await ledger.hold({ id: holdId, ...terms, ...limit });
  if (state !== "held") throw new Error(`a hold ended as ${state}`);
}

/** A typical charge, below the hold. */
export async function settleOne(ledger: Ledger, holdId: string): Promise<void> {
  const settled = await ledger.settle({
    holdId,
    accountId: ACCOUNT,
    charge: 450_000n,
    periodStartMs: 0,
    usage: {
      requestId: holdId,
      model: "gpt-4o-mini",
      provider: "openai",
      buckets: { input: 1_000, cacheRead: 0, cacheWrite: 0, output: 500 },
      isEstimated: false,
      price: PRICE,
      markupPpm: 0,
      outcome: "complete",
    },
    answer: null,
  });
  if (settled.state !== "settled") throw new Error(`a pair ended as ${settled.state}`);
}
