// Leases of one process against a ledger in memory, with a clock of their own: when they are asked for, when they are
// given back, and when the process may no longer trust them.

import { beforeEach, expect, test, vi } from "vitest";
import { Leases } from "../../../src/billing/leases.ts";
import { post } from "../../../src/billing/post.ts";
import type { BudgetTerm } from "../../../src/core/budgets/counter.ts";
import type { LedgerOp, LedgerOutcome } from "../../../src/core/ledger.ts";
import { StoreUnavailable } from "../../../src/core/store-errors.ts";
import { createMemoryLedger, hold, type MemoryLedger, problemsOf, settle, topUp } from "../../support/stores/ledger.ts";

const TRUST_MS = 30_000;
let memory: MemoryLedger;
let leases: Leases;
let nowMs: number;
let isFailing: boolean;
/** Reads fail. */
let isAway: boolean;
/** Reads hang. */
let isSlow: boolean;
/** Where the answer of the store gets lost. */
let isLost: (op: LedgerOp) => boolean;

async function submit(op: LedgerOp): Promise<LedgerOutcome> {
  const [outcome] = (await memory.commit([op], post)) as [LedgerOutcome];
  if (isLost(op)) {
    leases.doubt();
    throw new StoreUnavailable(new Error("away"));
  }
  leases.committed(op, outcome);
  return outcome;
}

async function epochs(): Promise<ReadonlyMap<string, number>> {
  if (isAway) throw new StoreUnavailable(new Error("away"));
  if (isSlow) await new Promise(() => undefined);
  return memory.epochs();
}

beforeEach(async () => {
  memory = createMemoryLedger();
  await memory.commit([topUp("t", 800n)], post);
  nowMs = 0;
  isFailing = false;
  isAway = false;
  isSlow = false;
  isLost = () => false;
  const clock = (): number => nowMs;
  leases = new Leases({ owner: "me", submit, epochs, isStoreFailing: () => isFailing, trustMs: TRUST_MS, clock });
  leases.alive(0);
});

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const take = (id: string, amount = 10n): bigint | null => leases.take(hold(id, amount))?.amount ?? null;
const settleNow = (id: string, nano: number): Promise<LedgerOutcome> =>
  submit(settle(id, nano, { reserved: leases.reserved(id) as never }));
const wallet = () => memory.wallets.get("a");
const lost = (): Promise<unknown> =>
  memory.commit([{ kind: "return", owner: "me", accountId: "a", holds: [], isExpiry: true }], post);

/** The first request asks for a lease in the background and goes to the store itself. */
async function begin(): Promise<void> {
  expect(take("first")).toBeNull();
  await turn();
  expect(wallet()).toMatchObject({ leased: 100n, held: 0n });
}

test("nothing is reserved before the process is known to be alive", async () => {
  leases = new Leases({
    owner: "me",
    submit,
    epochs,
    isStoreFailing: () => false,
    trustMs: TRUST_MS,
    clock: () => 0,
  });
  expect(take("early")).toBeNull();
  await turn();
  expect(wallet()?.leased).toBe(0n);
});

test("a lease is reserved from up to its last credit, and not beyond", async () => {
  await begin();
  const taken = Array.from({ length: 11 }, (_, index) => take(`h-${index}`));
  expect(taken.filter((amount) => amount === 10n)).toHaveLength(10);
  expect(leases.heldFor("a")).toBe(100n);
  expect(leases.release("h-0")).toBe(true);
  expect(leases.heldFor("a")).toBe(90n);
});

test("a store that is known to fail is asked about every request", async () => {
  await begin();
  isFailing = true;
  expect(take("h")).toBeNull();
  isFailing = false;
  expect(take("h")).toBe(10n);
});

test.each([
  ["a request comes first", () => expect(take("late")).toBeNull()],
  ["its sign of life comes first", () => leases.alive(nowMs)],
])("a process that was silent for long spends nothing that others have ended: %s", async (_, wake) => {
  await begin();
  expect(take("h")).toBe(10n);
  nowMs = TRUST_MS + 1;
  await lost();
  // Somebody else has it by now.
  await memory.commit([hold("other", 795n)], post);
  wake();
  leases.alive(nowMs);
  expect(take("again")).toBeNull();
  await leases.tidy();
  expect(take("again")).toBeNull();
  expect(wallet()).toMatchObject({ held: 795n, leased: 0n });
  // What it had begun before is still paid, as far as the balance goes.
  expect(await submit(settle("h", 7))).toMatchObject({ state: "settled", paid: 5n, absorbed: 2n });
  expect(await problemsOf(memory)).toEqual([]);
});

