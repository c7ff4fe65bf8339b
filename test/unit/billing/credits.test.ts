// Top-ups and adjustments: decimal text in, each once under its key, refusals that say what is wrong.

import { expect, test } from "vitest";
import { createCredits, type Movement } from "../../../src/billing/credits.ts";
import { createLedger } from "../../../src/billing/ledger.ts";
import { NO_OUTBOX } from "../../../src/billing/outbox.ts";
import type { GatewayError } from "../../../src/core/errors.ts";
import { SILENT_LOG } from "../../../src/telemetry/log.ts";
import { createMemoryLedger } from "../../support/stores/ledger.ts";

function setUp() {
  const store = createMemoryLedger();
  const ledger = createLedger({ store, owner: "me", outbox: NO_OUTBOX, log: SILENT_LOG, ownerSilentMs: 0 });
  return createCredits(ledger, {
    list: () => Promise.resolve([]),
    months: () => Promise.resolve([]),
    days: () => Promise.resolve([]),
  });
}

const movement = (amountUsd: string, changes: Partial<Movement> = {}): Movement => ({
  accountId: "a",
  amountUsd,
  note: null,
  actor: null,
  idempotencyKey: null,
  ...changes,
});

test.each([
  ["25", 25_000_000_000n],
  ["0.50", 500_000_000n],
  ["0.000000001", 1n],
  ["1000000", 1_000_000_000_000_000n],
  ["00012.5", 12_500_000_000n],
])("%s USD is taken exactly", async (amountUsd, amount) => {
  const { balanceAfter } = await setUp().topUp(movement(amountUsd));
  expect(balanceAfter).toBe(amount);
});

test.each([
  "0",
  "0.0",
  "",
  " 1",
  "1 ",
  "-1",
  "+1",
  "1e3",
  "1,5",
  ".5",
  "5.",
  "0.0000000001",
  "1000000.000000001",
  "9999999999999",
  "NaN",
  "Infinity",
  "0x10",
  "1_000",
  "１",
  "$5",
])("'%s' is no amount", async (amountUsd) => {
  const credits = setUp();
  await expect(credits.topUp(movement(amountUsd))).rejects.toMatchObject({ details: { code: "invalid_amount" } });
  expect((await credits.balance("a")).posted).toBe(0n);
});

test("an adjustment goes either way, but not below what is available", async () => {
  const credits = setUp();
  await credits.topUp(movement("10"));
  expect((await credits.adjust(movement("-4"))).balanceAfter).toBe(6_000_000_000n);
  expect((await credits.adjust(movement("1.5"))).balanceAfter).toBe(7_500_000_000n);
  await expect(credits.adjust(movement("-7.500000001"))).rejects.toMatchObject({ details: { code: "amount_refused" } });
  await expect(credits.adjust(movement("--1"))).rejects.toMatchObject({ details: { code: "invalid_amount" } });
});

test("one key moves money once, for each kind and account by itself", async () => {
  const credits = setUp();
  const keyed = movement("5", { idempotencyKey: "k" });
  const [first, again] = await Promise.all([credits.topUp(keyed), credits.topUp(keyed)]);
  expect(again).toEqual(first);
  await credits.adjust(keyed);
  await credits.topUp({ ...keyed, accountId: "b" });
  expect((await credits.balance("a")).posted).toBe(10_000_000_000n);
  expect((await credits.balance("b")).posted).toBe(5_000_000_000n);
  await expect(credits.topUp({ ...keyed, amountUsd: "6" })).rejects.toMatchObject({
    details: { code: "idempotency_key_reused" },
  });
});

test("without a key every top-up counts; the balance has an upper end; an account must exist", async () => {
  const credits = setUp();
  await credits.topUp(movement("1"));
  await credits.topUp(movement("1"));
  expect((await credits.balance("a")).posted).toBe(2_000_000_000n);
  const refused = await credits.topUp(movement("1", { accountId: "nobody" })).catch((error: GatewayError) => error);
  expect(refused).toMatchObject({ kind: "notFound" });
});
