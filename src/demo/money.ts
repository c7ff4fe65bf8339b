// Money of the demo, through the ledger like all money: in each month first credits, then the charges of its requests.
// The newest requests are charged one by one, older ones in one correction a month, all at about the times of the requests.

import { createCredits } from "../billing/credits.ts";
import { createLedger, type Ledger } from "../billing/ledger.ts";
import { NO_OUTBOX } from "../billing/outbox.ts";
import type { Db, Statement } from "../core/db.ts";
import type { ChargedUsage } from "../core/ledger.ts";
import { formatUsd, type NanoUsd } from "../core/money.ts";
import type { CostRecord, RequestRecord } from "../core/requests/records.ts";
import { clockSql } from "../store/dialect.ts";
import { createLedgerStore } from "../store/ledger/ledger.ts";
import { createLedgerList } from "../store/ledger/list.ts";
import { SILENT_LOG } from "../telemetry/log.ts";
import type { CountsOn } from "./company.ts";

/** The note on corrections, by which tests and `switchyard demo` know them. */
export const OLDER_NOTE = "demo: older traffic";
/** Top-ups appear in the ledger as made by the command that wrote the demo. */
const ACTOR = "command line";

/** Requests that are held together. */
const HELD_MAX = 500;
const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;
/** Age up to which charges of an hour are settled together; older ones are settled by the day, because each time takes a sync. */
const BY_HOUR_MS = 7 * DAY_MS;
const NANO_PER_USD = 1_000_000_000n;
/** Left over at the end, so that the demo does not end with an empty wallet. */
const SPARE = 20n * NANO_PER_USD;

/** The requests of one month that are not charged one by one. */
export interface OlderTraffic {
  charge: NanoUsd;
  lastMs: number;
}

/** Everything that one account spent, in the order in which it is booked. */
interface DemoSpending {
  readonly accountId: string;
  /** Time of the first top-up. */
  readonly fromMs: number;
  /** By month, oldest first. */
  readonly older: ReadonlyMap<string, OlderTraffic>;
  /** Oldest first, all of them after the older traffic. */
  readonly newest: readonly RequestRecord[];
  readonly countsOn: CountsOn;
}

export function monthOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 7);
}

/** Books all of it. The sum of the charges, and the balance that is left. */
export async function bookSpending(
  db: Db,
  { accountId, fromMs, older, newest, countsOn }: DemoSpending,
): Promise<{ readonly charged: NanoUsd; readonly balance: NanoUsd }> {
  const clock = await createDemoClock(db, accountId);
  const owner = "demo";
  const store = createLedgerStore(clock.db, owner);
  const ledger = createLedger({ store, owner, outbox: NO_OUTBOX, log: SILENT_LOG, ownerSilentMs: 0 });
  const credits = createCredits(ledger, createLedgerList(db));
  const move = { accountId, actor: ACTOR, idempotencyKey: null };
  const windows = split(
    newest,
    (first, record, length) => length < HELD_MAX && monthOf(first.atMs) === monthOf(record.atMs),
  );
  // All holds of a window are open at once, so the first top-up also covers the largest.
  const mostHeld = windows.map(heldBy).reduce((most, held) => (held > most ? held : most), 0n);
  const byHourMs = (newest.at(-1)?.atMs ?? 0) - BY_HOUR_MS;
  const spanOf = ({ atMs }: RequestRecord): number => floorTo(atMs, atMs < byHourMs ? DAY_MS : HOUR_MS);
  let charged = 0n;
  for (const month of [...new Set([...older.keys(), ...newest.map(({ atMs }) => monthOf(atMs))])]) {
    const [past, own] = [older.get(month), windows.filter(([first]) => monthOf(first?.atMs ?? 0) === month)];
    const due = (past?.charge ?? 0n) + chargeOf(own.flat());
    const beforehand = charged === 0n ? mostHeld + SPARE : 0n;
    clock.advanceTo(Math.max(fromMs, Date.parse(`${month}-01T00:00:00Z`)));
    const wholeUsd = (due + beforehand) / NANO_PER_USD + 1n;
    await credits.topUp({ ...move, amountUsd: wholeUsd.toString(), note: "demo credits" });
    clock.advanceTo(past?.lastMs ?? 0);
    if (past !== undefined && past.charge > 0n) {
      await credits.adjust({ ...move, amountUsd: `-${formatUsd(past.charge)}`, note: OLDER_NOTE });
    }
    for (const window of own) {
      await holdAll(ledger, window, countsOn);
      for (const together of split(window, (first, record) => spanOf(first) === spanOf(record))) {
        clock.advanceTo(together.at(-1)?.atMs ?? 0);
        await settleAll(ledger, together, countsOn);
      }
    }
    charged += due;
  }
  return { charged, balance: (await credits.balance(accountId)).posted };
}

