// The table of charges: usage objects of providers, each with the right charge, worked out by hand beside it.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { type PriceRow, priceFromRow } from "../../../src/catalog/prices/rows.ts";
import type { Usage } from "../../../src/core/chat.ts";
import { costNano } from "../../../src/core/money.ts";
import { cardAt, dearestPrice, type PricedUsage, priceOf } from "../../../src/core/price.ts";
import { readAnthropicUsage } from "../../../src/formats/anthropic/usage.ts";
import { readResponseUsage } from "../../../src/formats/gemini/read/usage.ts";
import { readUsage } from "../../../src/formats/openai-chat/usage.ts";
import { readResponsesUsage } from "../../../src/formats/openai-responses/usage.ts";

interface Case {
  readonly name: string;
  readonly provider: string;
  readonly format: keyof typeof READERS;
  readonly price: string;
  readonly at: string;
  readonly response: Readonly<Record<string, unknown>>;
  readonly sum: readonly { readonly count: number; readonly usd: number; readonly per: number }[];
  readonly chargeNanoUsd: string;
}

const READERS = {
  "openai-chat": readUsage,
  "openai-responses": (response) => readResponsesUsage(response),
  anthropic: ({ usage }) => readAnthropicUsage(usage),
  gemini: readResponseUsage,
  counted: (usage) => usage as unknown as Usage,
} satisfies Record<string, (response: Readonly<Record<string, unknown>>) => Usage | null>;

const file = new URL("../../data/charges/charges.json", import.meta.url);
const { prices, cases } = JSON.parse(readFileSync(file, "utf8")) as {
  readonly prices: Readonly<Record<string, PriceRow>>;
  readonly cases: readonly Case[];
};

/** Nine decimals of USD, times as many parts as any `per` has. */
const SHARES = 60_000_000n;

function byHand({ sum }: Case): bigint {
  const shares = sum.reduce((total, { count, usd, per }) => {
    const nanoEach = BigInt(Math.round(usd * 1e9));
    return total + BigInt(count) * nanoEach * (SHARES / BigInt(per));
  }, 0n);
  return (shares + SHARES - 1n) / SHARES;
}

test.each(cases)("$provider: $name", (row) => {
  const read = priceFromRow(prices[row.price] as PriceRow)!;
  const card = read.schedule === undefined ? read.price : cardAt(read.schedule, Date.parse(row.at)).card;
  const usage = READERS[row.format](row.response) as PricedUsage;
  const charge = costNano(usage.buckets, priceOf(card, usage), 0);
  expect(charge).toBe(BigInt(row.chargeNanoUsd));
  expect(byHand(row)).toBe(charge);
  const { input, cacheRead, cacheWrite, output } = usage.buckets;
  const promptTokens = input + cacheRead + cacheWrite;
  const { serviceTier } = usage;
  const { search: searches = 0 } = usage.parts ?? {};
  const dearest = dearestPrice(card, { promptTokens, serviceTier, mayCacheLong: true, hasMedia: true, searches });
  const ofTokens = { ...usage, parts: { ...usage.parts, minute: 0, characters: 0, request: 1 }, images: {} };
  const reserved = costNano({ input: promptTokens, cacheRead: 0, cacheWrite: 0, output }, dearest, 0);
  expect(costNano(usage.buckets, priceOf(card, ofTokens), 0) <= reserved).toBe(true);
});

test("the table covers every provider, format and kind of price", () => {
  const covered = (of: (row: Case) => string): readonly string[] => [...new Set(cases.map(of))].sort();
  expect(covered(({ format }) => format)).toEqual(Object.keys(READERS).sort());
  expect(covered(({ price }) => price)).toEqual(Object.keys(prices).sort());
  expect(covered(({ provider }) => provider).length).toBeGreaterThanOrEqual(12);
});