test("signs of life in time keep it trusted", async () => {
  await begin();
  for (nowMs = 0; nowMs < 3 * TRUST_MS; nowMs += TRUST_MS / 2) {
    leases.alive(nowMs);
    expect(take(`h-${nowMs}`, 1n)).toBe(1n);
    leases.release(`h-${nowMs}`);
  }
});

test("a sign of life that took too long to be stored does not count from when it was", async () => {
  await begin();
  nowMs = 2 * TRUST_MS;
  leases.alive(TRUST_MS - 1);
  expect(take("h")).toBeNull();
});

test.each(["settling", "listening"])("a lease that is wanted back is returned while it is used: %s", async (way) => {
  await begin();
  expect(take("h")).toBe(10n);
  expect(take("running")).toBe(10n);
  const wanted = hold("large", 780n, { mayRecall: true });
  expect(await memory.commit([wanted], post)).toMatchObject([{ state: "refused", reason: "leased" }]);
  nowMs += 600;
  expect(take("used")).toBe(10n);
  if (way === "settling") await settleNow("h", 3);
  else await leases.tidy();
  for (let turns = 0; turns < 4; turns += 1) await turn();
  expect(wallet()).toMatchObject({ leased: 0n, held: way === "settling" ? 20n : 30n });
  expect(take("next")).toBeNull();
  await turn();
  expect(wallet()?.leased, "not asked for again at once").toBe(0n);
  expect(leases.heldFor("a")).toBe(0n);
  // The store has it now, so that it has to be released there.
  expect(leases.release("running")).toBe(false);
  expect(await problemsOf(memory)).toEqual([]);
});

test("what is released while a lease is returned is released in the store", async () => {
  await begin();
  expect(take("h")).toBe(10n);
  const returned = leases.giveBack("a");
  await Promise.resolve();
  expect(leases.release("h")).toBe(false);
  await returned;
  expect(memory.holds.get("h")).toMatchObject({ state: "open", amount: 10n });
});

test("a return whose answer is lost is repeated, and stores each reservation once", async () => {
  await begin();
  expect(take("h")).toBe(10n);
  isLost = ({ kind }) => kind === "return";
  await leases.giveBack("a");
  expect(take("next")).toBeNull();
  isLost = () => false;
  await leases.tidy();
  expect(wallet()).toMatchObject({ leased: 0n, held: 10n });
  expect(await submit(settle("h", 4))).toMatchObject({ state: "settled", paid: 4n });
  expect(wallet()).toMatchObject({ posted: 796n, held: 0n });
});

test("a lease whose grant is lost on the way is found and returned", async () => {
  isLost = ({ kind }) => kind === "lease";
  expect(take("first")).toBeNull();
  await turn();
  expect(wallet()?.leased).toBe(100n);
  isLost = () => false;
  await leases.tidy();
  expect(wallet()?.leased).toBe(0n);
});

test("what is not used goes back, and what is open then goes on hold", async () => {
  await begin();
  expect(take("h")).toBe(10n);
  nowMs += 29_000;
  leases.alive(nowMs);
  await leases.tidy();
  expect(wallet()).toMatchObject({ leased: 100n, held: 0n });
  nowMs += 1_000;
  await leases.tidy();
  expect(wallet()).toMatchObject({ leased: 0n, held: 10n });
});

test("a lease that is not in use costs the store reads and no commits", async () => {
  await begin();
  const commit = vi.spyOn(memory, "commit");
  for (nowMs = 1_000; nowMs < 30_000; nowMs += 1_000) {
    leases.alive(nowMs);
    await leases.tidy();
  }
  expect(commit).not.toHaveBeenCalled();
  expect(take("h")).toBe(10n);
});

test("a lease is returned when the store cannot say whether it is wanted back", async () => {
  isAway = true;
  await begin();
  nowMs = 1_000;
  await leases.tidy();
  await turn();
  expect(take("h")).toBeNull();
  await leases.tidy();
  expect(wallet()?.leased).toBe(0n);
});

test("a lease that was heard to be wanted back is asked for again two seconds later, with one commit", async () => {
  await begin();
  await memory.commit([hold("large", 780n, { mayRecall: true })], post);
  nowMs = 600;
  await leases.tidy();
  await turn();
  expect(wallet()?.leased).toBe(0n);
  nowMs = 2_600;
  expect(take("h")).toBeNull();
  await turn();
  expect(wallet()?.leased).toBe(100n);
});

