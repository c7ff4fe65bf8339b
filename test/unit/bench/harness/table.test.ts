// Tables and numbers as the benchmarks print them.

import { describe, expect, test } from "vitest";
import { formatTable, show, showRatio, showRatios } from "../../../../bench/harness/table.ts";

test("words stand to the left, numbers to the right, and notes below", () => {
  const text = formatTable({
    title: "speed",
    columns: ["", "p50", "p99"],
    rows: [
      ["direct", "1.00", ""],
      ["gateway", "250", "1200"],
    ],
    notes: ["in µs"],
  });
  expect(text.split("\n")).toEqual([
    "speed",
    "",
    "          p50   p99",
    "-------  ----  ----",
    "direct   1.00",
    "gateway   250  1200",
    "  in µs",
    "",
  ]);
});

describe("show", () => {
  test.each([
    [1234.5, "1235"],
    [99.94, "99.9"],
    [12.34, "12.3"],
    [1.234, "1.23"],
    [-250.4, "-250"],
    [0, "0.00"],
    [Number.NaN, "-"],
  ])("%d as %s", (value, expected) => {
    expect(show(value)).toBe(expected);
  });
});

test.each([
  [3, 2, "1.50x"],
  [1, 0, "-"],
  [0, 0, "-"],
])("%d against %d is %s", (value, reference, expected) => {
  expect(showRatio(value, reference)).toBe(expected);
});

test("ratios are those of the same round", () => {
  expect(showRatios([2, 30, 40], [1, 10, 10])).toBe("3.00 (2.00-4.00)");
});
