// Prices as a file writes them: bands, service tiers, units, hours and dates, and what is wrong with them.

import { describe, expect, it } from "vitest";
import { catalogAt } from "../../../src/catalog/moment.ts";
import { priceFromRow, rowFromPrice } from "../../../src/catalog/prices/rows.ts";
import { goodLoad, problemsOf } from "./workspace.ts";

const HEAD = `catalog: none
providers: { lab: { kind: openai, baseUrl: "http://127.0.0.1:8000/v1" } }
tiers: { NANO: [small] }
models:
`;

function loaded(price: string) {
  const { settings } = goodLoad({ yaml: `${HEAD}  - { id: small, provider: lab, price: { ${price} } }\n` });
  return settings.catalog;
}

it("a price of version 0.1 means what it meant", () => {
  const model = loaded("input: 0.1, output: 0.3, cacheRead: 0.02, cacheWrite: 0.12").models.get("small");
  expect(model?.price).toEqual({ input: 100_000, output: 300_000, cacheRead: 20_000, cacheWrite: 120_000 });
  expect(model?.schedule).toBeUndefined();
});

it("bands, service tiers and units are read", () => {
  const bands = "bands: [{ above: 272000, input: 4, output: 15 }]";
  const factors = "factors: { batch: 0.5, priority: { input: 5 } }";
  const price = `input: 2, output: 10, audioInput: 32, image: { 1024x1024/low: 0.011 }, minute: 0.006, ${bands}, ${factors}`;
  const card = loaded(price).models.get("small")?.price;
  expect(card).toMatchObject({
    own: { audioInput: 32_000_000, minute: 6_000_000_000 },
    images: { "1024x1024/low": 11_000_000_000 },
    bands: [{ above: 272_000, input: 4_000_000, output: 15_000_000, own: { audioInput: 32_000_000 } }],
    tiers: {
      batch: { input: 1_000_000, bands: [{ input: 2_000_000 }] },
      priority: { input: 5_000_000, output: 10_000_000 },
    },
  });
});

it("hours and dates are read, and count at their moments", () => {
  const hours = 'hours: [{ from: "01:00", until: "04:00", days: [mon, thu], factor: 2 }]';
  const catalog = loaded(
    `input: 1, output: 2, ${hours}, until: 2026-11-30, changes: [{ from: 2026-12-01, input: 3, output: 4 }]`,
  );
  const inputAt = (at: string) => catalogAt(catalog, Date.parse(at)).catalog.models.get("small")?.price?.input;
  expect(["2026-11-19T00:59Z", "2026-11-19T01:00Z", "2026-11-20T01:00Z", "2026-12-01T00:00Z"].map(inputAt)).toEqual([
    1_000_000, 2_000_000, 1_000_000, 3_000_000,
  ]);
});

it.each([
  ["input: 1", "output is missing"],
  ["input: 1, output: 1, cacheRaed: 1", 'unknown key "cacheRaed"'],
  ["input: 0.0000001, output: 1", "USD per million tokens with at most six decimals"],
  ["input: 1, output: 1, minute: 0.00000000001", "USD with at most nine decimals"],
  ["input: 1, output: 1, bands: [{ input: 2 }]", "above is missing"],
  ["input: 1, output: 1, factors: { fast: 2 }", 'unknown key "fast"'],
  ["input: 0.000001, output: 1, factors: { batch: 0.5 }", "factors that leave each price at most six decimals"],
  ["input: 1, output: 1, hours: [{ from: 6, until: 10, factor: 2 }]", "expected a time of the day in UTC"],
  ['input: 1, output: 1, hours: [{ from: "22:00", until: "04:00", factor: 2 }]', "hours that end after they begin"],
  ["input: 1, output: 1, from: 2026-13-01", "expected a day"],
  ["input: 1, output: 1, changes: [{ input: 1, output: 1 }]", "from is missing"],
  [
    "input: 1, output: 1, changes: [{ from: 2027-01-01, input: 1, output: 1 }, { from: 2026-12-01, input: 1, output: 1 }]",
    "changes in the order of their days",
  ],
])("%s is refused", (price, problem) => {
  const problems = problemsOf({ yaml: `${HEAD}  - { id: small, provider: lab, price: { ${price} } }\n` });
  expect(problems.map(({ message }) => message).join("\n")).toContain(problem);
});

describe("a price is written as it is read", () => {
  it.each([
    { input: 1, output: 2 },
    { input: 0.071, output: 0.1, cacheRead: 0.0028, cacheWrite: 0, own: undefined },
    { input: 2, output: 10, reasoning: 3, search: 0.01, image: { any: 0.04 }, bands: [{ above: 9, input: 3 }] },
    { input: 2, output: 10, factors: { batch: 0.5, flex: { input: 1 } }, from: "2026-01-01", until: "2026-11-30" },
    {
      ...{ input: 0.15, output: 0.6, factors: { batch: 0.5 } },
      hours: [{ from: "01:00", until: "24:00", days: ["sat", "sun"], factor: 2 }],
      changes: [{ from: "2026-12-01", input: 1, output: 1, hours: [{ from: "06:00", until: "10:00", input: 2 }] }],
    },
  ] as const)("%o", (row) => {
    const read = priceFromRow(row)!;
    expect(priceFromRow(rowFromPrice(read.price, read.schedule))).toEqual(read);
  });
});
