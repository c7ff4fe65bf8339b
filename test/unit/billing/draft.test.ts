// The hash chain: whatever is changed in a transaction or its charge gives another hash.

import { expect, test } from "vitest";
import { transactionHash } from "../../../src/billing/draft.ts";
import type { Charge, Transaction } from "../../../src/core/ledger.ts";
import type { ChargedLine } from "../../../src/core/money.ts";
import { usageOf } from "../../support/stores/ledger.ts";

const TRANSACTION: Omit<Transaction, "hash"> = {
  id: "charge:h",
  kind: "charge",
  accountId: "a",
  sequence: 3,
  entries: [
    { book: "wallet", amount: -7n },
    { book: "absorbed", amount: 0n },
    { book: "revenue", amount: 7n },
  ],
  balanceAfter: 93n,
  holdId: "h",
  note: null,
  actor: null,
};
const CHARGE: Charge = {
  holdId: "h",
  accountId: "a",
  keyId: "key",
  usage: usageOf(7),
  charge: 7n,
  paid: 7n,
  absorbed: 0n,
  isReserved: false,
};

const hashOf = (changes: Partial<Transaction> = {}, charge: Charge | null = CHARGE, previous = "previous"): string =>
  transactionHash({ ...TRANSACTION, ...changes }, charge, previous);

test("the order of the entries, and entries of nothing, do not matter", () => {
  const [wallet, , revenue] = TRANSACTION.entries;
  expect(hashOf({ entries: [revenue!, wallet!] })).toBe(hashOf());
});

test("who did it is not in it, so that the version before finds the chain whole", () => {
  expect(hashOf({ actor: "ada@example.com" })).toBe(hashOf());
});

test("a charge without lines has the hash that version 0.1.0 gave it", () => {
  expect(hashOf()).toBe("0aad38985e96d3a35a833ac5b6b1dc7dd94a50065626ecb10988235c21ce5656");
});

test("every field counts", () => {
  const { usage } = CHARGE;
  const changed = [
    hashOf({ id: "charge:i" }),
    hashOf({ kind: "adjustment" }),
    hashOf({ accountId: "b" }),
    hashOf({ sequence: 4 }),
    hashOf({ balanceAfter: 94n }),
    hashOf({ holdId: null }),
    hashOf({ note: "" }),
    hashOf({ entries: [{ book: "wallet", amount: -8n }, ...TRANSACTION.entries.slice(1)] }),
    hashOf({ entries: [{ book: "clearing", amount: -7n }, ...TRANSACTION.entries.slice(1)] }),
    hashOf({ entries: [...TRANSACTION.entries, { book: "other" as "wallet", amount: 1n }] }),
    hashOf({}, null),
    hashOf({}, CHARGE, "another"),
    hashOf({}, { ...CHARGE, keyId: "other" }),
    hashOf({}, { ...CHARGE, charge: 8n }),
    hashOf({}, { ...CHARGE, paid: 8n }),
    hashOf({}, { ...CHARGE, absorbed: 8n }),
    ...[
      { requestId: "other" },
      { model: "other" },
      { provider: "other" },
      { isEstimated: true },
      { outcome: "client-gone" as const },
      { markupPpm: 1 },
      { price: { ...usage.price, cacheRead: null } },
      { price: { ...usage.price, input: 1 } },
      { price: { ...usage.price, output: 1 } },
      { price: { ...usage.price, cacheWrite: 1 } },
      ...[
        { unit: "search", count: 1, rate: 2 },
        { unit: "search", count: 2, rate: 2 },
        { unit: "search", count: 1, rate: 3 },
        { unit: "request", count: 1, rate: 2 },
      ].map((line) => ({ price: { ...usage.price, lines: [line as ChargedLine] } })),
      { buckets: { ...usage.buckets, input: 8 } },
      { buckets: { ...usage.buckets, cacheRead: 1 } },
      { buckets: { ...usage.buckets, cacheWrite: 1 } },
      { buckets: { ...usage.buckets, output: 1 } },
    ].map((change) => hashOf({}, { ...CHARGE, usage: { ...usage, ...change } })),
  ];
  expect(new Set([...changed, hashOf()]).size).toBe(changed.length + 1);
});
