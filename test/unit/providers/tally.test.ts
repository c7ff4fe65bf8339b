// Counting what happened in the last seconds, against a list of all of it.

import { expect, test } from "vitest";
import { Tally } from "../../../src/providers/tally.ts";
import { fc } from "../../support/property.ts";

const WINDOW_MS = 1000;
const SLOT_MS = 100;

test("counts what a list of everything would count, slot by slot", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 1500 }), { maxLength: 60 }), (pausesMs) => {
      const tally = new Tally(WINDOW_MS);
      const slots: number[] = [];
      let nowMs = 1_700_000_000_000;
      for (const pauseMs of pausesMs) {
        nowMs += pauseMs;
        tally.add(nowMs);
        const slot = Math.floor(nowMs / SLOT_MS);
        slots.push(slot);
        const recent = slots.filter((each) => each > slot - WINDOW_MS / SLOT_MS);
        expect(tally.count(nowMs)).toBe(recent.length);
      }
    }),
  );
});

test("a clock that goes back loses nothing and adds nothing", () => {
  const tally = new Tally(WINDOW_MS);
  tally.add(50_000);
  tally.add(20_000);
  expect(tally.count(50_000)).toBe(2);
  expect(tally.count(60_000)).toBe(0);
});

test("cleared, it starts over", () => {
  const tally = new Tally(WINDOW_MS);
  tally.add(50_000);
  tally.clear();
  expect(tally.count(50_000)).toBe(0);
});
