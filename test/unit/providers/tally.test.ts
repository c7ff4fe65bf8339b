// Counting calls of the last seconds, against a list of all of them.

import { expect, test } from "vitest";
import { Tally } from "../../../src/providers/tally.ts";
import { fc } from "../../support/property.ts";

const WINDOW_MS = 1000;
const SLOT_MS = 100;

test("counts what a list of all calls would count, slot by slot", () => {
  const step = fc.record({ afterMs: fc.integer({ min: 0, max: 1500 }), isMarked: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const tally = new Tally(WINDOW_MS);
      const all: { slot: number; isMarked: boolean }[] = [];
      let nowMs = 1_700_000_000_000;
      for (const { afterMs, isMarked } of steps) {
        nowMs += afterMs;
        tally.add(nowMs, isMarked);
        const slot = Math.floor(nowMs / SLOT_MS);
        all.push({ slot, isMarked });
        const recent = all.filter((call) => call.slot > slot - WINDOW_MS / SLOT_MS);
        expect(tally.calls(nowMs)).toBe(recent.length);
        expect(tally.marks(nowMs)).toBe(recent.filter((call) => call.isMarked).length);
      }
    }),
  );
});

test("a clock that goes back loses nothing and adds nothing", () => {
  const tally = new Tally(WINDOW_MS);
  tally.add(50_000, true);
  tally.add(20_000, false);
  expect([tally.calls(50_000), tally.marks(50_000)]).toEqual([2, 1]);
  expect(tally.calls(60_000)).toBe(0);
});

test("cleared, it starts over", () => {
  const tally = new Tally(WINDOW_MS);
  tally.add(50_000, true);
  tally.clear();
  expect([tally.calls(50_000), tally.marks(50_000)]).toEqual([0, 0]);
});