type Belongs = (first: RequestRecord, record: RequestRecord, length: number) => boolean;

/** Into groups, each of which goes on as long as the next record belongs to its first. */
function split(records: readonly RequestRecord[], belongs: Belongs): readonly (readonly RequestRecord[])[] {
  const groups: RequestRecord[][] = [];
  for (const record of records) {
    const last = groups.at(-1);
    if (last !== undefined && belongs(last[0] as RequestRecord, record, last.length)) last.push(record);
    else groups.push([record]);
  }
  return groups;
}

function floorTo(atMs: number, unitMs: number): number {
  return Math.floor(atMs / unitMs) * unitMs;
}

function chargeOf(records: readonly RequestRecord[]): NanoUsd {
  return records.reduce((sum, { cost }) => sum + (cost?.charge ?? 0n), 0n);
}

function heldBy(records: readonly RequestRecord[]): NanoUsd {
  return records.reduce((sum, { hold }) => sum + (hold ?? 0n), 0n);
}

function holdIdOf({ id, cost }: RequestRecord): string {
  return cost?.holdId ?? `demo-${id}`;
}

async function holdAll(ledger: Ledger, records: readonly RequestRecord[], countsOn: CountsOn): Promise<void> {
  const held = await Promise.all(
    records.map((record) => {
      const { accountId, keyId, hold } = record;
      return ledger.hold({
        ...{ id: holdIdOf(record), accountId, keyId, amounts: [hold ?? 0n] },
        ...{ atLeast: null, spendLimit: null, isMetered: false, periodStartMs: 0, budgets: countsOn(record) },
      });
    }),
  );
  if (held.some(({ state }) => state !== "held")) throw new Error("the demo credits did not cover the demo");
}

async function settleAll(ledger: Ledger, records: readonly RequestRecord[], countsOn: CountsOn): Promise<void> {
  const settled = await Promise.all(
    records.map(async (record) => {
      const { accountId } = record;
      const holdId = holdIdOf(record);
      if (record.cost === null) return ledger.release({ holdId, accountId });
      const { charge } = record.cost;
      const usage = usageOf(record, record.cost);
      const settlement = { holdId, accountId, charge, usage, periodStartMs: 0, answer: null };
      const { state } = await ledger.settle({ ...settlement, budgets: countsOn(record) });
      return state;
    }),
  );
  if (settled.some((state) => state === "deferred")) throw new Error("the store did not take every charge");
}

/** Facts that the ledger keeps beside a charge. */
function usageOf({ requestId, answeredBy, ending }: RequestRecord, cost: CostRecord): ChargedUsage {
  const { buckets, isEstimated, price, markupPpm } = cost;
  return {
    ...{ requestId, model: answeredBy?.model ?? "", provider: answeredBy?.provider ?? "", buckets, isEstimated },
    ...{ price, markupPpm, outcome: ending === "client-gone" ? "client-gone" : "complete" },
  };
}

/**
 * The database with a clock of our own: the ledger books at the times of the generated requests. Only the demo may do
 * so; real money is booked at the time of the database itself.
 */
interface DemoClock {
  /** The database with this clock. */
  readonly db: Db;
  /** Never goes back, because entries of a ledger are in order of time. */
  advanceTo(atMs: number): void;
}

/** Starts at the newest entry of the account, where there is one. */
async function createDemoClock(db: Db, accountId: string): Promise<DemoClock> {
  const [last] = await db.query("SELECT MAX(created_at) AS at FROM ledger_transactions WHERE account_id = $1", [
    accountId,
  ]);
  let nowMs = Number(last?.at ?? 0);
  const clock = clockSql(db.kind);
  // Every statement of the ledger asks the same SQL expression for the time, so replacing it is enough.
  const timed = <T extends Statement>(statement: T): T => ({
    ...statement,
    sql: statement.sql.replaceAll(clock, `CAST(${nowMs} AS BIGINT)`),
  });
  return {
    advanceTo(atMs) {
      nowMs = Math.max(nowMs, Math.floor(atMs));
    },
    db: {
      kind: db.kind,
      query: (sql, params) => db.query(timed({ sql }).sql, params),
      transaction: (work) => db.transaction(work),
      batch: (statements) => db.batch(statements.map(timed)),
      batchAtOnce: (statements) => db.batchAtOnce(statements.map(timed)),
      readThenWrite: (reads, decide) =>
        db.readThenWrite(reads, (answers) => {
          const { writes, result } = decide(answers);
          return { writes: writes.map(timed), result };
        }),
      problems: () => db.problems(),
      migrate: () => db.migrate(),
      close: () => db.close(),
    },
  };
}
