// The service around the ledger: what it does when the store is away, answers late, or refuses one operation for good.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createLedger, type Ledger } from "../../../src/billing/ledger.ts";
import { createOutbox } from "../../../src/billing/outbox.ts";
import type { LedgerOp, LedgerStore } from "../../../src/core/ledger.ts";
import { StoreUnavailable } from "../../../src/core/store-errors.ts";
import { SILENT_LOG } from "../../../src/telemetry/log.ts";
import { createMemoryLedger, hold, type MemoryLedger, problemsOf, settle, topUp } from "../../support/stores/ledger.ts";

let folder: string;
let memory: MemoryLedger;
let fault: (op: LedgerOp, moment: "before" | "after") => Error | null;
let ledger: Ledger;

const AWAY = new StoreUnavailable(new Error("away"));

let deferred: number;

function open(name: string, options: { ownerSilentMs?: number; store?: Partial<LedgerStore> } = {}): Ledger {
  const own = memory.as(name);
  const store: LedgerStore = {
    ...own,
    async commit(ops, post) {
      for (const op of ops) {
        const error = fault(op, "before");
        if (error !== null) throw error;
      }
      const outcomes = await own.commit(ops, post);
      for (const op of ops) {
        const error = fault(op, "after");
        if (error !== null) throw error;
      }
      return outcomes;
    },
    ...options.store,
  };
  const outbox = createOutbox({ folder, name, log: SILENT_LOG });
  const onDeferred = (): void => void deferred++;
  return createLedger({
    store,
    owner: name,
    outbox,
    log: SILENT_LOG,
    ownerSilentMs: options.ownerSilentMs ?? 0,
    onDeferred,
  });
}

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  folder = mkdtempSync(join(tmpdir(), "switchyard-ledger-"));
  memory = createMemoryLedger();
  fault = () => null;
  deferred = 0;
  ledger = open("one");
  await ledger.start();
  await ledger.move(topUp("t", 100n));
});
afterEach(async () => {
  fault = () => null;
  await ledger.stop();
  expect(await problemsOf(memory)).toEqual([]);
  rmSync(folder, { recursive: true, force: true });
});

const untilRetried = (): Promise<unknown> => vi.advanceTimersByTimeAsync(1_000);
const wallet = () => memory.wallets.get("a");

test.each([
  ["was never sent is not released, or each request of an outage would be", true, undefined],
  ["may have been sent is released, and cannot be taken afterwards", false, "voided"],
])("a hold that %s", async (_what, isUnsent, state) => {
  const error = new StoreUnavailable(new Error("away"), { isUnsent });
  fault = (op) => (op.kind === "hold" ? error : null);
  await expect(ledger.hold(hold("h", 10n))).rejects.toBe(error);
  await untilRetried();
  await ledger.stop();
  expect(memory.holds.get("h")?.state).toBe(state);
});

test("a hold whose commit was lost on the way back is released, and the request refused", async () => {
  fault = (op, moment) => (op.kind === "hold" && moment === "after" ? AWAY : null);
  await expect(ledger.hold(hold("h", 10n))).rejects.toBe(AWAY);
  expect(wallet()?.held).toBe(10n);
  await untilRetried();
  await vi.waitFor(() => expect(wallet()?.held).toBe(0n), 60_000);
  expect(memory.holds.get("h")?.state).toBe("voided");
});

test.each(["before", "after"] as const)("a settlement that fails %s its commit is done once", async (when) => {
  await ledger.hold(hold("h", 10n));
  fault = (op, moment) => (op.kind === "settle" && moment === when ? AWAY : null);
  expect(await ledger.settle(settle("h", 7))).toEqual({ state: "deferred" });
  expect(deferred).toBe(1);
  await untilRetried();
  fault = () => null;
  await untilRetried();
  await vi.waitFor(() => expect(wallet()).toMatchObject({ posted: 93n, held: 0n }), 60_000);
});

test("releasing a hold whose settlement waits does not make it a refund", async () => {
  await ledger.hold(hold("h", 10n));
  fault = (op) => (op.kind === "settle" ? AWAY : null);
  await ledger.settle(settle("h", 7));
  await ledger.release({ holdId: "h", accountId: "a" });
  expect(memory.holds.get("h")?.state).toBe("open");
  fault = () => null;
  await untilRetried();
  await vi.waitFor(() => expect(wallet()).toMatchObject({ posted: 93n, held: 0n }), 60_000);
});

