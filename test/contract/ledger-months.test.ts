// Months and days of a ledger on every store: the sums that are found from the balances at both ends of a month are those of its
// entries, whatever the history, and a list narrowed to the month shows exactly them.

import { afterAll, beforeAll, expect, test } from "vitest";
import type { Db } from "../../src/core/db.ts";
import type { LedgerList, LedgerPeriod, TransactionKind } from "../../src/core/ledger.ts";
import { openDb } from "../../src/store/db.ts";
import { createLedgerList } from "../../src/store/ledger/list.ts";
import { fc } from "../support/property.ts";
import { describeStores } from "../support/stores/stores.ts";

interface Booked {
  readonly kind: TransactionKind;
  readonly amount: bigint;
  /** Since the one before. */
  readonly waitMs: number;
}

const DAY_MS = 86_400_000;
const START_MS = Date.UTC(2023, 10, 29, 23, 59, 59, 999);

const FIRST: Booked = { kind: "topup", amount: 10n ** 17n, waitMs: 0 };

const booked: fc.Arbitrary<Booked> = fc.record({
  kind: fc.constantFrom("topup", "charge", "adjustment"),
  amount: fc.bigInt(-(10n ** 15n), 10n ** 15n),
  waitMs: fc.oneof(fc.constant(0), fc.constant(1), fc.nat(3 * DAY_MS), fc.nat(70 * DAY_MS)),
});

await describeStores("months of the ledger", ({ url }) => {
  let db: Db;
  let ledger: LedgerList;
  let accounts = 0;
  beforeAll(async () => {
    db = await openDb(url);
    await db.migrate();
    ledger = createLedgerList(db);
  });
  afterAll(() => db.close());

  /** Written past the ledger, which has no way to book anything in the past. */
  async function write(history: readonly Booked[]): Promise<string> {
    accounts += 1;
    const account = `account${accounts}`;
    await db.query("INSERT INTO accounts (id, name, created_at) VALUES ($1, $1, 0)", [account]);
    let [balance, timeMs] = [0n, START_MS];
    for (const [index, { kind, amount, waitMs }] of history.entries()) {
      balance += amount;
      timeMs += waitMs;
      await db.query(
        "INSERT INTO ledger_transactions (account_id, sequence, id, kind, balance_after, hash, created_at) VALUES ($1, $2, $3, $4, $5, '', $6)",
        [account, index + 1, `${account}:${index}`, kind, balance, timeMs],
      );
      for (const [book, side] of [
        ["wallet", amount],
        ["clearing", -amount],
      ] as const)
        await db.query("INSERT INTO ledger_entries (account_id, sequence, book, amount) VALUES ($1, $2, $3, $4)", [
          account,
          index + 1,
          book,
          side,
        ]);
    }
    await db.query("INSERT INTO wallets (account_id, posted, held, sequence, hash) VALUES ($1, $2, 0, $3, '')", [
      account,
      balance,
      history.length,
    ]);
    return account;
  }

  test("are the sums of their entries, none left out, and the list of a month has just these", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(booked, { minLength: 1, maxLength: 25 }), async (history) => {
        const opened = [FIRST, ...history];
        const account = await write(opened);
        const months = await ledger.months(account, { limit: 500, after: null });
        expect(months).toEqual(expectedOf(opened));
        const days = await ledger.days(account, 40);
        const newest = await ledger.list(account, { limit: 100, after: null });
        const dayOf = (timeMs: number): string => new Date(timeMs).toISOString().slice(0, 10);
        expect(days[0]?.closing).toBe(months[0]?.closing);
        for (const [index, { id, entries, opening, closing, charges, ...day }] of days.entries()) {
          expect(opening).toBe(days[index + 1]?.closing ?? opening);
          expect(opening + charges + day.topUps + day.adjustments + day.grants).toBe(closing);
          expect(entries).toBe(newest.filter(({ createdAtMs }) => dayOf(createdAtMs) === id).length);
        }
        for (const { id, entries } of months) {
          const lines = await ledger.list(account, { limit: 100, after: null, month: id });
          expect(lines.length).toBe(entries);
          expect(lines.every(({ createdAtMs }) => monthOf(createdAtMs) === id)).toBe(true);
        }
      }),
      { numRuns: 12 },
    );
  });

  test("come page by page, and a page after the oldest is empty", async () => {
    const monthly = Array.from({ length: 8 }, () => ({ kind: "charge" as const, amount: -5n, waitMs: 31 * DAY_MS }));
    const account = await write([FIRST, ...monthly]);
    const all = await ledger.months(account, { limit: 500, after: null });
    const paged: LedgerPeriod[] = [];
    for (let after: string | null = null, page = await ledger.months(account, { limit: 3, after }); page.length > 0; ) {
      paged.push(...page);
      after = page.at(-1)?.id ?? null;
      page = await ledger.months(account, { limit: 3, after });
    }
    expect(paged).toEqual(all);
    expect(all.length).toBeGreaterThan(6);
    expect(await ledger.months(account, { limit: 3, after: "2200-01" })).toEqual(all.slice(0, 3));
    expect(await ledger.months(account, { limit: 3, after: "1999-01" })).toEqual([]);
  });

  test("of an account without a wallet are none, and so is the list of a month", async () => {
    expect(await ledger.months("nobody", { limit: 3, after: null })).toEqual([]);
    expect(await ledger.list("nobody", { limit: 3, after: null, month: "2026-01" })).toEqual([]);
  });
});

function monthOf(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 7);
}

/** Entry by entry, and with the months in which nothing happened. */
function expectedOf(history: readonly Booked[]): readonly LedgerPeriod[] {
  const months: LedgerPeriod[] = [];
  let [balance, timeMs] = [0n, START_MS];
  const open = (id: string): LedgerPeriod => {
    return { id, entries: 0, opening: balance, topUps: 0n, charges: 0n, adjustments: 0n, grants: 0n, closing: balance };
  };
  for (const { kind, amount, waitMs } of history) {
    timeMs += waitMs;
    if (months.length === 0) months.push(open(monthOf(timeMs)));
    for (let last = months.at(-1)?.id ?? ""; last < monthOf(timeMs); last = months.at(-1)?.id ?? "")
      months.push(open(monthOf(Date.parse(`${last}-01T00:00:00Z`) + 32 * DAY_MS)));
    balance += amount;
    const month = months.pop() as LedgerPeriod;
    const sum = { topup: "topUps", charge: "charges", adjustment: "adjustments", grant: "grants" } as const;
    months.push({ ...month, entries: month.entries + 1, [sum[kind]]: month[sum[kind]] + amount, closing: balance });
  }
  return months.reverse();
}
