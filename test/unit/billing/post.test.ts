// The ledger as a state machine: laws over random histories, and the cases that matter each by itself.

import { describe, expect, test } from "vitest";
import { createBatcher } from "../../../src/billing/batcher.ts";
import { BALANCE_MAX } from "../../../src/billing/draft.ts";
import { batchesOf } from "../../../src/billing/ledger.ts";
import type { LedgerOp, LedgerOutcome } from "../../../src/core/ledger.ts";
import { fc } from "../../support/property.ts";
import {
  createMemoryLedger,
  hold,
  type MemoryLedger,
  problemsOf,
  release,
  runEach,
  settle,
  topUp,
} from "../../support/stores/ledger.ts";
import { history, SCALE } from "../../support/stores/ledger-history.ts";

async function play(...ops: LedgerOp[]): Promise<{ ledger: MemoryLedger; last: LedgerOutcome | null }> {
  const ledger = createMemoryLedger();
  const outcomes = await runEach(ledger, ops);
  return { ledger, last: outcomes.at(-1) ?? null };
}

function contents({ wallets, holds, keySpends, transactions, charges }: MemoryLedger): unknown {
  return structuredClone([wallets, holds, keySpends, transactions, charges]);
}

const DONE = new Set(["held", "settled", "voided", "moved", "already-moved"]);

describe("laws", () => {
  test("after every step: nothing below zero, held is what is open, entries sum to zero, chains and charges fit", async () => {
    await fc.assert(
      fc.asyncProperty(history, async (ops) => {
        const ledger = createMemoryLedger();
        for (const op of ops) {
          await runEach(ledger, [op]);
          expect(await problemsOf(ledger)).toEqual([]);
        }
      }),
      { numRuns: 150 * SCALE },
    );
  });

  test("an operation that is repeated changes nothing", async () => {
    await fc.assert(
      fc.asyncProperty(history, async (ops) => {
        const ledger = createMemoryLedger();
        const outcomes = await runEach(ledger, ops);
        const before = contents(ledger);
        // What was refused, or had no hold yet, may be done when it is tried again; what was done is not done twice.
        const done = ops.filter((_, index) => DONE.has(outcomes[index]?.state ?? ""));
        await runEach(ledger, done);
        expect(contents(ledger)).toEqual(before);
      }),
      { numRuns: 150 * SCALE },
    );
  });

  test("a batch does what its operations do one after the other, and one that is bad spoils no other", async () => {
    await fc.assert(
      fc.asyncProperty(history, async (ops) => {
        const [single, batched] = [createMemoryLedger(), createMemoryLedger()];
        const expected = await runEach(single, ops);
        const batcher = createBatcher(batchesOf(batched));
        const outcomes = await Promise.all(ops.map((op) => batcher.submit(op).catch(() => null)));
        expect(outcomes).toEqual(expected);
        expect([...batched.wallets]).toEqual([...single.wallets]);
        expect([...batched.holds.values()]).toEqual([...single.holds.values()]);
      }),
      { numRuns: 150 * SCALE },
    );
  });

  test("money is neither made nor lost: what came in is there, or was paid for a charge", async () => {
    await fc.assert(
      fc.asyncProperty(history, async (ops) => {
        const ledger = createMemoryLedger();
        await runEach(ledger, ops);
        for (const { accountId, posted } of ledger.wallets.values()) {
          const own = [...ledger.transactions.values()].filter((one) => one.accountId === accountId);
          const moved = own.filter(({ kind }) => kind !== "charge").flatMap(({ entries }) => entries);
          const movedIn = moved.reduce((sum, { book, amount }) => sum + (book === "wallet" ? amount : 0n), 0n);
          const charges = [...ledger.charges.values()].filter((one) => one.accountId === accountId);
          expect(posted).toBe(movedIn - charges.reduce((sum, { paid }) => sum + paid, 0n));
          expect(charges.every(({ charge, paid, absorbed }) => paid + absorbed === charge && absorbed >= 0n)).toBe(
            true,
          );
        }
      }),
      { numRuns: 100 * SCALE },
    );
  });
});

