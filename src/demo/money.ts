// The money of the demo, through the ledger like all money: in each month credits first, then what the requests came to, at
// the time they were made. The newest requests are charged one by one, older ones in one correction a month.

import { DEFAULT_ACCOUNT } from "../accounts/accounts.ts";
import { createCredits } from "../billing/credits.ts";
import { createLedger, type Ledger } from "../billing/ledger.ts";
import { NO_OUTBOX } from "../billing/outbox.ts";
import type { Db } from "../core/db.ts";
import type { Usage } from "../core/ledger.ts";
import { formatUsd, type NanoUsd } from "../core/money.ts";
import type { CostRecord, RequestRecord } from "../core/requests/records.ts";
import { createLedgerStore } from "../store/ledger/ledger.ts";
import { createLedgerList } from "../store/ledger/list.ts";
import { SILENT_LOG } from "../telemetry/log.ts";
import { createDemoClock } from "./clock.ts";

export const OLDER_NOTE = "demo: older traffic";
/** Top-ups appear in the ledger as made by the command that wrote the demo. */
const ACTOR = "command line";

/** Holds that are open at once, and the most that have one time in the ledger. */
const OPEN_MAX = 100;
const HOUR_MS = 60 * 60 * 1000;
const NANO_PER_USD = 1_000_000_000n;
const SPARE = 20n * NANO_PER_USD;

/** What the requests of a month came to that are not charged one by one. */
export interface OlderTraffic {
  charge: NanoUsd;
  lastMs: number;
}

export interface DemoSpending {
  /** When the first credits were added. */
  readonly fromMs: number;
  /** By month, oldest first. */
  readonly older: ReadonlyMap<string, OlderTraffic>;
  /** Oldest first, all of them after the others. */
  readonly newest: readonly RequestRecord[];
}

export function monthOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 7);
}

export async function moveMoney(
  db: Db,
  { fromMs, older, newest }: DemoSpending,
): Promise<{ readonly charged: NanoUsd; readonly balance: NanoUsd }> {
  const clock = await createDemoClock(db, DEFAULT_ACCOUNT);
  const store = createLedgerStore(clock.db, "demo");
  const ledger = createLedger({ store, outbox: NO_OUTBOX, log: SILENT_LOG, ownerSilentMs: 0 });
  const credits = createCredits(ledger, createLedgerList(db));
  const move = { accountId: DEFAULT_ACCOUNT, actor: ACTOR, idempotencyKey: null };
  const chunks = chunksOf(newest);
  const mostHeld = chunks.map(heldBy).reduce((most, held) => (held > most ? held : most), 0n);
  let charged = 0n;
  for (const month of [...new Set([...older.keys(), ...newest.map(({ atMs }) => monthOf(atMs))])]) {
    const [past, own] = [older.get(month), chunks.filter(([first]) => monthOf(first?.atMs ?? 0) === month)];
    const due = (past?.charge ?? 0n) + chargeOf(own.flat());
    const beforehand = charged === 0n ? mostHeld + SPARE : 0n;
    clock.advanceTo(Math.max(fromMs, Date.parse(`${month}-01T00:00:00Z`)));
    const wholeUsd = (due + beforehand) / NANO_PER_USD + 1n;
    await credits.topUp({ ...move, amountUsd: wholeUsd.toString(), note: "demo credits" });
    clock.advanceTo(past?.lastMs ?? 0);
    if (past !== undefined && past.charge > 0n) {
      await credits.adjust({ ...move, amountUsd: `-${formatUsd(past.charge)}`, note: OLDER_NOTE });
    }
    for (const chunk of own) {
      clock.advanceTo(chunk.at(-1)?.atMs ?? 0);
      await bookAll(ledger, chunk);
    }
    charged += due;
  }
  return { charged, balance: (await credits.balance(DEFAULT_ACCOUNT)).posted };
}

/** A few at a time, within one hour. */
function chunksOf(records: readonly RequestRecord[]): readonly (readonly RequestRecord[])[] {
  const chunks: RequestRecord[][] = [];
  for (const record of records) {
    const last = chunks.at(-1);
    const isOfHour = last !== undefined && hourOf(last[0] as RequestRecord) === hourOf(record);
    if (isOfHour && last.length < OPEN_MAX) last.push(record);
    else chunks.push([record]);
  }
  return chunks;
}

function hourOf({ atMs }: RequestRecord): number {
  return Math.floor(atMs / HOUR_MS);
}

function chargeOf(records: readonly RequestRecord[]): NanoUsd {
  return records.reduce((sum, { cost }) => sum + (cost?.charge ?? 0n), 0n);
}

function heldBy(records: readonly RequestRecord[]): NanoUsd {
  return records.reduce((sum, { hold }) => sum + (hold ?? 0n), 0n);
}

async function bookAll(ledger: Ledger, records: readonly RequestRecord[]): Promise<void> {
  const accountId = DEFAULT_ACCOUNT;
  const holdIdOf = ({ id, cost }: RequestRecord): string => cost?.holdId ?? `demo-${id}`;
  const held = await Promise.all(
    records.map((record) => {
      const amounts = [record.hold ?? 0n];
      return ledger.hold({
        ...{ id: holdIdOf(record), accountId, keyId: record.keyId, amounts },
        ...{ atLeast: null, spendLimit: null, periodStartMs: 0 },
      });
    }),
  );
  if (held.some(({ state }) => state !== "held")) throw new Error("the demo credits did not cover the demo");
  const settled = await Promise.all(
    records.map(async (record) => {
      const holdId = holdIdOf(record);
      if (record.cost === null) return ledger.release({ holdId, accountId });
      const { charge } = record.cost;
      const { state } = await ledger.settle({
        holdId,
        accountId,
        charge,
        usage: usageOf(record, record.cost),
        periodStartMs: 0,
        answer: null,
      });
      return state;
    }),
  );
  if (settled.some((state) => state === "deferred")) throw new Error("the store did not take every charge");
}

function usageOf({ requestId, answeredBy, ending }: RequestRecord, cost: CostRecord): Usage {
  const { buckets, isEstimated, price, markupPpm } = cost;
  return {
    ...{ requestId, model: answeredBy?.model ?? "", provider: answeredBy?.provider ?? "", buckets, isEstimated },
    ...{ price, markupPpm, outcome: ending === "client-gone" ? "client-gone" : "complete" },
  };
}
