import { describe, expect, test } from "vitest";
import type { AnsweredCounts } from "../../../src/core/requests/log.ts";
import {
  describeFailures,
  describeTries,
  failureStacks,
  tryStacks,
} from "../../../ui/pages/overview/attempt-stacks.ts";
import type { Range } from "../../../ui/range.ts";
import type { Usage } from "../../../ui/types.ts";

const HOUR_MS = 3_600_000;
const NOON = Date.UTC(2026, 2, 10, 12);
const RANGE = { fromMs: NOON, toMs: NOON + 3 * HOUR_MS, step: "hour", label: "Today" } as Range;
const NONE: AnsweredCounts = { first: 0, second: 0, later: 0, none: 0, unknown: 0 };

function hour(index: number, requests: number, answered: Partial<AnsweredCounts>): Usage {
  const start = new Date(NOON + index * HOUR_MS).toISOString();
  return { start, requests, answered: { ...NONE, ...answered } } as Usage;
}

describe("requests by the attempt that answered", () => {
  const rows = [hour(0, 4, { unknown: 4 }), hour(2, 11, { first: 6, second: 2, later: 1, none: 1, unknown: 1 })];

  test("are stacked over the hours, and an hour that was not counted is not known", () => {
    const stacks = tryStacks(RANGE, rows);
    expect(stacks.map(({ at, values }) => [at, values])).toEqual([
      ["first", [0, 0, 6]],
      ["second", [0, 0, 2]],
      ["later", [0, 0, 1]],
      ["none", [0, 0, 1]],
    ]);
    expect(stacks[0]?.isKnown).toEqual([false, true, true]);
    expect(stacks.map(({ total }) => total)).toEqual([6, 2, 1, 1]);
  });

  test.each([
    [[], "No provider was called."],
    [[hour(0, 3, { first: 3 })], "All answered on the first attempt."],
    [rows, "60% answered on the first attempt. Excludes 5 older requests without attempt counts."],
    [[hour(0, 4, { unknown: 4 })], "Excludes 4 older requests without attempt counts."],
  ])("%# are described", (given, text) => expect(describeTries(given)).toBe(text));
});

describe("requests by the provider that failed", () => {
  const failed = (index: number, provider: string, requests: number) => ({
    ...{ start: new Date(NOON + index * HOUR_MS).toISOString(), provider, requests },
  });

  test("are stacked by those that failed most, and the rest together", () => {
    const few = failureStacks(RANGE, [failed(0, "a", 1), failed(0, "b", 2), failed(2, "b", 3)]);
    expect(few.map(({ name, total, values }) => [name, total, values])).toEqual([
      ["b", 5, [2, 0, 3]],
      ["a", 1, [1, 0, 0]],
    ]);
    const many = failureStacks(
      RANGE,
      ["a", "b", "c", "d", "e", "f"].map((provider, index) => failed(1, provider, 10 - index)),
    );
    expect(many.map(({ name, provider, total }) => [name, provider, total]).slice(3)).toEqual([
      ["d", "d", 7],
      ["Other (2)", null, 11],
    ]);
    expect(many.at(-1)?.values).toEqual([0, 11, 0]);
  });

  test("are described", () => {
    expect(describeFailures([], [])).toBe("No provider failures.");
    const [one, two] = [[failed(0, "a", 1)], [failed(0, "a", 1), failed(1, "b", 2)]];
    expect(describeFailures(failureStacks(RANGE, one), [hour(0, 2, { unknown: 2 })])).toBe(
      "a: 1 failed request. Excludes 2 older requests without attempt counts.",
    );
    expect(describeFailures(failureStacks(RANGE, two), [])).toBe(
      "b: 2 failed requests. A request that failed at two providers counts for both.",
    );
  });
});
