// Long lists are written in slices, so that requests get their turn in between.

import { expect, test } from "vitest";
import { inSlices } from "../../../src/store/dialect.ts";

function burn(ms: number): void {
  const endsAtMs = performance.now() + ms;
  while (performance.now() < endsAtMs);
}

/** How many turns of the event loop pass while the items are written, where each turn has work of so long for others. */
async function turnsBeside(items: readonly number[], othersMs: number) {
  let turns = 0;
  let isOver = false;
  const others = (): void => {
    turns += 1;
    burn(othersMs);
    if (!isOver) setImmediate(others);
  };
  setImmediate(others);
  const parts = await inSlices(items, (slice) => {
    burn(0.1 * slice.length);
    return slice;
  });
  isOver = true;
  return { written: parts.flat(), turns };
}

const ITEMS = Array.from({ length: 300 }, (_, index) => index);

test("everything is written in order, with turns in between", async () => {
  const { written, turns } = await turnsBeside(ITEMS, 0);
  expect(written).toEqual(ITEMS);
  expect(turns).toBeGreaterThan(10);
});

test("slices are longer where turns are, so that writing keeps up", async () => {
  const { turns: short } = await turnsBeside(ITEMS, 0);
  const { turns: long } = await turnsBeside(ITEMS, 100);
  expect(long).toBeLessThan(short / 2);
});
