import { describe, expect, it } from "vitest";
import { codesOf, PADDING } from "../../../../src/routing/classifier/characters.ts";
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