test("a settlement that cannot be booked stays, and keeps back no other", async () => {
  for (const id of ["bad", "good", "other"]) await ledger.hold(hold(id, 10n));
  fault = (op) => (op.kind === "settle" && op.holdId === "bad" ? new Error("no such thing") : null);
  expect(await ledger.settle(settle("bad", 7))).toEqual({ state: "deferred" });
  const away = fault;
  fault = (op, moment) => (op.kind === "settle" ? AWAY : away(op, moment));
  expect(await ledger.settle(settle("good", 7))).toEqual({ state: "deferred" });
  fault = away;
  await untilRetried();
  await vi.waitFor(() => expect(memory.charges.has("good")).toBe(true), 60_000);
  expect(await ledger.settle(settle("other", 7))).toMatchObject({ state: "settled" });
  expect(memory.holds.get("bad")?.state).toBe("open");
});

test("a release is tried until it is done", async () => {
  await ledger.hold(hold("h", 10n));
  fault = () => AWAY;
  await ledger.release({ holdId: "h", accountId: "a" });
  fault = () => null;
  await untilRetried();
  await vi.waitFor(() => expect(wallet()?.held).toBe(0n), 60_000);
});

test("the next process settles what the outbox kept before it releases what was left", async () => {
  await ledger.hold(hold("paid", 10n));
  await ledger.hold(hold("left", 10n));
  fault = () => AWAY;
  await ledger.settle(settle("paid", 7));
  fault = () => null;
  const next = open("two");
  await next.start();
  expect(wallet()).toMatchObject({ posted: 93n, held: 0n });
  expect(memory.holds.get("left")?.state).toBe("expired");
  await next.stop();
});

test("more orphans than one look finds are all released", async () => {
  for (let number = 0; number < 30; number += 1) await ledger.hold(hold(`h${number}`, 1n));
  const orphans: LedgerStore["orphans"] = async () => (await memory.as("two").orphans(0)).slice(0, 7);
  const next = open("two", { store: { orphans } });
  await next.start();
  expect(wallet()?.held).toBe(0n);
  await next.stop();
});

test("where others may be alive, nobody's holds are released by one that has only just come, or just come back", async () => {
  await ledger.hold(hold("h", 10n));
  let isAway = false;
  const beat = async (): Promise<void> => {
    if (isAway) throw AWAY;
  };
  const clock = vi.spyOn(performance, "now");
  clock.mockReturnValue(0);
  const other = open("two", { ownerSilentMs: 60_000, store: { beat } });
  await other.start();
  const beatAt = async (ms: number): Promise<void> => {
    clock.mockReturnValue(ms);
    await vi.advanceTimersByTimeAsync(5_000);
  };
  await beatAt(59_000);
  isAway = true;
  await beatAt(64_000);
  isAway = false;
  await beatAt(70_000);
  await beatAt(129_000);
  expect(memory.holds.get("h")?.state).toBe("open");
  await beatAt(131_000);
  await vi.waitFor(() => expect(memory.holds.get("h")?.state).toBe("expired"), 60_000);
  clock.mockRestore();
  await other.stop();
});

test("a store that hangs: requests are refused in time, answers go on, and all is booked once when it is back", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval"] });
  try {
    await ledger.hold(hold("running", 10n));
    let goOn = (): void => undefined;
    const hanging = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const own = memory.as("hung");
    const commit = vi.fn<LedgerStore["commit"]>((ops, post) => hanging.then(() => own.commit(ops, post)));
    const hung = open("hung", { store: { ...own, commit } });
    const asked = Promise.allSettled([
      hung.hold(hold("late", 20n)),
      hung.settle(settle("running", 7)),
      hung.release({ holdId: "nothing", accountId: "a" }),
    ]);
    await vi.waitFor(() => expect(commit).toHaveBeenCalled(), 60_000);
    await vi.advanceTimersByTimeAsync(10_000);
    const [held, settled, released] = await asked;
    expect(held).toMatchObject({ status: "rejected", reason: expect.any(StoreUnavailable) });
    await expect(hung.hold(hold("later", 20n))).rejects.toMatchObject({ isUnsent: true });
    expect(settled).toMatchObject({ status: "fulfilled", value: { state: "deferred" } });
    expect(released).toMatchObject({ status: "fulfilled" });
    goOn();
    await hung.stop();
    expect(wallet()).toMatchObject({ posted: 93n, held: 0n });
    expect(memory.holds.get("late")?.state).toBe("voided");
  } finally {
    vi.useRealTimers();
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  }
});
