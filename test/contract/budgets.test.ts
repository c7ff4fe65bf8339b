// Budgets in the ledger of every store: several for one hold, exact over processes with memories of their own, over periods,
// and after a process died.

import { afterAll, beforeAll, expect, test } from "vitest";
import { post } from "../../src/billing/post.ts";
import { verifyLedger } from "../../src/billing/verify.ts";
import type { BudgetStore } from "../../src/core/budgets/budget.ts";
import { type BudgetTerm, counterId, spentSince } from "../../src/core/budgets/counter.ts";
import type { Db } from "../../src/core/db.ts";
import type { HoldOutcome, LeaseOutcome, LedgerStore } from "../../src/core/ledger.ts";
import { BatchRejected } from "../../src/core/store-errors.ts";
import { createBudgetStore } from "../../src/store/accounts/budgets.ts";
import { openDb } from "../../src/store/db.ts";
import { createLedgerAudit } from "../../src/store/ledger/audit.ts";
import { createLedgerStore } from "../../src/store/ledger/ledger.ts";
import { hold, release, settle, topUp } from "../support/stores/ledger.ts";
import { describeStores } from "../support/stores/stores.ts";

await describeStores("budgets", ({ url, isShared }) => {
  let db: Db;
  let store: LedgerStore;
  let budgets: BudgetStore;
  let names = 0;

  beforeAll(async () => {
    db = await openDb(url);
    await db.migrate();
    await db.query("INSERT INTO accounts (id, name, created_at) VALUES ('a', 'a', 0)");
    store = createLedgerStore(db, "me");
    budgets = createBudgetStore(db);
    await store.commit([topUp("t", 1_000_000n)], post);
  });
  afterAll(() => db.close());

  const fresh = (word: string): string => {
    names += 1;
    return `${word}-${names}`;
  };
  const term = (limit: bigint, more: Partial<BudgetTerm> = {}): BudgetTerm => ({
    ...{
      counter: counterId(fresh("budget"), "ada 'λ' {x}"),
      limit,
      isHard: true,
      fromMs: 100,
      partMs: 100,
      most: null,
    },
    ...more,
  });
  const take = async (amount: bigint, terms: readonly BudgetTerm[], from = store, more = {}) => {
    const id = fresh("hold");
    const [outcome] = await from.commit([hold(id, amount, { budgets: terms, ...more })], post);
    return { id, outcome: outcome as HoldOutcome };
  };
  const pay = (id: string, amount: number, terms: readonly BudgetTerm[], from = store) =>
    from.commit([settle(id, amount, { budgets: terms })], post);
  const standing = async ({ counter, fromMs }: BudgetTerm) => {
    const found = (await budgets.counters([counter])).get(counter);
    return found === undefined ? null : { spent: spentSince(found, fromMs), held: found.held };
  };
  const expectSound = async () => expect(await verifyLedger(createLedgerAudit(db))).toMatchObject({ problems: [] });

  test("the strictest refuses and says what is left; the others count nothing", async () => {
    const [wide, tight] = [term(100n), term(10n)];
    const first = await take(8n, [wide, tight]);
    expect(first.outcome).toEqual({ state: "held", amount: 8n });
    const { outcome } = await take(3n, [wide, tight]);
    const budget = { counter: tight.counter, left: 2n, held: 8n, sinceMs: null };
    expect(outcome).toEqual({ state: "refused", reason: "budget", budget });
    await pay(first.id, 6, [wide, tight]);
    expect([await standing(wide), await standing(tight)]).toEqual([
      { spent: 6n, held: 0n },
      { spent: 6n, held: 0n },
    ]);
    expect((await take(5n, [wide, tight])).outcome).toMatchObject({ budget: { left: 4n, held: 0n, sinceMs: 100 } });
    await expectSound();
  });

  test("a released hold counts nothing", async () => {
    const budget = term(10n);
    const { id } = await take(10n, [budget]);
    expect((await take(1n, [budget])).outcome.state).toBe("refused");
    await createLedgerStore(db, "another").commit([release(id)], post);
    expect(await standing(budget)).toEqual({ spent: 0n, held: 0n });
    expect((await take(10n, [budget])).outcome.state).toBe("held");
    await expectSound();
  });

  test("of a model holds its own part, and is charged only where the model answered", async () => {
    const model = term(10n, { most: 4n });
    const first = await take(8n, [model]);
    expect(await standing(model)).toEqual({ spent: 0n, held: 4n });
    await pay(first.id, 7, []);
    expect(await standing(model)).toEqual({ spent: 0n, held: 0n });
    await pay((await take(8n, [model])).id, 7, [model]);
    expect(await standing(model)).toEqual({ spent: 7n, held: 0n });
    expect((await take(8n, [model])).outcome).toMatchObject({ reason: "budget", budget: { left: 3n } });
  });

  test("that is spent lets free models through, and a soft one lets everything through and says so", async () => {
    const hard = term(0n);
    expect((await take(5n, [hard], store, { amounts: [5n, 0n] })).outcome).toEqual({ state: "held", amount: 0n });
    const soft = term(5n, { isHard: false });
    await pay((await take(9n, [soft])).id, 6, [soft]);
    expect((await take(9n, [soft])).outcome).toEqual({ state: "held", amount: 9n, spentBudgets: [soft.counter] });
  });

  test("begins again with its period, with what was held before", async () => {
    const today = term(10n);
    const tomorrow = { ...today, fromMs: 200, partMs: 200 };
    await pay((await take(10n, [today])).id, 10, [today]);
    expect((await take(1n, [today])).outcome.state).toBe("refused");
    const night = await take(10n, [tomorrow]);
    expect(night.outcome.state).toBe("held");
    await pay(night.id, 4, [tomorrow]);
    // A process whose clock is behind adds to the new period.
    expect((await take(7n, [today])).outcome.state).toBe("refused");
    expect((await take(6n, [tomorrow])).outcome.state).toBe("held");
  });

  test("that rolls forgets one part after the other", async () => {
    const rolling = term(10n, { fromMs: 0, partMs: 24 });
    await pay((await take(6n, [rolling])).id, 6, [rolling]);
    const later = { ...rolling, fromMs: 12, partMs: 36 };
    await pay((await take(4n, [later])).id, 4, [later]);
    expect((await take(1n, [later])).outcome.state).toBe("refused");
    const last = { ...rolling, fromMs: 25, partMs: 49 };
    expect((await take(6n, [last])).outcome.state).toBe("held");
    expect((await take(1n, [last])).outcome.state).toBe("refused");
  });

  test.skipIf(!isShared)("stay exact while processes with memories of their own race for them", async () => {
    const limits = [term(100n), term(60n), term(250n)];
    const others = await Promise.all(["p", "q", "r"].map(async (owner) => createLedgerStore(await openDb(url), owner)));
    let granted = 0n;
    const race = async (from: LedgerStore, count: number): Promise<void> => {
      for (let turn = 0; turn < count; turn += 1) {
        const terms = turn % 2 === 0 ? limits : limits.slice(0, 1);
        const taken = await take(5n, terms, from).catch((error: unknown) => {
          // The batcher would try again.
          if (error instanceof BatchRejected) return null;
          throw error;
        });
        if (taken?.outcome.state !== "held") continue;
        granted += 5n;
        await pay(taken.id, 5, terms, from);
      }
    };
    await Promise.all(others.map((from) => race(from, 15)));
    const [first, second, third] = await Promise.all(limits.map(standing));
    expect(first).toEqual({ spent: granted, held: 0n });
    expect(granted).toBe(100n);
    expect(second?.spent).toBeLessThanOrEqual(60n);
    expect(third?.spent).toBe(second?.spent);
    await expectSound();
  });

  const lease = async (from: LedgerStore, owner: string, terms: readonly BudgetTerm[], atLeast = 1n) => {
    const wanted = terms.map(({ counter, limit, fromMs, isHard }) => ({ counter, limit, fromMs, isHard, atLeast }));
    const [outcome] = await from.commit(
      [{ kind: "lease", owner, accountId: "a", atLeast: 1n, epoch: null, budgets: wanted }],
      post,
    );
    return (outcome as Extract<LeaseOutcome, { state: "leased" }>).budgets;
  };

  test("a lease is an eighth of what is left, and is charged without a hold in the store", async () => {
    const [wide, tight] = [term(800n), term(80n)];
    const terms = [wide, tight];
    expect(await lease(store, "me", terms)).toEqual(
      new Map([
        [wide.counter, 100n],
        [tight.counter, 10n],
      ]),
    );
    const reserved = {
      ...{ owner: "me", keyId: "key", amount: 6n, isMetered: false, isFresh: true },
      budgets: terms.map(({ counter }) => ({ counter, amount: 6n })),
    };
    const [settled] = await store.commit([settle(fresh("hold"), 4, { budgets: terms, reserved })], post);
    expect(settled).toMatchObject({
      budgetsLeft: new Map([
        [wide.counter, 96n],
        [tight.counter, 6n],
      ]),
    });
    expect(await standing(tight)).toEqual({ spent: 4n, held: 0n });
    await expectSound();
    // The rest of the lease is not there for others, who may ask for it.
    const asked = { mayRecall: true };
    expect((await take(71n, terms)).outcome).toMatchObject({
      state: "refused",
      reason: "budget",
      budget: { left: 70n },
    });
    expect((await take(71n, terms, store, asked)).outcome).toMatchObject({ state: "refused", reason: "leased" });
    await store.commit([{ kind: "return", owner: "me", accountId: "a", holds: [], isExpiry: false }], post);
    expect((await take(76n, terms, store, asked)).outcome.state).toBe("held");
    await expectSound();
  });

  test("a lease of a dead process goes back, and what it had reserved and charged meanwhile counts", async () => {
    const budget = term(80n);
    const dead = createLedgerStore(db, "dead");
    await dead.beat();
    await lease(dead, "dead", [budget]);
    const held = { id: fresh("hold"), keyId: "key", amount: 7n, budgets: [{ counter: budget.counter, amount: 7n }] };
    expect(await store.orphanLeases(0)).toContainEqual(expect.objectContaining({ owner: "dead", accountId: "a" }));
    const end = { kind: "return", owner: "dead", accountId: "a", isExpiry: true } as const;
    await store.commit([{ ...end, holds: [held] }], post);
    expect(await standing(budget)).toEqual({ spent: 0n, held: 7n });
    expect(await store.orphanLeases(0)).not.toContainEqual(expect.objectContaining({ owner: "dead" }));
    await pay(held.id, 7, [budget]);
    expect(await standing(budget)).toEqual({ spent: 7n, held: 0n });
    // The settlement of a reservation that the store never heard of counts too, without a lease.
    const late = { owner: "dead", keyId: "key", amount: 5n, isMetered: false, isFresh: true, budgets: held.budgets };
    await store.commit([settle(fresh("hold"), 5, { budgets: [budget], reserved: late })], post);
    expect(await standing(budget)).toEqual({ spent: 12n, held: 0n });
    await expectSound();
  });

  test("a metered account has budgets too", async () => {
    await db.query("INSERT INTO accounts (id, name, created_at) VALUES ('m', 'm', 0) ON CONFLICT DO NOTHING");
    const budget = term(10n);
    const more = { accountId: "m", isMetered: true };
    const { id, outcome } = await take(10n, [budget], store, more);
    expect(outcome.state).toBe("held");
    expect((await take(1n, [budget], store, more)).outcome.state).toBe("refused");
    await store.commit([settle(id, 3, { accountId: "m", budgets: [budget] })], post);
    expect(await standing(budget)).toEqual({ spent: 3n, held: 0n });
    await expectSound();
  });
});