describe("holds", () => {
  test.each([
    ["the first amount that fits is held", [100n, 60n, 40n], null, { state: "held", amount: 60n }],
    ["less than all of them when that will do", [100n, 90n], 70n, { state: "held", amount: 80n }],
    ["not less than the least", [100n], 81n, { state: "refused", reason: "insufficient", available: 80n }],
    ["exactly what is there", [80n], null, { state: "held", amount: 80n }],
    ["nothing, where nothing is asked for", [0n], null, { state: "held", amount: 0n }],
  ])("%s", async (_, amounts, atLeast, outcome) => {
    const { last } = await play(topUp("t", 80n), hold("h", 0n, { amounts, atLeast }));
    expect(last).toEqual(outcome);
  });

  test("an empty wallet holds nothing, not even nothing; nor does one that was never made", async () => {
    const { last } = await play(hold("h", 0n));
    expect(last).toEqual({ state: "refused", reason: "insufficient", available: 0n });
    const { ledger } = await play(topUp("t", 5n), hold("h", 5n), hold("i", 0n));
    expect([...ledger.holds.keys()]).toEqual(["h"]);
  });

  test("credits that others hold are on hold, not insufficient", async () => {
    const { last } = await play(topUp("t", 10n), hold("h", 8n), hold("i", 5n));
    expect(last).toEqual({ state: "refused", reason: "on-hold", available: 2n });
    const { last: tooMuch } = await play(topUp("t", 10n), hold("h", 8n), hold("i", 50n));
    expect(tooMuch).toMatchObject({ reason: "insufficient" });
  });

  test("an id that was used for another hold is refused without a second hold", async () => {
    const used = [topUp("t", 10n), hold("h", 4n), release("h"), hold("h", 4n)] as const;
    const { ledger, last } = await play(...used);
    expect(last).toBeNull();
    expect(ledger.wallets.get("a")?.held).toBe(0n);
    const { last: ofAnother } = await play(
      topUp("t", 9n),
      topUp("u", 9n, "b"),
      hold("h", 4n),
      hold("h", 4n, { accountId: "b" }),
    );
    expect(ofAnother).toBeNull();
  });
});

describe("spend limits", () => {
  const limited = { spendLimit: 10n };

  test("what a key has spent and holds counts against its limit", async () => {
    const start = [topUp("t", 100n), hold("h", 6n, limited)];
    expect((await play(...start, hold("i", 5n, limited))).last).toEqual({
      state: "refused",
      reason: "spend-limit",
      available: 4n,
    });
    expect((await play(...start, hold("i", 4n, limited))).last).toMatchObject({ state: "held" });
    expect((await play(...start, settle("h", 2), hold("i", 8n, limited))).last).toMatchObject({ state: "held" });
    expect((await play(...start, release("h"), hold("i", 10n, limited))).last).toMatchObject({ state: "held" });
  });

  test("another key of the account is not bound by it", async () => {
    const { last } = await play(topUp("t", 100n), hold("h", 10n, limited), hold("i", 50n, { keyId: "other" }));
    expect(last).toMatchObject({ state: "held" });
  });
});

