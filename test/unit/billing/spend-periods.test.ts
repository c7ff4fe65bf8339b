// A spend limit that resets: what is charged within one period never exceeds it, whatever is held across its start.

import { describe, expect, test } from "vitest";
import { post } from "../../../src/billing/post.ts";
import type { LedgerOp, LedgerOutcome } from "../../../src/core/ledger.ts";
import { fc } from "../../support/property.ts";
import { createMemoryLedger, hold, problemsOf, release, runEach, settle, topUp } from "../../support/stores/ledger.ts";

const DAY_1 = 1_000;
const DAY_2 = 2_000;
const limitedOn = (periodStartMs: number) => ({ spendLimit: 10n, keyId: "k", periodStartMs });

async function play(...ops: readonly LedgerOp[]) {
  const ledger = createMemoryLedger();
  const outcomes = await runEach(ledger, [topUp("t", 1_000n), ...ops]);
  return { ledger, last: outcomes.at(-1) as LedgerOutcome };
}

describe("a period", () => {
  test("that is used up refuses, and the next one grants again", async () => {
    const spent = [hold("h", 10n, limitedOn(DAY_1)), settle("h", 10, { periodStartMs: DAY_1 })];
    const refused = { state: "refused", reason: "spend-limit", available: 0n };
    expect((await play(...spent, hold("i", 1n, limitedOn(DAY_1)))).last).toEqual(refused);
    const { ledger, last } = await play(...spent, hold("i", 10n, limitedOn(DAY_2)));
    expect(last).toEqual({ state: "held", amount: 10n });
    expect(ledger.keySpends.get("k")).toEqual({
      ...{ keyId: "k", spent: 10n, held: 10n },
      ...{ periodStartMs: DAY_2, spentBefore: 10n },
    });
    expect(await problemsOf(ledger)).toEqual([]);
  });

  test("has what was held before it and is charged in it", async () => {
    const across = [hold("h", 10n, limitedOn(DAY_1)), settle("h", 7, { periodStartMs: DAY_2 })];
    expect((await play(...across, hold("i", 4n, limitedOn(DAY_2)))).last).toMatchObject({ available: 3n });
    expect((await play(...across, hold("i", 3n, limitedOn(DAY_2)))).last).toMatchObject({ state: "held" });
    const stillHeld = [hold("h", 6n, limitedOn(DAY_1)), hold("i", 5n, limitedOn(DAY_2))];
    expect((await play(...stillHeld)).last).toMatchObject({ reason: "spend-limit", available: 4n });
    expect((await play(...stillHeld, release("h"), hold("i", 5n, limitedOn(DAY_2)))).last).toMatchObject({
      state: "held",
    });
  });

  test("does not begin again for a process whose clock is behind", async () => {
    const { last } = await play(
      hold("h", 10n, limitedOn(DAY_2)),
      settle("h", 10, { periodStartMs: DAY_2 }),
      hold("i", 1n, limitedOn(DAY_1)),
      hold("j", 1n, limitedOn(DAY_2)),
    );
    expect(last).toMatchObject({ reason: "spend-limit", available: 0n });
  });

  test("goes on where an operation does not say which it is in, as those kept by the version before", async () => {
    const { ledger } = await play(
      hold("h", 10n, limitedOn(DAY_1)),
      settle("h", 6, { periodStartMs: undefined as unknown as number }),
      hold("i", 4n, { spendLimit: 10n, keyId: "k" }),
    );
    expect(ledger.keySpends.get("k")).toMatchObject({ spent: 6n, held: 4n, periodStartMs: DAY_1, spentBefore: 0n });
  });

  test("nothing begins with a refusal", async () => {
    const { ledger, last } = await play(
      hold("h", 10n, limitedOn(DAY_1)),
      settle("h", 10, { periodStartMs: DAY_1 }),
      hold("i", 11n, limitedOn(DAY_2)),
    );
    expect(last).toMatchObject({ reason: "spend-limit", available: 10n });
    expect(ledger.keySpends.get("k")?.periodStartMs).toBe(DAY_1);
  });
});

const step = fc.record({
  kind: fc.constantFrom("hold", "hold", "settle", "release", "next-day"),
  number: fc.nat(11),
  amount: fc.integer({ min: 0, max: 9 }),
  /** Clocks differ a little: around midnight an operation may still name the day before. */
  isBehind: fc.boolean(),
});

test("in whatever order things happen, no period is charged more than its limit", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const ledger = createMemoryLedger();
      await ledger.commit([topUp("t", 1_000_000n)], post);
      const charged = new Map<number, bigint>();
      let day = DAY_1;
      for (const { kind, number, amount, isBehind } of steps) {
        if (kind === "next-day") day += 1_000;
        const periodStartMs = isBehind ? day - 1_000 : day;
        const id = `h${number}`;
        const held = ledger.holds.get(id);
        if (kind === "hold" && held === undefined)
          await ledger.commit([hold(id, BigInt(amount), limitedOn(periodStartMs))], post);
        if (held?.state !== "open") continue;
        if (kind === "release") await ledger.commit([release(id)], post);
        if (kind !== "settle") continue;
        const charge = Math.min(amount, Number(held.amount));
        await ledger.commit([settle(id, charge, { periodStartMs })], post);
        const counted = ledger.keySpends.get("k")?.periodStartMs as number;
        charged.set(counted, (charged.get(counted) ?? 0n) + BigInt(charge));
      }
      for (const sum of charged.values()) expect(sum <= 10n).toBe(true);
      expect(await problemsOf(ledger)).toEqual([]);
    }),
  );
});
