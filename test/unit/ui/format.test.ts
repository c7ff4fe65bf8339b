import { describe, expect, test } from "vitest";
import {
  ago,
  balance,
  categoryName,
  count,
  duration,
  monthName,
  percent,
  shortUsd,
  span,
  usd,
  usdColumn,
} from "../../../ui/format.ts";

describe("amounts", () => {
  test.each([
    [
      [0.0438, 0.006, 0.00148, 0],
      ["$0.0438", "$0.0060", "$0.0015", "$0"],
    ],
    [
      [1234.5, 2.833, 0.001],
      ["$1,234.50", "$2.83", "<$0.01"],
    ],
    [[0.00000568], ["$0.00000568"]],
    [
      [-5, 0.2, null],
      ["−$5.00", "$0.20", "–"],
    ],
    [[], []],
  ])("%j have one format in a column", (amounts, texts) => {
    expect(amounts.map(usdColumn(amounts))).toEqual(texts);
  });

  test.each([
    [null, "–"],
    ["0", "$0"],
    ["12.4", "$12.40"],
    ["1234.5", "$1,234.50"],
    ["0.0182", "$0.0182"],
    ["0.000124", "$0.000124"],
    ["0.5", "$0.50"],
    ["-0.00002", "−$0.00002"],
    ["0.000000001", "$0.000000001"],
  ])("%s reads %s", (amount, text) => expect(usd(amount)).toBe(text));

  test.each([
    [0, "$0"],
    [12.4, "$12.40"],
    [0.5, "$0.50"],
    [0.018234, "$0.0182"],
    [0.00000568, "<$0.0001"],
    [-0.0042, "−$0.0042"],
  ])("in a tile, %s reads %s", (amount, text) => expect(shortUsd(amount)).toBe(text));

  test("of balances show what a small charge moves", () => {
    expect(balance("54.993081994")).toBe("$54.993082");
    expect(balance("3")).toBe("$3.000000");
  });
});

test.each([
  ["2026-11", "November 2026"],
  ["2026-13", "2026-13"],
])("the month %s reads %s", (month, text) => expect(monthName(month)).toBe(text));

test.each([
  [0, "0"],
  [999, "999"],
  [9_999, "9,999"],
  [12_400, "12.4k"],
  [262_144, "262k"],
  [3_100_000, "3.1M"],
  [1_048_576, "1.05M"],
  [2_000_000, "2M"],
])("the number %d reads %s", (value, text) => expect(count(value)).toBe(text));

test.each([
  [0, "0%"],
  [0.05, "5%"],
  [0.9612, "96%"],
  [0.9951, "99.5%"],
  [0.99996, "99.9%"],
  [1, "100%"],
  [-0.996, "−99.6%"],
  [-0.031, "−3.1%"],
  [Number.NaN, "–"],
])("the share %d reads %s", (value, text) => expect(percent(value)).toBe(text));

test.each([
  [0, "0"],
  [0.36, "0.36 ms"],
  [23.4, "23 ms"],
  [1_234, "1.23 s"],
  [65_000, "65.0 s"],
  [125_000, "2 min 5 s"],
  [null, "–"],
])("the time %s reads %s", (ms, text) => expect(duration(ms)).toBe(text));

test("times ago and to come are rounded to their largest unit", () => {
  const now = Date.parse("2026-01-02T00:00:00Z");
  expect(ago("2026-01-01T23:59:58Z", now)).toBe("just now");
  expect(ago("2026-01-01T23:00:00Z", now)).toBe("1 h ago");
  expect(ago("2026-01-05T00:00:00Z", now)).toBe("in 3 days");
  expect(ago(null, now)).toBe("never");
  expect(span(59_000)).toBe("59 s");
  expect(span(86_400_000)).toBe("1 day");
});

test("categories are named by their first words", () => {
  expect(categoryName("coding_general_debugging_refactoring_testing")).toBe("coding");
  expect(categoryName("simple_qa")).toBe("simple qa");
});