describe("metered", () => {
  const metered = { isMetered: true };

  test("a hold reserves nothing, and the charge is covered by a grant before it", async () => {
    const { ledger, last } = await play(hold("h", 50n, metered), settle("h", 70));
    expect(last).toEqual({ state: "settled", paid: 70n, absorbed: 0n });
    expect(ledger.wallets.get("a")).toMatchObject({ posted: 0n, held: 0n, sequence: 2 });
    const booked = [...ledger.transactions.values()];
    expect(booked.map(({ id, kind, balanceAfter }) => [id, kind, balanceAfter])).toEqual([
      ["grant:h", "grant", 70n],
      ["charge:h", "charge", 0n],
    ]);
    expect(await problemsOf(ledger)).toEqual([]);
  });

  test("a balance and what prepaid requests hold of it stay as they are", async () => {
    const { ledger } = await play(topUp("t", 10n), hold("p", 10n), hold("h", 50n, metered), settle("h", 70));
    expect(ledger.wallets.get("a")).toMatchObject({ posted: 10n, held: 10n });
    expect(await problemsOf(ledger)).toEqual([]);
  });

  test("a request keeps the mode it began with", async () => {
    const { ledger, last } = await play(topUp("t", 10n), hold("h", 4n), hold("m", 90n, metered), settle("h", 6));
    expect(last).toMatchObject({ paid: 6n });
    expect(ledger.wallets.get("a")).toMatchObject({ posted: 4n, held: 0n });
  });

  test("the key's own spend limit still counts what is held and spent", async () => {
    const limited = { isMetered: true, spendLimit: 10n };
    const start = [hold("h", 6n, limited)];
    expect((await play(...start, hold("i", 5n, limited))).last).toMatchObject({ reason: "spend-limit", available: 4n });
    const { ledger, last } = await play(...start, settle("h", 3), hold("i", 7n, limited));
    expect(last).toMatchObject({ state: "held" });
    expect(await problemsOf(ledger)).toEqual([]);
  });

  test("a released or expired hold grants nothing; a late charge is still covered once", async () => {
    expect((await play(hold("h", 6n, metered), release("h"))).ledger.transactions.size).toBe(0);
    const late = [hold("h", 6n, metered), release("h", { isExpiry: true }), settle("h", 5), settle("h", 5)];
    const { ledger, last } = await play(...late);
    expect(last).toEqual({ state: "already-resolved" });
    expect(ledger.wallets.get("a")).toMatchObject({ posted: 0n, held: 0n, sequence: 2 });
  });

  test("a charge of nothing needs no grant, and an unknown account gets no hold", async () => {
    expect((await play(hold("h", 6n, metered), settle("h", 0))).ledger.transactions.size).toBe(1);
    const { last } = await play(hold("h", 6n, { ...metered, accountId: "nobody" }));
    expect(last).toMatchObject({ state: "refused" });
  });
});

describe("settling", () => {
  test.each([
    ["less than the hold: the rest returns", 50n, 20, { paid: 20n, absorbed: 0n }, 80n],
    ["more than the hold: from what is free", 50n, 70, { paid: 70n, absorbed: 0n }, 30n],
    ["more than there is: the rest is absorbed", 50n, 130, { paid: 100n, absorbed: 30n }, 0n],
    ["nothing", 50n, 0, { paid: 0n, absorbed: 0n }, 100n],
  ])("%s", async (_, amount, tokens, paid, posted) => {
    const { ledger, last } = await play(topUp("t", 100n), hold("h", amount), settle("h", tokens));
    expect(last).toEqual({ state: "settled", ...paid });
    expect(ledger.wallets.get("a")).toMatchObject({ posted, held: 0n });
    expect(await problemsOf(ledger)).toEqual([]);
  });

  test("what others hold is not touched, however much an answer cost", async () => {
    const { ledger, last } = await play(topUp("t", 100n), hold("h", 10n), hold("i", 60n), settle("h", 90));
    expect(last).toEqual({ state: "settled", paid: 40n, absorbed: 50n });
    expect(ledger.wallets.get("a")).toMatchObject({ posted: 60n, held: 60n });
  });

  test("a hold that expired can still be charged, once; one that was given back cannot", async () => {
    const start = [topUp("t", 100n), hold("h", 10n)];
    expect((await play(...start, release("h", { isExpiry: true }), settle("h", 7))).last).toMatchObject({ paid: 7n });
    const twice = await play(...start, release("h", { isExpiry: true }), settle("h", 7), settle("h", 7));
    expect(twice.last).toEqual({ state: "already-resolved" });
    expect(twice.ledger.wallets.get("a")?.posted).toBe(93n);
    expect((await play(...start, release("h"), settle("h", 7))).last).toEqual({ state: "already-resolved" });
    expect((await play(...start, settle("h", 7), release("h"))).last).toEqual({ state: "already-resolved" });
    expect((await play(settle("nothing", 7))).last).toEqual({ state: "already-resolved" });
  });

  test("a charge below zero or beyond every balance is refused and changes nothing", async () => {
    for (const charge of [-1n, BALANCE_MAX + 1n]) {
      const { ledger, last } = await play(topUp("t", 100n), hold("h", 10n), settle("h", 1, { charge }));
      expect(last).toBeNull();
      expect(ledger.wallets.get("a")).toMatchObject({ posted: 100n, held: 10n });
    }
  });

  test("a settlement under the name of another account moves nothing", async () => {
    const { ledger } = await play(
      topUp("t", 10n),
      topUp("u", 10n, "b"),
      hold("h", 5n),
      settle("h", 5, { accountId: "b" }),
    );
    expect(ledger.wallets.get("b")?.posted).toBe(10n);
    expect(await problemsOf(ledger)).toEqual([]);
  });
});

