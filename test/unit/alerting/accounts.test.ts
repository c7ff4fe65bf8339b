// What balances, spending and failures of accounts are worth telling.

import { expect, it } from "vitest";
import { createAccountJudge } from "../../../src/alerting/accounts.ts";
import type { AccountFacts, HourFacts } from "../../../src/core/alerts/events.ts";
import { sentenceOf } from "../../../src/core/alerts/kinds.ts";

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
/** At half past an hour. */
const NOW_MS = Date.UTC(2026, 10, 19, 12, 30);
const THIS_HOUR = NOW_MS - 30 * MINUTE_MS;
const USD = 1_000_000_000n;
const RULES = { lowBalance: 1, balanceDays: 3, spikeFactor: 5, errorPercent: 10, fallbackPercent: 25 };
const OFF = { lowBalance: 0, balanceDays: 0, spikeFactor: 0, errorPercent: 0, fallbackPercent: 0 };

function hour(given: Partial<HourFacts>): HourFacts {
  return { requests: 0, failures: 0, fallbacks: 0, charge: 0n, ...given };
}

function account(given: Partial<AccountFacts> = {}): AccountFacts {
  return {
    id: "acme",
    name: "Acme",
    isPrepaid: true,
    available: 100n * USD,
    hours: new Map(),
    weekCharge: 0n,
    ...given,
  };
}

function judged(given: Partial<AccountFacts>, rules = RULES): readonly string[] {
  return createAccountJudge(() => rules)
    .judge([account(given)], NOW_MS)
    .map(sentenceOf);
}

it.each([
  [{ available: USD }, []],
  [{ available: USD - 1n }, ["The balance of Acme is 0.99 USD, below 1.00 USD."]],
  [{ available: 0n }, ["The balance of Acme is 0.00 USD, below 1.00 USD."]],
  [{ available: 0n, isPrepaid: false }, []],
  // Nobody ever gave it money, so nobody waits for requests to work.
  [{ available: null }, []],
])("a low balance: %o", (given, texts) => {
  expect(judged(given)).toEqual(texts);
});

it("a balance is about to end at the pace of the last 24 hours", () => {
  const yesterday = new Map([[THIS_HOUR - 24 * HOUR_MS, hour({ charge: 80n * USD })]]);
  // Half of that hour is more than 24 hours ago.
  expect(judged({ available: 119n * USD, hours: yesterday })).toEqual([
    "The balance of Acme ends in about 3.0 days: 119.00 USD are left, and the last 24 hours cost 40.00 USD.",
  ]);
  expect(judged({ available: 120n * USD, hours: yesterday })).toEqual([]);
  expect(judged({ available: 2n * USD, hours: new Map() })).toEqual([]);
});

it("an hour far above the average of the week is a spike", () => {
  const hours = new Map([[THIS_HOUR, hour({ charge: 5n * USD })]]);
  const available = 10_000n * USD;
  expect(judged({ available, hours, weekCharge: 168n * USD })).toEqual([
    "Acme spent 5.00 USD this hour, 5 times its average of 1.00 USD.",
  ]);
  expect(judged({ available, hours, weekCharge: 169n * USD })).toEqual([]);
  // A new account has no average.
  expect(judged({ available, hours, weekCharge: 0n })).toEqual([]);
  const small = new Map([[THIS_HOUR, hour({ charge: USD - 1n })]]);
  expect(judged({ available, hours: small, weekCharge: 1n })).toEqual([]);
});

it("rates count what was added since the first look of the last ten minutes, over the hour as well", () => {
  const judge = createAccountJudge(() => RULES);
  const before = new Map([[THIS_HOUR - HOUR_MS, hour({ requests: 1_000, failures: 500 })]]);
  const startMs = THIS_HOUR - MINUTE_MS;
  expect(judge.judge([account({ hours: before })], startMs)).toEqual([]);
  const after = new Map([
    [THIS_HOUR - HOUR_MS, hour({ requests: 1_010, failures: 501 })],
    [THIS_HOUR, hour({ requests: 10, failures: 1, fallbacks: 5 })],
  ]);
  expect(judge.judge([account({ hours: after })], startMs + 2 * MINUTE_MS).map(sentenceOf)).toEqual([
    "10% of 20 requests of Acme failed in the last 2 minutes.",
    "25% of 20 requests of Acme needed a fallback in the last 2 minutes.",
  ]);
  // Eleven minutes later the first look is too old, and nothing was added since the second.
  expect(judge.judge([account({ hours: after })], startMs + 11 * MINUTE_MS)).toEqual([]);
});

it("few requests say nothing about a rate", () => {
  const judge = createAccountJudge(() => RULES);
  judge.judge([account()], NOW_MS - MINUTE_MS);
  const hours = new Map([[THIS_HOUR, hour({ requests: 19, failures: 19 })]]);
  expect(judge.judge([account({ hours })], NOW_MS)).toEqual([]);
});

it("a rule with 0 is off", () => {
  const hours = new Map([[THIS_HOUR, hour({ requests: 100, failures: 100, fallbacks: 100, charge: 90n * USD })]]);
  const judge = createAccountJudge(() => OFF);
  judge.judge([account()], NOW_MS - MINUTE_MS);
  expect(judge.judge([account({ hours, available: 0n, weekCharge: 1n })], NOW_MS)).toEqual([]);
});
