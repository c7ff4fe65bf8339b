import { expect, test } from "vitest";
import {
  msUntil,
  type RateRequest,
  type SecondCount,
  takeFrom,
  totalOf,
} from "../../../../src/core/processes/call-window.ts";
import { fc } from "../../../support/property.ts";

const request = (fields: Partial<RateRequest> = {}): RateRequest => ({
  id: "k",
  limit: 10,
  spanSeconds: 60,
  count: 1,
  unused: null,
  ...fields,
});

test.each([
  { name: "an empty window", counts: [], wanted: 3, granted: 3, left: [[100, 3]] },
  { name: "the same second", counts: [[100, 2]], wanted: 3, granted: 3, left: [[100, 5]] },
  {
    name: "more than is left",
    counts: [[90, 8]],
    wanted: 5,
    granted: 2,
    left: [
      [90, 8],
      [100, 2],
    ],
  },
  { name: "a full window", counts: [[90, 10]], wanted: 1, granted: 0, left: [[90, 10]] },
  {
    name: "a count whose time is over",
    counts: [
      [40, 9],
      [41, 1],
    ],
    wanted: 20,
    granted: 9,
    left: [
      [41, 1],
      [100, 9],
    ],
  },
  { name: "a clock set back a little", counts: [[104, 10]], wanted: 1, granted: 0, left: [[104, 10]] },
  { name: "a clock set back far", counts: [[3_700, 10]], wanted: 1, granted: 1, left: [[100, 1]] },
  { name: "nothing wanted", counts: [[99, 1]], wanted: 0, granted: 0, left: [[99, 1]] },
] as const)("takes from $name", ({ counts, wanted, granted, left }) => {
  expect(takeFrom(counts, request({ count: wanted }), 100_250)).toEqual({
    granted,
    second: 100,
    ms: 250,
    counts: left,
  });
});

test("what was not used is given back first, never more than was taken in that second", () => {
  const counts: readonly SecondCount[] = [
    [98, 4],
    [99, 6],
  ];
  expect(takeFrom(counts, request({ count: 5, unused: { second: 99, count: 2 } }), 100_000)).toMatchObject({
    granted: 2,
  });
  expect(takeFrom(counts, request({ count: 9, unused: { second: 99, count: 50 } }), 100_000)).toMatchObject({
    granted: 6,
  });
  expect(takeFrom(counts, request({ count: 9, unused: { second: 7, count: 5 } }), 100_000)).toMatchObject({
    granted: 0,
  });
});

test("says how long until the window has room", () => {
  const taken = takeFrom(
    [
      [70, 4],
      [90, 6],
    ],
    request(),
    100_250,
  );
  expect(msUntil(taken, 9, 60)).toBe(29_750);
  expect(msUntil(taken, 5, 60)).toBe(49_750);
  expect(msUntil(taken, 0, 60)).toBe(49_750);
  expect(msUntil(taken, 10, 60)).toBe(0);
});

test("whatever is asked for, no span has more than the limit, and what fits is granted", () => {
  const asks = fc.array(fc.record({ after: fc.nat(40), count: fc.nat(30) }), { maxLength: 60 });
  fc.assert(
    fc.property(asks, fc.integer({ min: 1, max: 40 }), (history, limit) => {
      let counts: readonly SecondCount[] = [];
      let second = 1_000;
      const granted: [number, number][] = [];
      for (const { after, count } of history) {
        second += after;
        const before = totalOf(granted.filter(([at]) => at > second - 60));
        const taken = takeFrom(counts, request({ limit, count }), second * 1000);
        counts = taken.counts;
        granted.push([second, taken.granted]);
        expect(taken.granted).toBe(Math.min(count, limit - before));
      }
    }),
  );
});