describe("leases", () => {
  const me = { owner: "me", accountId: "a" };
  const lease = (atLeast: bigint, epoch: number | null = null): LedgerOp => ({ kind: "lease", ...me, atLeast, epoch });
  const giveBack = (...amounts: readonly bigint[]): LedgerOp => {
    const holds = amounts.map((amount, index) => ({ id: `own-${index}`, keyId: "key", amount }));
    return { kind: "return", ...me, holds, isExpiry: false };
  };
  const reserved = { owner: "me", keyId: "key", amount: 10n, isMetered: false, isFresh: true };

  test("an eighth of what is available is set aside, and no longer available", async () => {
    const { ledger, last } = await play(topUp("t", 800n), lease(100n));
    expect(last).toEqual({ state: "leased", amount: 100n, epoch: 0 });
    expect(ledger.wallets.get("a")).toMatchObject({ posted: 800n, held: 0n, leased: 100n });
    expect(await runEach(ledger, [hold("h", 701n)])).toMatchObject([{ state: "refused", reason: "on-hold" }]);
    expect(await runEach(ledger, [hold("h", 700n)])).toMatchObject([{ state: "held" }]);
  });

  test("a wallet with too little is not leased from", async () => {
    const { ledger, last } = await play(topUp("t", 799n), lease(100n));
    expect(last).toEqual({ state: "refused", reason: "scarce", epoch: 0 });
    expect(ledger.wallets.get("a")).toMatchObject({ leased: 0n });
    expect((await play(lease(0n))).last).toMatchObject({ state: "refused", reason: "scarce" });
  });

  test("a lease is filled up again, and never beyond its share", async () => {
    const settled = settle("h", 10, { reserved });
    const { ledger, last } = await play(topUp("t", 800n), lease(1n), settled, lease(1n), lease(1n));
    expect(last).toMatchObject({ state: "leased", amount: 98n });
    expect(ledger.wallets.get("a")).toMatchObject({ posted: 790n, leased: 98n });
  });

  test("a charge is paid from the lease; what goes beyond the reservation from the balance", async () => {
    const { ledger, last } = await play(topUp("t", 80n), lease(1n), settle("h", 15, { reserved }));
    expect(last).toEqual({ state: "settled", paid: 15n, absorbed: 0n, lease: { left: 0n, available: 65n, epoch: 0 } });
    expect(ledger.wallets.get("a")).toMatchObject({ posted: 65n, held: 0n, leased: 0n });
    // The charge is all that is written of it.
    expect(ledger.holds.has("h")).toBe(false);
    expect(ledger.charges.get("h")).toMatchObject({ isReserved: true, paid: 15n });
    expect(await problemsOf(ledger)).toEqual([]);
  });

  test("a charge after its lease is lost is paid like that of an expired hold", async () => {
    const lost = [topUp("t", 80n), lease(1n), giveBack(), hold("other", 78n)];
    const { ledger, last } = await play(...lost, settle("h", 5, { reserved }));
    expect(last).toEqual({ state: "settled", paid: 2n, absorbed: 3n, lease: { left: 0n, available: 0n, epoch: 0 } });
    expect(await problemsOf(ledger)).toEqual([]);
  });

  test("what leases could cover is refused as that, once it may be", async () => {
    const { ledger } = await play(topUp("t", 800n), lease(100n));
    const mayRecall = { mayRecall: true };
    expect(await runEach(ledger, [hold("h", 750n, mayRecall)])).toMatchObject([{ reason: "leased" }]);
    expect(await runEach(ledger, [hold("h", 750n, { ...mayRecall, amounts: [750n, 5n] })])).toMatchObject([
      { reason: "leased" },
    ]);
    expect(await runEach(ledger, [hold("h", 801n, mayRecall)])).toMatchObject([{ reason: "insufficient" }]);
    const taking = { ...topUp("m", -750n), transactionKind: "adjustment" as const };
    expect(await runEach(ledger, [{ ...taking, ...mayRecall }, taking])).toMatchObject([
      { reason: "leased" },
      { reason: "insufficient" },
    ]);
    expect(await runEach(ledger, [giveBack(), { ...taking, ...mayRecall }])).toMatchObject([
      { state: "returned" },
      { state: "moved" },
    ]);
  });

  test("a lease that is wanted back is told so, and none is given to who has not heard of it", async () => {
    const wanted = hold("h", 750n, { mayRecall: true });
    const { ledger, last } = await play(topUp("t", 800n), lease(100n), wanted, settle("own", 5, { reserved }));
    expect(last).toMatchObject({ state: "settled", lease: { left: 95n, epoch: 1 } });
    expect(await runEach(ledger, [lease(0n, 0), lease(0n, 1)])).toMatchObject([
      { state: "refused", reason: "recalled", epoch: 1 },
      { state: "leased", epoch: 1 },
    ]);
    expect(await runEach(ledger, [giveBack(), wanted])).toMatchObject([{ state: "returned" }, { state: "held" }]);
  });

  test("what is reserved when a lease ends is on hold, once", async () => {
    const { ledger } = await play(topUp("t", 800n), lease(100n), giveBack(10n, 20n), giveBack(10n, 20n));
    expect(ledger.wallets.get("a")).toMatchObject({ held: 30n, leased: 0n });
    expect(await runEach(ledger, [settle("own-0", 4, { reserved }), release("own-1")])).toMatchObject([
      { state: "settled", paid: 4n },
      { state: "voided" },
    ]);
    expect(await runEach(ledger, [giveBack(10n, 20n)])).toMatchObject([{ state: "returned" }]);
    expect(ledger.wallets.get("a")).toMatchObject({ posted: 796n, held: 0n, leased: 0n });
    expect(await problemsOf(ledger)).toEqual([]);
  });

  test("what is reserved from a lost lease is on hold as far as the balance goes; the rest can still be charged", async () => {
    const lost = [topUp("t", 80n), lease(1n), giveBack(), hold("other", 65n)];
    const { ledger } = await play(...lost, giveBack(10n, 6n));
    expect(ledger.wallets.get("a")).toMatchObject({ held: 75n });
    expect(ledger.holds.get("own-1")).toMatchObject({ state: "expired" });
    expect(await runEach(ledger, [settle("own-1", 6), settle("own-0", 6)])).toMatchObject([
      { state: "settled", paid: 5n, absorbed: 1n },
      { state: "settled", paid: 6n, absorbed: 0n },
    ]);
    expect(await problemsOf(ledger)).toEqual([]);
  });
});

describe("moves", () => {
  test.each([
    ["up to the largest balance", [topUp("t", BALANCE_MAX)], "moved"],
    ["not above it", [topUp("t", BALANCE_MAX), topUp("u", 1n)], "too-large"],
    ["the same twice is once", [topUp("t", 5n), topUp("t", 5n)], "already-moved"],
    ["the same id with another amount", [topUp("t", 5n), topUp("t", 6n)], "other-amount"],
    ["taking what is there", [topUp("t", 5n), topUp("u", -5n)], "moved"],
    ["not what is on hold", [topUp("t", 5n), hold("h", 1n), topUp("u", -5n)], "insufficient"],
    ["not to an account that is not there", [topUp("t", 5n, "nobody")], "no-account"],
  ])("%s", async (_, ops, outcome) => {
    const { ledger, last } = await play(...(ops as LedgerOp[]));
    expect(last?.state === "refused" && "reason" in last ? last.reason : last?.state).toBe(outcome);
    expect(await problemsOf(ledger)).toEqual([]);
  });
});
