// Money is exact: integers in, integers out, one rounding, up.

import { describe, expect, it } from "vitest";
import { costNano, formatUsd, parseUsd, priceFromUsdPerMillion, usdNumber } from "../../../src/core/money.ts";
import { fc } from "../../support/property.ts";

/** Small amounts are computed in another way than large ones. */
const count = fc.oneof(fc.nat(20_000), fc.nat(10_000_000));
const price = fc.oneof(fc.nat(20_000_000), fc.nat(1_000_000_000));
const tokens = fc.record({ input: count, cacheRead: count, cacheWrite: count, output: count });
const prices = fc.record({ input: price, output: price, cacheRead: fc.option(price), cacheWrite: fc.option(price) });
const markup = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 3_000_000 }));

describe("costNano", () => {
  it("is the exact sum, rounded up once", () => {
    fc.assert(
      fc.property(tokens, prices, markup, (used, each, markupPpm) => {
        const read = each.cacheRead ?? each.input;
        // A quarter more than plain input where the vendor names no price for writing to its cache, rounded up.
        const write = each.cacheWrite === null ? (BigInt(each.input) * 5n + 3n) / 4n : BigInt(each.cacheWrite);
        const pico =
          BigInt(used.input) * BigInt(each.input) +
          BigInt(used.cacheRead) * BigInt(read) +
          BigInt(used.cacheWrite) * write +
          BigInt(used.output) * BigInt(each.output);
        const exact = pico * BigInt(1_000_000 + markupPpm);
        const cost = costNano(used, each, markupPpm);
        expect(cost * 1_000_000_000n >= exact).toBe(true);
        expect((cost - 1n) * 1_000_000_000n < exact).toBe(true);
      }),
    );
  });

  it("never falls when more is used", () => {
    fc.assert(
      fc.property(
        tokens,
        prices,
        markup,
        fc.constantFrom("input", "cacheRead", "cacheWrite", "output"),
        (used, each, ppm, bucket) => {
          const more = { ...used, [bucket]: used[bucket] + 1 };
          expect(costNano(more, each, ppm) >= costNano(used, each, ppm)).toBe(true);
        },
      ),
    );
  });

  it.each([
    [{ input: 0, cacheRead: 0, cacheWrite: 0, output: 0 }, 0n],
    [{ input: 1, cacheRead: 0, cacheWrite: 0, output: 0 }, 3150n],
    [{ input: 1_000_000, cacheRead: 0, cacheWrite: 0, output: 0 }, 3_150_000_000n],
    [{ input: 600, cacheRead: 400, cacheWrite: 0, output: 500 }, 9_891_000n],
  ])("%j at 3, 15 and 0.3 USD per million with 5 %% is %s nano", (used, expected) => {
    const each = { input: 3_000_000, output: 15_000_000, cacheRead: 300_000, cacheWrite: 3_750_000 };
    expect(costNano(used, each, 50_000)).toBe(expected);
  });
});

describe("parseUsd and formatUsd", () => {
  it("give back what they got", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 18n - 1n }), (nano) => {
        const text = formatUsd(nano);
        expect(text).toMatch(/^\d+(\.\d*[1-9])?$/);
        expect(parseUsd(text)).toBe(nano);
        expect(formatUsd(-nano)).toBe(nano === 0n ? "0" : `-${text}`);
      }),
    );
  });

  it.each([
    ["0", 0n],
    ["5", 5_000_000_000n],
    ["0.50", 500_000_000n],
    ["0.000000001", 1n],
    ["007.1", 7_100_000_000n],
  ])("%s is %s nano", (text, nano) => {
    expect(parseUsd(text)).toBe(nano);
  });

  it.each([
    "",
    " 1",
    "1 ",
    "-1",
    "+1",
    "1.",
    ".5",
    "1e3",
    "1,000",
    "0x10",
    "NaN",
    "Infinity",
    "0.0000000001",
    "1".repeat(13),
    "１",
  ])("%j is no amount", (text) => {
    expect(parseUsd(text)).toBeNull();
  });

  it("show as a number for estimates", () => {
    expect(usdNumber(1_500_000_000n)).toBe(1.5);
  });
});

describe("priceFromUsdPerMillion", () => {
  it("is exact for prices of up to six decimals", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1_000_000_000 }), (micro) => {
        const written = Number(`${Math.floor(micro / 1e6)}.${String(micro % 1e6).padStart(6, "0")}`);
        expect(priceFromUsdPerMillion(written)).toBe(micro);
      }),
    );
  });

  it.each([-1, 0.0000001, 0.0000004, 1e-10, Number.MIN_VALUE, Number.NaN, Number.POSITIVE_INFINITY, 1e300])(
    "%d is none",
    (usd) => {
      expect(priceFromUsdPerMillion(usd)).toBeNull();
    },
  );
});
