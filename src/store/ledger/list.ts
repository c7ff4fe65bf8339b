// Reads the ledger of an account: its transactions, newest first, and its months and days.

import type { Db, SqlRow } from "../../core/db.ts";
import type { LedgerLine, LedgerList, LedgerPeriod } from "../../core/ledger.ts";
import { indexedBySql, inListSql, listValue } from "../dialect.ts";
import { toTransaction } from "./ledger.ts";

/** Opens the list for the dashboard, the API and exports. */
export function createLedgerList(db: Db): LedgerList {
  return {
    async list(accountId, { limit, after, from = null, kind = null, month = null }) {
      const isMoves = kind === "topup" || kind === "adjustment";
      const index = isMoves ? indexedBySql(db.kind, "ledger_moves") : "";
      const within = month === null ? EVERYTHING : await rangeOf(db, accountId, month);
      const rows = await db.query(
        `SELECT t.*, a.actor, c.request_id, c.model FROM ledger_transactions t${index}
         LEFT JOIN charges c ON c.hold_id = t.hold_id
         LEFT JOIN ledger_actors a ON t.kind <> 'charge' AND a.transaction_id = t.id
         WHERE t.account_id = $1 AND ($2 = '' OR t.sequence < (SELECT sequence FROM ledger_transactions WHERE id = $2 AND account_id = $1))
           AND ($4 = '' OR t.sequence <= (SELECT sequence FROM ledger_transactions WHERE id = $4 AND account_id = $1))
           AND t.sequence > $6 AND t.sequence <= $7 AND ($5 = '' OR t.kind = $5)${isMoves ? MOVES_ONLY : ""}
         ORDER BY t.sequence DESC LIMIT $3`,
        [accountId, after ?? "", limit, from ?? "", kind ?? "", within.from, within.to],
      );
      const entries = await entriesOf(db, accountId, rows);
      return rows.map((row) => toLine(row, entries.get(Number(row.sequence)) ?? []));
    },
    months: (accountId, page) => listPeriods(db, accountId, MONTHS, page),
    days: (accountId, limit) => listPeriods(db, accountId, DAYS, { limit, after: null }),
  };
}

/** Range of all transactions. */
const EVERYTHING: SequenceRange = { from: 0, to: Number.MAX_SAFE_INTEGER };

/** Exactly the condition of the index of top-ups and adjustments. */
const MOVES_ONLY = " AND t.kind IN ('topup', 'adjustment')";

/** Reads entries by sequence number, one by one: between two top-ups there may be a million charges. */
async function entriesOf(db: Db, accountId: string, rows: readonly SqlRow[]): Promise<ReadonlyMap<number, SqlRow[]>> {
  const places = listValue(
    db.kind,
    rows.map(({ sequence }) => Number(sequence)),
  );
  const entries = await db.query(
    `SELECT * FROM ledger_entries WHERE account_id = $1 AND ${inListSql(db.kind, "sequence", "$2", "BIGINT")}`,
    [accountId, places],
  );
  const found = new Map<number, SqlRow[]>();
  for (const entry of entries) {
    const place = Number(entry.sequence);
    found.set(place, [...(found.get(place) ?? []), entry]);
  }
  return found;
}

function toLine(row: SqlRow, entries: readonly SqlRow[]): LedgerLine {
  return {
    transaction: toTransaction(row, entries),
    createdAtMs: Number(row.created_at),
    requestId: row.request_id == null ? null : String(row.request_id),
    model: row.model == null ? null : String(row.model),
  };
}

/** Transactions with numbers above `from`, up to `to`. */
interface SequenceRange {
  readonly from: number;
  readonly to: number;
}

/** A calendar in UTC: its periods have numbers, so that the previous one is one less. */
interface Calendar {
  numberOf(timeMs: number): number;
  /** First moment of a period. */
  startMs(number: number): number;
  /** Numbers a text such as `2026-11`. */
  parse(text: string): number;
  write(number: number): string;
}

/** Months are numbered from year 0. */
const MONTHS: Calendar = {
  numberOf(timeMs) {
    const date = new Date(timeMs);
    return date.getUTCFullYear() * 12 + date.getUTCMonth();
  },
  startMs: (number) => Date.UTC(Math.floor(number / 12), number % 12, 1),
  parse(text) {
    const [year = 0, ofYear = 1] = text.split("-").map(Number);
    return year * 12 + ofYear - 1;
  },
  write: (number) =>
    `${String(Math.floor(number / 12)).padStart(4, "0")}-${String((number % 12) + 1).padStart(2, "0")}`,
};

const DAY_MS = 24 * 60 * 60 * 1000;
const DAYS: Calendar = {
  numberOf: (timeMs) => Math.floor(timeMs / DAY_MS),
  startMs: (number) => number * DAY_MS,
  parse: (text) => Date.parse(text) / DAY_MS,
  write: (number) => new Date(number * DAY_MS).toISOString().slice(0, 10),
};

/**
 * Lists all periods between the first and the last transaction, newest first. Transactions are numbered without gaps
 * and never change. So a period is a range of numbers, found by halving, and its charges follow from the balances at both
 * ends. A million charges cost no more than none.
 */
