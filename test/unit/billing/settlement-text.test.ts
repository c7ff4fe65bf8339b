// Settlements as text: the primary process reads what the worker wrote, whatever its values.

import { describe, expect, test } from "vitest";
import { createOpReader, createOpWriter, readOutcome, writeOutcome } from "../../../src/billing/settlement-text.ts";
import type { LedgerOp, LedgerOutcome, SettleOp } from "../../../src/core/ledger.ts";
import { fc } from "../../support/property.ts";

const amount = fc.bigInt({ min: 0n, max: 10n ** 18n });
const name = fc.string({ unit: "grapheme" });
const count = fc.nat();
const cached = fc.option(count);

const settle: fc.Arbitrary<SettleOp> = fc.record({
  kind: fc.constant("settle" as const),
  holdId: name,
  accountId: name,
  charge: amount,
  usage: fc.record({
    requestId: name,
    model: name,
    provider: name,
    buckets: fc.record({ input: count, cacheRead: count, cacheWrite: count, output: count }),
    isEstimated: fc.boolean(),
    price: fc.record({ input: count, output: count, cacheRead: cached, cacheWrite: cached }),
    markupPpm: count,
    outcome: fc.constantFrom("complete" as const, "client-gone" as const),
  }),
  periodStartMs: count,
  answer: fc.constant(null),
  reserved: fc.record({ owner: name, keyId: name, amount, isMetered: fc.boolean(), isFresh: fc.boolean() }),
});

describe("a settlement as text", () => {
  test("is read as it was written", () => {
    const write = createOpWriter();
    const read = createOpReader();
    fc.assert(
      fc.property(settle, (op) => {
        const sent = write(op);
        expect(sent).toBeTypeOf("string");
        expect(read(sent)).toEqual(op);
      }),
    );
  });

  test("has one price object for each price, so that what is made of it is remembered", () => {
    const write = createOpWriter();
    const read = createOpReader();
    const [op] = fc.sample(settle, 1) as [SettleOp];
    const [first, second] = [op, { ...op, holdId: "other" }].map((one) => read(write(one)) as SettleOp);
    expect(first?.usage.price).toBe(second?.usage.price);
  });

  test("leaves every other operation as it is", () => {
    const write = createOpWriter();
    const [{ reserved, ...stored }] = fc.sample(settle, 1) as [SettleOp];
    const answer = { idempotencyId: "i", contentType: "application/json", text: "{}" };
    const others: readonly LedgerOp[] = [
      stored,
      { ...stored, ...(reserved === undefined ? {} : { reserved }), answer },
      { kind: "void", holdId: "h", accountId: "a", isExpiry: false },
    ];
    for (const op of others) {
      expect(write(op)).toBe(op);
      expect(createOpReader()(op)).toBe(op);
    }
  });
});

describe("what it came to", () => {
  test("is read as it was written", () => {
    const lease = fc.record({ left: amount, available: amount, epoch: count });
    const settled = fc.record({ state: fc.constant("settled" as const), paid: amount, absorbed: amount, lease });
    fc.assert(
      fc.property(settled, (outcome) => {
        expect(readOutcome(writeOutcome(outcome))).toEqual(outcome);
      }),
    );
  });

  test("stays as it is without a lease", () => {
    const others: readonly LedgerOutcome[] = [
      { state: "settled", paid: 1n, absorbed: 0n },
      { state: "already-resolved" },
    ];
    for (const outcome of others) expect(readOutcome(writeOutcome(outcome))).toBe(outcome);
  });
});
