import { describe, expect, it } from "vitest";
import { codesOf, foldCase, PADDING } from "../../../../src/routing/classifier/characters.ts";
import { fc } from "../../../support/property.ts";

describe("the codes of a text", () => {
  it("are those of its characters with zeros behind them, whatever was read before", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (earlier, text) => {
        codesOf(earlier);
        const codes = [...codesOf(text)];
        expect(codes.slice(0, -PADDING)).toEqual(Array.from({ length: text.length }, (_, at) => text.charCodeAt(at)));
        expect(codes.slice(-PADDING)).toEqual(Array(PADDING).fill(0));
      }),
    );
  });

  it("are read from very long texts too", () => {
    const codes = codesOf("äb".repeat(40_000));
    expect([codes.length, codes[79_999], codes[80_000]]).toEqual([80_000 + PADDING, 98, 0]);
  });
});

describe("a folded text", () => {
  const reference = (text: string): string =>
    text.toUpperCase().toLowerCase().replaceAll(/[‘’]/g, "'").replaceAll(/[“”]/g, '"');

  it("is in lower case by way of upper case with straight quotes, for every character and beside others", () => {
    for (let code = 0; code <= 0x1ffff; code++) {
      // Twice: the second time it is known.
      const character = String.fromCodePoint(code);
      const text = `Ā${character}${character}A`;
      if (foldCase(text) !== reference(text)) expect.fail(`U+${code.toString(16)}`);
    }
  });

  it("is that at any length and of any mixture", () => {
    const unit = fc.constantFrom(..."aZ ß\u0000ŉÉéĀΣσςÀЖ日本😀𐐀ﬁİıǅ‘’“”", "\ud83d", "\ude00", "\ud801");
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 30 }), fc.constantFrom(1, 2, 900), (text, times) => {
        expect(foldCase(text.repeat(times))).toBe(reference(text.repeat(times)));
      }),
    );
  });

  it("may be longer than the text, by any number of characters", () => {
    for (const times of [1, 5_000, 8_000]) {
      const text = "Āß".repeat(times);
      expect(foldCase(text)).toBe(reference(text));
    }
  });
});
