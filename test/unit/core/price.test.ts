// Prices of models: which rates a request is charged at, by the length of its prompt, its tier and what it counted.

import { describe, expect, it } from "vitest";
import { type PriceRow, priceFromRow, rowFromPrice } from "../../../src/catalog/prices/rows.ts";
import type { Usage } from "../../../src/core/chat.ts";
import { costNano } from "../../../src/core/money.ts";
import { cardAt, dearestPrice, type PricedUsage, priceOf, type RateCard } from "../../../src/core/price.ts";
import { readUsage } from "../../../src/formats/openai-chat/usage.ts";

function cardOf(row: PriceRow): RateCard {
  return priceFromRow(row)!.price;
}

function nanoOf(row: PriceRow, usage: PricedUsage): bigint {
  return costNano(usage.buckets, priceOf(cardOf(row), usage), 0);
}

const buckets = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0 };

describe("bands", () => {
  const row = {
    input: 2,
    output: 10,
    cacheRead: 0.1,
    bands: [{ above: 272_000, input: 4, output: 15, cacheRead: 0.2 }],
  };

  it.each([
    [{ input: 272_000, output: 1_000 }, 554_000_000n],
    [{ input: 272_001, output: 1_000 }, 1_103_004_000n],
    // Cached tokens are part of the prompt.
    [{ input: 1, cacheRead: 272_000, output: 1 }, 4_000n + 54_400_000n + 15_000n],
  ])("charge the whole request at the band of its prompt: %o", (used, expected) => {
    expect(nanoOf(row, { buckets: { ...buckets, ...used } })).toBe(expected);
  });

  it("leave a rate that they do not name as it is", () => {
    const card = cardOf({ input: 1, output: 5, cacheWrite: 0, bands: [{ above: 10, input: 2 }] });
    expect(card.bands).toEqual([{ above: 10, input: 2_000_000, output: 5_000_000, cacheRead: null, cacheWrite: 0 }]);
  });
});

describe("service tiers", () => {
  const bands = [{ above: 100, input: 4, output: 16 }];
  const row = { input: 2, output: 8, bands, factors: { batch: 0.5, priority: { input: 5, output: 20 } } };

  it.each([
    [undefined, 10, 2 * 10 + 8],
    ["batch", 10, 10 + 4],
    ["batch", 200, 2 * 200 + 8],
    ["priority", 200, 5 * 200 + 20],
    ["flex", 10, 2 * 10 + 8],
  ] as const)("%s with %i tokens", (serviceTier, input, micro) => {
    const usage = { buckets: { ...buckets, input, output: 1 }, ...(serviceTier && { serviceTier }) };
    expect(nanoOf(row, usage)).toBe(BigInt(micro) * 1000n);
  });
});

describe("units", () => {
  it("are charged at their own rate, and never more of them than their bucket has", () => {
    const row = { input: 2.5, output: 10, audioInput: 32, audioOutput: 64, reasoning: 20 };
    const parts = { audioInput: 40, audioOutput: 90 };
    const usage = { buckets: { ...buckets, input: 100, output: 100 }, reasoning: 50, parts };
    expect(nanoOf(row, usage)).toBe(BigInt(60 * 2.5 + 40 * 32 + 90 * 64 + 10 * 20) * 1000n);
  });

  it("count images by size and quality, minutes by the millisecond, and requests by themselves", () => {
    const row = {
      ...{ input: 0, output: 0, request: 0.01, search: 0.005, minute: 0.006, characters: 15 },
      image: { "1024x1024/low": 0.011, "1024x1024": 0.042, high: 0.2 },
    };
    const parts = { search: 2, minute: 90_500, characters: 1_000 };
    const images = { "1024x1024/low": 2, "1024x1024/medium": 1, "512x512/high": 1, "9x9/odd": 1 };
    const charged = priceOf(cardOf(row), { buckets, parts, images });
    expect(costNano(buckets, charged, 0)).toBe(
      10_000_000n + 10_000_000n + 9_050_000n + 15_000_000n + 22_000_000n + 42_000_000n + 400_000_000n,
    );
  });

  it("charge and reserve at least the time that a host bills", () => {
    const card = cardOf({ input: 0, output: 0, minute: 0.006, leastSeconds: 10 });
    const chargeOf = (minute: number) => costNano(buckets, priceOf(card, { buckets, parts: { minute } }), 0);
    expect([0, 1, 9_999, 10_000, 10_001].map(chargeOf)).toEqual([0n, 1_000_000n, 1_000_000n, 1_000_000n, 1_000_100n]);
    const reach = { promptTokens: 0, mayCacheLong: false, hasMedia: false, counted: { minute: 1 } };
    expect(costNano(buckets, dearestPrice(card, reach), 0)).toBe(1_000_000n);
    expect(rowFromPrice(card)).toMatchObject({ minute: 0.006, leastSeconds: 10 });
  });

  it.each([
    ["nothing written", {}, 0, 0, 0],
    ["five minutes", {}, 100, 0, 100 * 3_750],
    ["an hour", {}, 100, 100, 100 * 6_000],
    ["both", {}, 3, 1, 2 * 3_750 + 6_000],
    ["more than was written", {}, 100, 500, 100 * 6_000],
    ["no listed price", { cacheWrite: null }, 100, 100, 100 * 6_000],
    ["free writes", { cacheWrite: 0 }, 100, 100, 0],
    ["writes dearer than that", { cacheWrite: 9 }, 100, 100, 100 * 9_000],
    ["an own rate for an hour", { cacheWriteLong: 7 }, 100, 100, 100 * 7_000],
  ])("cache writes: %s", (_name, changes, written, long, expected) => {
    const details = { cached_tokens: 0, cache_write_tokens: written, cache_write_1h_tokens: long };
    const counts = { prompt_tokens: written, completion_tokens: 0, prompt_tokens_details: details };
    const usage = readUsage({ usage: counts }) as Usage;
    const row = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75, ...changes };
    expect(nanoOf(row, usage)).toBe(BigInt(expected));
  });
});

