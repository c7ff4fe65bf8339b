// A filter on one line: what it lets through is what the record is. That the stores agree is shown with the same filters in
// test/contract/requests-filters.test.ts.

import { expect, test } from "vitest";
import { summaryOf } from "../../../../src/core/requests/fields.ts";
import { matchesFilter } from "../../../../src/core/requests/match.ts";
import { FILTER_CASES } from "../../../support/stores/filters.ts";
import { NOON, variedRecord } from "../../../support/stores/records.ts";

const records = Array.from({ length: 300 }, (_, n) => variedRecord(n));

test.each(FILTER_CASES)("%s", (_what, filter, matches) => {
  const found = records.filter((record) => matchesFilter({ accountId: "default", ...filter }, summaryOf(record)));
  expect(found.map(({ id }) => id)).toEqual(records.filter(matches).map(({ id }) => id));
  expect(found.length).toBeGreaterThan(0);
});

test("a range of time", () => {
  const [line] = records.map(summaryOf);
  if (line === undefined) throw new Error("no records");
  const within = (fromMs: number, toMs: number) => matchesFilter({ accountId: "default", fromMs, toMs }, line);
  expect([within(NOON, NOON + 1), within(NOON + 1, NOON + 2), within(0, NOON)]).toEqual([true, false, false]);
});

test("a tag is one of its own, not one that every object has", () => {
  expect(
    matchesFilter({ accountId: "default", tag: { name: "toString", value: null } }, summaryOf(variedRecord(1))),
  ).toBe(false);
});
