// What budgets leave behind, on every store: counters of past periods and rows of ended holds go, nothing that counts is lost,
// also while requests go on, and what a build without budgets left on hold is freed.

import { afterAll, beforeAll, expect, test } from "vitest";
import { createStandings } from "../../src/accounts/budgets/standings.ts";
import { post } from "../../src/billing/post.ts";
import { verifyLedger } from "../../src/billing/verify.ts";
import { type Budget, PERIOD_MAX_MS } from "../../src/core/budgets/budget.ts";
import { type BudgetTerm, counterId, spentSince } from "../../src/core/budgets/counter.ts";
import type { Db } from "../../src/core/db.ts";
import type { HoldOutcome, LedgerStore } from "../../src/core/ledger.ts";
import { BatchRejected } from "../../src/core/store-errors.ts";
import { createBudgetStore } from "../../src/store/accounts/budgets.ts";
import { openDb } from "../../src/store/db.ts";
import { createLedgerAudit } from "../../src/store/ledger/audit.ts";
import { createBudgetUpkeep } from "../../src/store/ledger/budget-upkeep.ts";
import { createLedgerStore } from "../../src/store/ledger/ledger.ts";
import { hold, release, settle, topUp } from "../support/stores/ledger.ts";
import { describeStores } from "../support/stores/stores.ts";

const DAY_MS = 86_400_000;
const NOW_MS = Date.UTC(2026, 10, 19, 12);
const LONG_AGO_MS = NOW_MS - PERIOD_MAX_MS - DAY_MS;

