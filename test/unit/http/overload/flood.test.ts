// When a long line is a flood: not because it is long, but because it stays so and more come than a burst has.

import { beforeEach, describe, expect, it } from "vitest";
import { BURST, createPatience, LONG, type Patience } from "../../../../src/http/overload/flood.ts";

const QUEUE_MS = 500;
const LOOK_MS = 50;

let atMs: number;
let patience: Patience;
beforeEach(() => {
  atMs = 1_000;
  patience = createPatience(QUEUE_MS);
});

function join(count: number): void {
  for (let joined = 0; joined < count; joined += 1) patience.joined();
}

/** One look after the other at lines of these lengths; whether the last one ended it. */
function look(lengths: readonly number[], everyMs = LOOK_MS): boolean {
  for (const length of lengths) {
    atMs += everyMs;
    patience.look(length, atMs);
  }
  return patience.isOver(atMs);
}

const steady = (length: number, count: number): number[] => Array.from({ length: count }, () => length);

describe("patience", () => {
  it("lasts for ever with a short line", () => {
    join(100_000);
    expect(look(steady(LONG, 10_000))).toBe(false);
  });

  it("lasts for ever with a burst, however slowly it is worked off", () => {
    join(BURST);
    expect(look(steady(BURST, 10_000))).toBe(false);
  });

  it("ends when more come than a burst has and the line does not grow shorter", () => {
    join(BURST + 1);
    expect(look(steady(2_000, 10))).toBe(false);
    expect(look(steady(2_000, 1))).toBe(true);
  });

  it("ends when a line grows and grows", () => {
    join(4_000);
    expect(look(Array.from({ length: 12 }, (_, index) => 1_100 + index * 100))).toBe(true);
  });

  it("lasts while a line is worked off, also one that took some time to arrive", () => {
    join(3_000);
    const arriving = [500, 1_200, 2_000];
    const leaving = Array.from({ length: 20 }, (_, index) => 2_000 - 50 * index);
    expect(look([...arriving, ...leaving])).toBe(false);
  });

  it("ends when many leave a line and as many join it", () => {
    join(4_000);
    const waves = Array.from({ length: 25 }, (_, index) => (index % 4 < 2 ? 2_000 : 1_500));
    expect(look(waves)).toBe(true);
  });

  it("counts anew who comes after the line was empty", () => {
    join(BURST);
    look([2_000, 0]);
    join(BURST);
    expect(look(steady(2_000, 50))).toBe(false);
  });

  it("does not hold a standstill of the process against the line", () => {
    join(4_000);
    look(steady(2_000, 2));
    expect(look([2_000], 5_000)).toBe(false);
    expect(look([100])).toBe(false);
  });

  it("comes back some seconds after the last refusal", () => {
    join(4_000);
    look(steady(2_000, 12));
    atMs += 2_000;
    patience.refused(atMs);
    expect(patience.isOver(atMs + 3_900)).toBe(true);
    expect(patience.isOver(atMs + 4_100)).toBe(false);
  });
});
