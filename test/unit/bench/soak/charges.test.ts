import { expect, test } from "vitest";
import { type ChargeLine, compareCharges, costOf, type Expected } from "../../../../bench/soak/charges.ts";

const charge = (requestId: string, amountUsd: string): ChargeLine => ({ kind: "charge", requestId, amountUsd });

test("what an answer costs, in either format, rounded up once", () => {
  // 7 × 1.1 + 3 × 4.4 = 20.9 micro-USD, and 5 % on top: 21.945.
  expect(costOf({ model: "alpha", usage: { prompt_tokens: 7, completion_tokens: 3 } })).toBe(21_945n);
  expect(costOf({ model: "gamma", usage: { input_tokens: 1, output_tokens: 0 } })).toBe(3150n);
  expect(costOf({ model: "beta", usage: { input_tokens: 1, output_tokens: 0 } })).toBe(158n);
  expect(costOf({ model: "unknown", usage: { input_tokens: 1, output_tokens: 1 } })).toBeNull();
  expect(costOf({ model: "alpha" })).toBeNull();
});

test.each<readonly [string, ReadonlyMap<string, Expected>, readonly ChargeLine[], readonly string[]]>([
  ["all fits", new Map([["a", { exactly: 12n }]]), [charge("a", "-0.000000012")], []],
  ["free and not charged", new Map([["a", { exactly: 0n }]]), [], []],
  ["disconnected, and paid a part", new Map([["a", { atMost: 20n }]]), [charge("a", "-0.000000012")], []],
  ["another amount", new Map([["a", { exactly: 12n }]]), [charge("a", "-1")], ["a paid 1000000000, owes 12"]],
  ["not charged", new Map([["a", { exactly: 12n }]]), [], ["a paid 0, owes 12"]],
  ["too much", new Map([["a", { atMost: 20n }]]), [charge("a", "-0.000000021")], ["a paid 21, owes at most 20"]],
  ["of nobody", new Map(), [charge("b", "-0.000000001")], ["b is charged and was never asked"]],
  [
    "twice",
    new Map([["a", { exactly: 12n }]]),
    [charge("a", "-0.000000012"), charge("a", "-0.000000012")],
    ["a is charged twice"],
  ],
])("%s", (_name, expected, lines, problems) => {
  expect(compareCharges(expected, lines)).toEqual(problems);
});