async function listPeriods(
  db: Db,
  accountId: string,
  { numberOf, startMs, parse, write }: Calendar,
  { limit, after }: { readonly limit: number; readonly after: string | null },
): Promise<readonly LedgerPeriod[]> {
  const last = await lastOf(db, accountId);
  if (last === 0) return [];
  const times = await timesOf(db, accountId, [1, last]);
  const newest = Math.min(numberOf(times.get(last) ?? 0), after === null ? Number.POSITIVE_INFINITY : parse(after) - 1);
  const oldest = Math.max(numberOf(times.get(1) ?? 0), newest - limit + 1);
  const numbers = Array.from({ length: Math.max(0, newest - oldest + 1) }, (_, index) => newest - index);
  const starts = [newest + 1, ...numbers].map(startMs);
  const ends = await countsBefore(db, accountId, { last, timesMs: starts });
  const balances = await balancesOf(db, accountId, ends);
  const periods: LedgerPeriod[] = [];
  for (const [index, number] of numbers.entries()) {
    const range = { from: ends[index + 1] ?? 0, to: ends[index] ?? 0 };
    const [opening, closing] = [balances.get(range.from) ?? 0n, balances.get(range.to) ?? 0n];
    const { topUps, adjustments } = await movesIn(db, accountId, range);
    const grants = await grantsIn(db, accountId, range);
    const charges = closing - opening - topUps - adjustments - grants;
    const entries = range.to - range.from;
    periods.push({ id: write(number), entries, opening, topUps, charges, adjustments, grants, closing });
  }
  return periods;
}

/** The transactions of one month. */
async function rangeOf(db: Db, accountId: string, month: string): Promise<SequenceRange> {
  const last = await lastOf(db, accountId);
  const number = MONTHS.parse(month);
  const timesMs = [number, number + 1].map(MONTHS.startMs);
  const [from = 0, to = 0] = await countsBefore(db, accountId, { last, timesMs });
  return { from, to };
}

/** Returns the number of the newest transaction; 0 if there is none. */
async function lastOf(db: Db, accountId: string): Promise<number> {
  const [row] = await db.query("SELECT sequence FROM wallets WHERE account_id = $1", [accountId]);
  return Number(row?.sequence ?? 0);
}

/** Counts the transactions before each time. Searches for all times together, with one query per round. */
async function countsBefore(
  db: Db,
  accountId: string,
  { last, timesMs }: { readonly last: number; readonly timesMs: readonly number[] },
): Promise<readonly number[]> {
  const searches = timesMs.map((timeMs) => ({ timeMs, low: 0, high: last }));
  for (;;) {
    const open = searches.filter(({ low, high }) => low < high);
    if (open.length === 0) return searches.map(({ low }) => low);
    const times = await timesOf(db, accountId, open.map(middleOf));
    for (const search of open) {
      const middle = middleOf(search);
      if ((times.get(middle) ?? 0) < search.timeMs) search.low = middle;
      else search.high = middle - 1;
    }
  }
}

/** Rounds up, so that a range of two is halved too. */
function middleOf({ low, high }: { readonly low: number; readonly high: number }): number {
  return Math.ceil((low + high) / 2);
}

async function timesOf(db: Db, accountId: string, places: readonly number[]): Promise<ReadonlyMap<number, number>> {
  const rows = await db.query(
    `SELECT sequence, created_at FROM ledger_transactions
     WHERE account_id = $1 AND ${inListSql(db.kind, "sequence", "$2", "BIGINT")}`,
    [accountId, listValue(db.kind, places)],
  );
  return new Map(rows.map(({ sequence, created_at }) => [Number(sequence), Number(created_at)]));
}

/** Reads the balances after these transactions. */
async function balancesOf(db: Db, accountId: string, places: readonly number[]): Promise<ReadonlyMap<number, bigint>> {
  const rows = await db.query(
    `SELECT sequence, balance_after FROM ledger_transactions
     WHERE account_id = $1 AND ${inListSql(db.kind, "sequence", "$2", "BIGINT")}`,
    [accountId, listValue(db.kind, places)],
  );
  return new Map(rows.map(({ sequence, balance_after }) => [Number(sequence), BigInt(balance_after as number)]));
}

/** Sums top-ups and adjustments, which have an index of their own. */
async function movesIn(db: Db, accountId: string, { from, to }: SequenceRange) {
  const rows = await db.query(
    `SELECT t.kind, CAST(SUM((SELECT amount FROM ledger_entries e
       WHERE e.account_id = t.account_id AND e.sequence = t.sequence AND e.book = 'wallet')) AS BIGINT) AS amount
     FROM ledger_transactions t${indexedBySql(db.kind, "ledger_moves")}
     WHERE t.account_id = $1 AND t.sequence > $2 AND t.sequence <= $3 ${MOVES_ONLY} GROUP BY t.kind`,
    [accountId, from, to],
  );
  const sumOf = (kind: string): bigint => BigInt((rows.find((row) => row.kind === kind)?.amount as number) ?? 0);
  return { topUps: sumOf("topup"), adjustments: sumOf("adjustment") };
}

/** Sums the automatic grants of metered accounts. There is one per charge, so this reads all rows of the month. */
async function grantsIn(db: Db, accountId: string, { from, to }: SequenceRange): Promise<bigint> {
  const [row] = await db.query(
    `SELECT CAST(COALESCE(SUM(e.amount), 0) AS BIGINT) AS amount
     FROM ledger_transactions t${indexedBySql(db.kind, "ledger_grants")}
     JOIN ledger_entries e ON e.account_id = t.account_id AND e.sequence = t.sequence AND e.book = 'wallet'
     WHERE t.account_id = $1 AND t.sequence > $2 AND t.sequence <= $3 AND t.kind = 'grant'`,
    [accountId, from, to],
  );
  return BigInt((row?.amount as number) ?? 0);
}