await describeStores("upkeep of budgets", ({ url, isShared }) => {
  let db: Db;
  let store: LedgerStore;
  let names = 0;

  beforeAll(async () => {
    db = await openDb(url);
    await db.migrate();
    await db.query("INSERT INTO accounts (id, name, created_at) VALUES ('a', 'a', 0)");
    store = createLedgerStore(db, "me");
    await store.commit([topUp("t", 1_000_000n)], post);
  });
  afterAll(() => db.close());

  const sweep = (nowMs = NOW_MS) => createBudgetUpkeep(db).sweep(nowMs);
  const fresh = (word: string): string => {
    names += 1;
    return `${word}-${names}`;
  };
  const termOf = (counter: string, fromMs = NOW_MS, more: Partial<BudgetTerm> = {}): BudgetTerm => ({
    ...{ counter, limit: 100n, isHard: true, fromMs, partMs: fromMs, most: null },
    ...more,
  });
  const newTerm = (fromMs: number) => termOf(counterId(fresh("budget"), "ada"), fromMs);
  const take = async (amount: bigint, terms: readonly BudgetTerm[], from = store) => {
    const id = fresh("hold");
    const [outcome] = await from.commit([hold(id, amount, { budgets: terms })], post);
    return { id, outcome: outcome as HoldOutcome };
  };
  const pay = (id: string, amount: number, terms: readonly BudgetTerm[], from = store) =>
    from.commit([settle(id, amount, { budgets: terms })], post);
  const spend = async (amount: number, term: BudgetTerm, from = store) =>
    pay((await take(BigInt(amount), [term], from)).id, amount, [term], from);
  const counterOf = async ({ counter }: BudgetTerm) => (await createBudgetStore(db).counters([counter])).get(counter);
  const rowsOf = async (holdId: string) =>
    (await db.query("SELECT counter_id FROM hold_budgets WHERE hold_id = $1", [holdId])).length;
  const expectSound = async () => expect(await verifyLedger(createLedgerAudit(db))).toMatchObject({ problems: [] });

  test("counters go when their period is over, unless a hold, a lease or a part of this period needs them", async () => {
    const [over, current, held, leased, unused] = [LONG_AGO_MS, NOW_MS, ...Array(3).fill(LONG_AGO_MS)].map(newTerm) as [
      ...[BudgetTerm, BudgetTerm, BudgetTerm, BudgetTerm, BudgetTerm],
    ];
    await spend(5, over);
    await spend(5, { ...current, fromMs: LONG_AGO_MS, partMs: LONG_AGO_MS });
    await spend(6, current);
    await spend(5, held);
    const open = await take(5n, [held]);
    const { counter, limit, fromMs, isHard } = leased;
    const budgets = [{ counter, limit, fromMs, isHard, atLeast: 1n }];
    const end = { kind: "return", owner: "me", accountId: "a", holds: [], isExpiry: false } as const;
    await store.commit([{ kind: "lease", owner: "me", accountId: "a", atLeast: 1n, epoch: null, budgets }], post);
    const released = await take(5n, [unused]);
    await store.commit([release(released.id)], post);
    const gone = async () =>
      (await Promise.all([over, current, held, leased, unused].map(counterOf))).map((one) => !one);
    expect(await gone()).toEqual([false, false, false, false, false]);
    expect([await sweep(), await gone()]).toEqual([0, [true, false, false, false, true]]);
    await store.commit([end], post);
    await pay(open.id, 5, [held]);
    await sweep();
    expect(await gone()).toEqual([true, false, true, true, true]);
    expect(spentSince((await counterOf(current)) as never, NOW_MS)).toBe(6n);
    await expectSound();
  });

  test("a counter that comes back counts from nothing, also for a process that remembers it", async () => {
    const old = newTerm(LONG_AGO_MS);
    const other = createLedgerStore(db, "other");
    await spend(60, old, other);
    await spend(30, old);
    await sweep();
    const now = termOf(old.counter);
    await spend(70, now);
    await spend(20, now, other);
    const counted = await counterOf(now);
    expect([spentSince(counted as never, NOW_MS), counted?.held]).toEqual([90n, 0n]);
    expect((await take(11n, [now], other)).outcome).toMatchObject({ state: "refused", budget: { left: 10n } });
    await expectSound();
  });

  test("a counter that is made again never has a version that somebody may remember", async () => {
    const versionOf = async (term: BudgetTerm) => {
      const made = createLedgerStore(db, fresh("process"));
      await pay((await take(1n, [term], made)).id, 1, [term], made);
      return (await counterOf(term))?.version ?? 0;
    };
    const old = newTerm(LONG_AGO_MS);
    const before = await versionOf(old);
    await sweep();
    expect(await versionOf(termOf(old.counter))).toBeGreaterThan(before + DAY_MS);
  });

  test("rows of ended holds go; one that expired stays, and its late settlement counts", async () => {
    const term = newTerm(NOW_MS);
    const [settled, released, expired, open] = [
      ...[await take(5n, [term]), await take(5n, [term])],
      ...[await take(5n, [term]), await take(5n, [term])],
    ] as [...Awaited<ReturnType<typeof take>>[]];
    await pay(String(settled?.id), 5, [term]);
    await store.commit([release(String(released?.id)), { ...release(String(expired?.id)), isExpiry: true }], post);
    await sweep();
    const ids = [settled, released, expired, open].map((one) => String(one?.id));
    expect(await Promise.all(ids.map(rowsOf))).toEqual([0, 0, 1, 1]);
    await pay(String(expired?.id), 4, [term]);
    await pay(String(open?.id), 3, [term]);
    expect(await counterOf(term)).toMatchObject({ spent: 12n, held: 0n });
    await db.query("UPDATE holds SET state = 'expired', resolved_at = 1 WHERE id = $1", [ids[1] ?? ""]);
    await sweep();
    expect(await Promise.all(ids.map(rowsOf))).toEqual([0, 0, 0, 0]);
  });

  test("what a build without budgets left on hold is free again", async () => {
    const budget = await newBudget({});
    const term = termOf(counterId(budget.id, ""), NOW_MS);
    const [lost, kept] = [await take(60n, [term]), await take(30n, [term])];
    // Such a build ends the hold and the part of the wallet, and knows no counter.
    await db.batch([
      { sql: "UPDATE holds SET state = 'expired', resolved_at = 1 WHERE id = $1", params: [lost.id] },
      { sql: "UPDATE wallets SET held = held - 60 WHERE account_id = 'a'" },
    ]);
    const { problems } = await verifyLedger(createLedgerAudit(db));
    expect(problems).toEqual([expect.stringContaining("budget has other holds than its counter says")]);
    expect((await take(20n, [term], createLedgerStore(db, "next"))).outcome.state).toBe("refused");
    expect([await sweep(), await sweep()]).toEqual([1, 0]);
    await expectSound();
    const next = await take(20n, [term]);
    expect(next.outcome.state).toBe("held");
    await pay(kept.id, 30, [term]);
    await pay(next.id, 20, [term]);
    expect(await counterOf(term)).toMatchObject({ spent: 50n, held: 0n });
    await expectSound();
  });

  test("a deleted budget goes with its last counter", async () => {
    const budget = await newBudget({});
    const term = termOf(counterId(budget.id, ""), LONG_AGO_MS);
    const open = await take(5n, [term]);
    await createBudgetStore(db).delete("a", budget.id, LONG_AGO_MS);
    const isThere = async () => (await db.query("SELECT id FROM budgets WHERE id = $1", [budget.id])).length > 0;
    await sweep();
    expect(await isThere()).toBe(true);
    await store.commit([release(open.id)], post);
    await sweep();
    await sweep();
    expect([await isThere(), await counterOf(term)]).toEqual([false, undefined]);
  });

  test("nothing is lost while requests count on counters that are being deleted", async () => {
    const terms = Array.from({ length: 10 }, () => newTerm(LONG_AGO_MS));
    for (const term of terms) await spend(50, term);
    const others = await Promise.all(
      ["p", "q"].map(async (owner) => createLedgerStore(isShared ? await openDb(url) : db, owner)),
    );
    const now = terms.map(({ counter }) => termOf(counter));
    const spendSure = async (term: BudgetTerm, from: LedgerStore): Promise<void> => {
      for (;;) {
        try {
          return void (await spend(5, term, from));
        } catch (error) {
          // The batcher would try again.
          if (!(error instanceof BatchRejected)) throw error;
        }
      }
    };
    const race = async (from: LedgerStore): Promise<void> => {
      for (const term of now) await spendSure(term, from);
    };
    await Promise.all([...others.map(race), sweep(), sweep()]);
    await sweep();
    expect((await Promise.all(now.map(counterOf))).map((one) => spentSince(one as never, NOW_MS))).toEqual(
      Array(10).fill(10n),
    );
    await expectSound();
  });

  async function newBudget(more: Partial<Budget>): Promise<Budget> {
    const budget: Budget = {
      ...{ id: fresh("budget"), accountId: "a", name: "b", scope: "account", value: null, amount: 100n },
      ...{ period: "day", isRolling: false, timeZone: "UTC", isHard: true, isByOperator: false },
      ...{ requestsPerMinute: null, tokensPerMinute: null, createdAtMs: 0, updatedAtMs: 0 },
      ...more,
    };
    await createBudgetStore(db).insert(budget);
    return budget;
  }
  const standingsAt = (budget: Budget, nowMs: number) =>
    createStandings({
      ...{ store: createBudgetStore(db), now: () => nowMs, users: { emailsOf: async () => new Map() } },
      directory: { budgets: () => [budget], team: () => undefined, keyById: () => undefined } as never,
    });

  test("values that have spent most are those of this period, whatever they spent before", async () => {
    const budget = await newBudget({ scope: "endUser" });
    const today = Date.UTC(2026, 10, 19);
    const yesterday = today - DAY_MS;
    for (let user = 0; user < 30; user += 1) await spend(90, termOf(counterId(budget.id, `old-${user}`), yesterday));
    await spend(1, termOf(counterId(budget.id, "small"), today));
    await spend(80, termOf(counterId(budget.id, "large"), today));
    const top = await standingsAt(budget, NOW_MS).topStandings(budget);
    expect(top.map(({ value, spent }) => [value, spent])).toEqual([
      ["large", 80n],
      ["small", 1n],
    ]);
    const reached = (await standingsAt(budget, NOW_MS).from(80)).map(({ standing }) => standing.value);
    expect(reached).toEqual(["large"]);
  });

  test("in a rolling period, one that has spent most lately is found behind many that did before", async () => {
    const budget = await newBudget({ scope: "endUser", isRolling: true, amount: 1_000n });
    const part = (id: string, atMs: number) =>
      termOf(counterId(budget.id, id), atMs - DAY_MS, { partMs: atMs, limit: 1_000n });
    // Their large parts are over two hours later, and a small one keeps them in the period.
    const users = Array.from({ length: 230 }, (_, user) => `before-${user}`);
    for (const [amount, atMs] of [[100, NOW_MS - DAY_MS] as const, [1, NOW_MS] as const]) {
      const spends = users.map((user) => ({ id: fresh("hold"), budgets: [part(user, atMs)] }));
      await store.commit(
        spends.map(({ id, budgets }) => hold(id, BigInt(amount), { budgets })),
        post,
      );
      await store.commit(
        spends.map(({ id, budgets }) => settle(id, amount, { budgets })),
        post,
      );
    }
    await spend(50, part("lately", NOW_MS));
    const top = await standingsAt(budget, NOW_MS + 7_200_000).topStandings(budget);
    expect(top[0]).toMatchObject({ value: "lately", spent: 50n });
    expect(top).toHaveLength(20);
  });
});
