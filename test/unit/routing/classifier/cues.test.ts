import { describe, expect, it } from "vitest";
import { IntTable } from "../../../../src/routing/classifier/cues.ts";
import { readPrompt } from "../../../../src/routing/classifier/signals.ts";
import { fc } from "../../../support/property.ts";

describe("a table of integers", () => {
  it("answers as a map does, and 0 for what it was not told", () => {
    const pairs = fc.array(fc.tuple(fc.integer(), fc.integer({ min: 1, max: 0xffff })), { maxLength: 32 });
    fc.assert(
      fc.property(pairs, fc.array(fc.integer()), (told, asked) => {
        const table = new IntTable(6);
        const map = new Map(told);
        for (const [key, value] of told) table.set(key, value);
        for (const key of [...map.keys(), ...asked]) expect(table.get(key)).toBe(map.get(key) ?? 0);
      }),
    );
  });

  it("refuses what it could not find again", () => {
    const table = new IntTable(1);
    table.set(5, 1);
    expect(() => table.set(6, 1)).toThrow("too small");
    expect(() => table.set(5, 0)).toThrow("does not fit");
    expect(() => table.set(5, 0x10000)).toThrow("does not fit");
  });
});

describe("a cue with two letters swapped", () => {
  const cuesOf = (text: string) => readPrompt(text).signals.cues;

  it.each([
    ["Implement a scheduler in C", "Imlpement a scheduler in C"],
    ["Which trait helps?", "Whcih trait helps?"],
    ["Shorten the report", "Shroten the report"],
    ["Напиши функцию на python", "Напиши функцию на pyhton"],
  ])("counts as the cue itself: %s", (text, typed) => {
    expect(cuesOf(typed)).toEqual(cuesOf(text));
    expect(Object.values(cuesOf(typed)).some((hits) => hits > 0)).toBe(true);
  });

  it("adds to the load as well", () => {
    expect(readPrompt("supopse that x is odd").signals.load).toBe(readPrompt("suppose that x is odd").signals.load);
  });

  it("is not seen in another word", () => {
    expect(cuesOf("an angle").abstract).toBeGreaterThan(0);
    expect(cuesOf("an angel").abstract).toBe(0);
  });
});
