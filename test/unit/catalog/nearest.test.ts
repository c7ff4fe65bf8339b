// The word that was probably meant.

import { describe, expect, it } from "vitest";
import { nearest } from "../../../src/catalog/nearest.ts";
import { fc } from "../../support/property.ts";

const WORDS = ["host", "port", "bodyLimitBytes", "corsOrigins", "claude-opus-4-8", "gpt-5.4-mini"];

describe("nearest", () => {
  it.each([
    ["prot", "port"],
    ["hots", "host"],
    ["body_limit_bytes", "bodyLimitBytes"],
    ["CORSORIGINS", "corsOrigins"],
    ["claude-opus-48", "claude-opus-4-8"],
    ["gpt-5.4-mimi", "gpt-5.4-mini"],
    ["gpt-5.4", "gpt-5.4-mini"],
    ["hosts-allowed", "host"],
    ["entirely-different", null],
    ["", null],
  ])("%j means %j", (word, meant) => {
    expect(nearest(word, WORDS)).toBe(meant);
  });

  it("finds a word itself, and one with a letter swapped, lost or added", () => {
    fc.assert(
      fc.property(fc.constantFrom(...WORDS), fc.nat(), fc.constantFrom("x", ""), (word, seed, replacement) => {
        const at = seed % word.length;
        const changed = word.slice(0, at) + replacement + word.slice(at + 1);
        expect(nearest(word, WORDS)).toBe(word);
        expect(nearest(changed, WORDS)).toBe(word);
      }),
    );
  });
});