test("a store that does not answer whether a lease is wanted back keeps none from going back", async () => {
  isSlow = true;
  await begin();
  nowMs = 600;
  await leases.tidy();
  await leases.recall("a");
  expect(wallet()?.leased).toBe(0n);
});

test("where little is left beside it, a lease goes back", async () => {
  await begin();
  await memory.commit([hold("other", 690n)], post);
  expect(take("h")).toBe(10n);
  await settleNow("h", 5);
  await turn();
  expect(wallet()).toMatchObject({ leased: 0n, held: 690n });
});

test("when it closes, everything is returned", async () => {
  expect(take("first")).toBeNull();
  await leases.close();
  expect(wallet()?.leased).toBe(0n);
  expect(take("next")).toBeNull();
});

test("a request is reserved from the leases of all its budgets, or goes to the store", async () => {
  const budget = (counter: string, limit: bigint): BudgetTerm => ({
    ...{ counter, limit, isHard: true, fromMs: 0, partMs: 0, most: null },
  });
  const [wide, tight] = [budget("wide x", 1_600n), budget("tight x", 160n)];
  const within = (id: string, terms: readonly BudgetTerm[], amount = 5n) =>
    leases.take(hold(id, amount, { budgets: terms }))?.amount ?? null;
  expect(within("first", [wide, tight])).toBeNull();
  await turn();
  expect(memory.counters.get("tight x")).toMatchObject({ leased: 20n, held: 0n });
  expect(within("a", [wide, tight])).toBe(5n);
  expect(within("b", [wide, tight])).toBe(5n);
  await submit(settle("a", 4, { budgets: [wide, tight], reserved: leases.reserved("a") as never }));
  expect(memory.counters.get("tight x")).toMatchObject({ leased: 16n, spent: 4n });
  // What is left of the tight one covers no more than two.
  expect(within("c", [wide, tight])).toBe(5n);
  expect(within("d", [wide, tight])).toBe(5n);
  expect(within("e", [wide, tight])).toBeNull();
  expect(within("f", [wide])).toBe(5n);
  // A lowered budget is not taken from its old lease.
  expect(within("g", [{ ...wide, limit: 5n }])).toBeNull();
  await leases.giveBack("a");
  expect(memory.counters.get("wide x")).toMatchObject({ leased: 0n, held: 20n });
  expect(await problemsOf(memory)).toEqual([]);
});

test("a soft budget that is spent takes no request to the store, and is counted on all the same", async () => {
  const soft: BudgetTerm = { counter: "soft x", limit: 3n, isHard: false, fromMs: 0, partMs: 0, most: null };
  const hard: BudgetTerm = { ...soft, counter: "hard x", limit: 800n, isHard: true };
  const terms = [soft, hard];
  const within = (id: string) => leases.take(hold(id, 5n, { budgets: terms }));
  await memory.commit([hold("before", 5n, { budgets: terms }), settle("before", 4, { budgets: terms })], post);
  expect(within("first")).toBeNull();
  await turn();
  expect(within("a")).toEqual({ state: "held", amount: 5n, spentBudgets: ["soft x"] });
  await submit(settle("a", 4, { budgets: terms, reserved: leases.reserved("a") as never }));
  expect(memory.counters.get("soft x")).toMatchObject({ spent: 8n, held: 0n, leased: 0n });
  expect(memory.counters.get("hard x")).toMatchObject({ spent: 8n, held: 0n });
  // One that is open when the lease goes back is counted by the store.
  expect(within("b")?.state).toBe("held");
  await leases.giveBack("a");
  await submit(settle("b", 3, { budgets: terms }));
  expect(memory.counters.get("soft x")).toMatchObject({ spent: 11n, held: 0n, leased: 0n });
  expect(await problemsOf(memory)).toEqual([]);
});

test("a soft budget is asked about again, so that it may renew or be raised", async () => {
  const soft: BudgetTerm = { counter: "soft x", limit: 3n, isHard: false, fromMs: 0, partMs: 0, most: null };
  const within = (id: string, term = soft) => leases.take(hold(id, 5n, { budgets: [term] }));
  await memory.commit([hold("before", 5n, { budgets: [soft] }), settle("before", 4, { budgets: [soft] })], post);
  within("first");
  await turn();
  expect(within("a")?.spentBudgets).toEqual(["soft x"]);
  const renewed = { ...soft, limit: 3n, fromMs: 50, partMs: 50 };
  nowMs = 5_001;
  leases.alive(nowMs);
  expect(within("b", renewed)).toBeNull();
  await turn();
  expect(within("c", renewed)?.spentBudgets).toBeUndefined();
});
