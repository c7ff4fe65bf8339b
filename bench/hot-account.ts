// One hot account that several processes write at a fixed rate, on one PostgreSQL: how long a hold takes until it is on
// disk, and what a pair of hold and settlement costs. Without HTTP, which would use up a small machine.

import { verifyLedger } from "../src/billing/verify.ts";
import { createLedgerAudit } from "../src/store/ledger/audit.ts";
import { startPostgres } from "../test/support/stores/postgres-server.ts";
import { openPostgresCpu } from "./harness/process-cpu.ts";
import { type Child, openProcesses } from "./harness/processes.ts";
import { percentile } from "./harness/statistics.ts";
import { show, type Table } from "./harness/table.ts";
import { openLedger } from "./ledger.ts";
import type { LedgerWork } from "./servers/ledger.ts";

/** Duration and rate. */
export interface HotPlan {
  readonly warmUpMs: number;
  readonly forMs: number;
  /** All processes together. */
  readonly pairsPerSecond: number;
}

const PROCESSES = [1, 2, 4];

export async function measureHotAccount(plan: HotPlan): Promise<Table> {
  const processes = openProcesses();
  const postgres = await startPostgres({ settings: ["fsync=on"] });
  try {
    const postgresUs = (await openPostgresCpu(postgres.url)) ?? (() => Number.NaN);
    const rows: (readonly string[])[] = [];
    for (const count of PROCESSES) {
      const ledgers = await Promise.all(
        Array.from({ length: count }, (_, index) =>
          processes.start<LedgerWork>("servers/ledger", {
            folder: processes.folder(),
            database: postgres.url,
            name: `hot-${count}-${index}`,
          }),
        ),
      );
      await runAll(ledgers, plan.pairsPerSecond, plan.warmUpMs);
      rows.push([String(count), ...(await measure(ledgers, plan, postgresUs))]);
    }
    return {
      title: `one account, ${plan.pairsPerSecond} pairs of hold and settlement a second`,
      columns: [
        "processes",
        "pairs/s",
        "hold p50 ms",
        "hold p99 ms",
        "settle p99 ms",
        "CPU µs/pair",
        "PostgreSQL CPU µs/pair",
      ],
      rows,
      notes: [await verdictOf(postgres.url, processes.folder())],
    };
  } finally {
    await processes.close();
    await postgres.stop();
  }
}

/** Splits the rate among the processes. */
async function runAll(ledgers: readonly Child<LedgerWork>[], pairsPerSecond: number, forMs: number) {
  const perSecond = pairsPerSecond / ledgers.length;
  const measured = await Promise.all(ledgers.map((ledger) => ledger.ask("run", { perSecond, forMs })));
  return {
    holdsMs: measured.flatMap(({ holdsMs }) => holdsMs),
    settlementsMs: measured.flatMap(({ settlementsMs }) => settlementsMs),
  };
}

/** One row: pairs a second, times, and CPU of the ledgers and of PostgreSQL. */
async function measure(
  ledgers: readonly Child<LedgerWork>[],
  { pairsPerSecond, forMs }: HotPlan,
  postgresUs: () => number,
): Promise<readonly string[]> {
  const cpuUs = async (): Promise<number> =>
    (await Promise.all(ledgers.map((ledger) => ledger.ask("resources", null)))).reduce(
      (sum, used) => sum + used.cpuUs,
      0,
    );
  const [cpuBefore, postgresBefore, startedAt] = [await cpuUs(), postgresUs(), performance.now()];
  const { holdsMs, settlementsMs } = await runAll(ledgers, pairsPerSecond, forMs);
  const pairs = settlementsMs.length;
  return [
    (pairs / (performance.now() - startedAt)) * 1000,
    percentile(holdsMs, 0.5),
    percentile(holdsMs, 0.99),
    percentile(settlementsMs, 0.99),
    ((await cpuUs()) - cpuBefore) / pairs,
    (postgresUs() - postgresBefore) / pairs,
  ].map(show);
}

/** Figures count only when the audit finds every amount right. */
async function verdictOf(database: string, folder: string): Promise<string> {
  const { db, close } = await openLedger(database, folder, "hot-audit");
  try {
    const { ok, transactions, openHolds, problems } = await verifyLedger(createLedgerAudit(db));
    return `The audit of ${transactions} transactions: ${ok ? "all fit" : JSON.stringify(problems)}, ${openHolds} open holds.`;
  } finally {
    await close();
  }
}