describe("dates and hours", () => {
  const days = ["mon", "tue", "wed", "thu", "fri"] as const;
  const { schedule = [] } = priceFromRow({
    ...{ input: 0.15, output: 0.6, cacheRead: 0.003, cacheWrite: 0, factors: { batch: 0.5 } },
    hours: [
      { from: "01:00", until: "04:00", days, factor: 2 },
      { from: "06:00", until: "10:00", days, factor: 2 },
    ],
    until: "2026-11-30",
    changes: [{ from: "2026-12-01", input: 0.2, output: 0.8 }],
  })!;

  it.each([
    // A Thursday.
    ["2026-11-19T00:59:59.999Z", 150_000, "2026-11-19T01:00:00Z"],
    ["2026-11-19T01:00:00Z", 300_000, "2026-11-19T04:00:00Z"],
    ["2026-11-19T04:00:00Z", 150_000, "2026-11-19T06:00:00Z"],
    ["2026-11-19T09:59:59Z", 300_000, "2026-11-19T10:00:00Z"],
    ["2026-11-19T23:00:00Z", 150_000, "2026-11-20T00:00:00Z"],
    // A Saturday.
    ["2026-11-21T02:00:00Z", 150_000, "2026-11-21T04:00:00Z"],
    ["2026-11-30T23:59:59.999Z", 150_000, "2026-12-01T00:00:00Z"],
    ["2026-12-01T02:00:00Z", 200_000, null],
  ])("at %s", (at, input, until) => {
    const now = cardAt(schedule, Date.parse(at));
    expect([now.card.input, now.untilMs]).toEqual([
      input,
      until === null ? Number.POSITIVE_INFINITY : Date.parse(until),
    ]);
  });

  it("keep the tiers of the usual price, at the factor of the hour", () => {
    const { card } = cardAt(schedule, Date.parse("2026-11-19T02:00:00Z"));
    expect(card.tiers?.batch?.output).toBe(600_000);
  });
});

it.each([
  ["auto/auto", 9],
  ["auto/low", 2],
  ["1024x1024/auto", 6],
  ["1024x1024/low", 1],
  ["512x512/low", 9],
])("the dearest image of %s costs %i: the provider chooses what is left to it", (kind, rate) => {
  const images = { "1024x1024/low": 1, "1536x1024/low": 2, "1024x1024/high": 6, "1536x1024/high": 9 };
  const card: RateCard = { input: 0, output: 0, cacheRead: null, cacheWrite: null, images };
  const reach = { promptTokens: 0, mayCacheLong: false, hasMedia: false, images: { [kind]: 3 } };
  expect(dearestPrice(card, reach).lines).toEqual([{ unit: "image", count: 3, rate }]);
});

it("the dearest price counts only what a request can reach", () => {
  const bands = [{ above: 1_000, input: 8, output: 30 }];
  const card = cardOf({ input: 4, output: 20, cacheWrite: 5, audioInput: 40, bands, factors: { priority: 2 } });
  const reach = { promptTokens: 1_000, mayCacheLong: false, hasMedia: false };
  const ratesOf = (changes: Partial<typeof reach> & { serviceTier?: "priority" | "flex" }) => {
    const { input, output } = dearestPrice(card, { ...reach, ...changes });
    return [input / 1e6, output / 1e6];
  };
  expect(ratesOf({})).toEqual([5, 20]);
  expect(ratesOf({ promptTokens: 1_001 })).toEqual([8, 30]);
  expect(ratesOf({ mayCacheLong: true })).toEqual([8, 20]);
  expect(ratesOf({ hasMedia: true })).toEqual([40, 20]);
  expect(ratesOf({ serviceTier: "priority" })).toEqual([10, 40]);
  expect(ratesOf({ serviceTier: "flex" })).toEqual([5, 20]);
});

describe("kinds of images", () => {
  it.each(["constructor/toString", "__proto__/valueOf"])("%s is no name of a rate", (kind) => {
    const used = { buckets, images: { [kind]: 2 } };
    expect(nanoOf({ input: 0, output: 0, image: { low: 0.01, high: 0.2 } }, used)).toBe(400_000_000n);
    expect(nanoOf({ input: 0, output: 0, image: { any: 0.01 } }, used)).toBe(20_000_000n);
  });
});
