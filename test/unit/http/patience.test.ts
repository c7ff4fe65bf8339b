// When a long line is a flood: not because it is long, but because it stays so.

import { beforeEach, describe, expect, it } from "vitest";
import { createPatience, type Patience } from "../../../src/http/patience.ts";

const QUEUE_MS = 500;
const LOOK_MS = 50;

let atMs: number;
let patience: Patience;
beforeEach(() => {
  atMs = 1_000;
  patience = createPatience(QUEUE_MS);
});

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
    expect(look(steady(256, 10_000))).toBe(false);
  });

  it("ends when a long line does not grow shorter", () => {
    expect(look(steady(300, 8))).toBe(false);
    expect(look(steady(300, 3))).toBe(true);
  });

  it("ends when a line grows and grows", () => {
    expect(look(Array.from({ length: 12 }, (_, index) => 300 + index * 100))).toBe(true);
  });

  it("lasts while a burst is worked off, also one that took some time to arrive", () => {
    const arriving = [500, 1_200, 2_000];
    const leaving = Array.from({ length: 35 }, (_, index) => 2_000 - 50 * index);
    expect(look([...arriving, ...leaving])).toBe(false);
  });

  it("ends when a line is worked off again and again and never gets short", () => {
    const waves = Array.from({ length: 60 }, (_, index) => (index % 4 < 2 ? 2_000 : 1_000));
    expect(look(waves.slice(0, 40))).toBe(false);
    expect(look(waves.slice(40))).toBe(true);
  });

  it("does not hold a standstill of the process against the line", () => {
    look(steady(400, 2));
    expect(look([400], 5_000)).toBe(false);
    expect(look([100])).toBe(false);
  });

  it("comes back some seconds after the last refusal", () => {
    look(steady(300, 12));
    atMs += 2_000;
    patience.refused(atMs);
    expect(patience.isOver(atMs + 3_900)).toBe(true);
    expect(patience.isOver(atMs + 4_100)).toBe(false);
  });
});
