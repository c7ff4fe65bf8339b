// The estimate of output that no provider counted, as laws: no script, cut or sign makes output cheaper than promised.

import { describe, expect, test } from "vitest";
import { OutputMeter, outputTokensOf } from "../../../../src/formats/provider/output-meter.ts";
import { fc } from "../../../support/property.ts";

const SCRIPTS = { Han: "汉字漢語", Arabic: "العربية", Devanagari: "हिन्दी", Cyrillic: "привет", emoji: "😀🚀🎉" };

function metered(deltas: readonly string[]): number {
  const meter = new OutputMeter();
  for (const delta of deltas) meter.add(delta);
  return meter.tokens;
}

const anyText = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.string({ unit: fc.constantFrom(...Object.values(SCRIPTS).flatMap((text) => [...text])) }),
);

describe("the estimate of a stream", () => {
  test("is never below the number of its deltas", () => {
    const deltas = fc.array(anyText);
    fc.assert(fc.property(deltas, (texts) => metered(texts) >= texts.filter((text) => text !== "").length));
  });

  test("is never below the number of its characters outside of Latin script", () => {
    const others = (text: string): number =>
      [...text].filter((character) => !/[\p{ASCII}\p{Script=Latin}]/u.test(character)).length;
    fc.assert(
      fc.property(fc.array(anyText), (texts) => {
        // Letters that look Latin but are rare, such as full-width ones, may count as others too.
        expect(metered(texts)).toBeGreaterThanOrEqual(
          texts.reduce((sum, text) => sum + others(text.replaceAll(/[\u0080-\u024f]/g, "")), 0),
        );
      }),
    );
  });

  test("is never below a quarter of its characters, nor below that of the same text in one piece", () => {
    fc.assert(
      fc.property(fc.array(anyText), (texts) => {
        const whole = texts.join("");
        expect(metered(texts)).toBeGreaterThanOrEqual(Math.ceil(whole.length / 4));
        expect(metered(texts)).toBeGreaterThanOrEqual(outputTokensOf(whole));
      }),
    );
  });

  test("only grows", () => {
    fc.assert(fc.property(fc.array(anyText), anyText, (texts, more) => metered([...texts, more]) >= metered(texts)));
  });
});

test.each(Object.entries(SCRIPTS))("%s: at least a token a character", (_name, text) => {
  expect(outputTokensOf(text)).toBeGreaterThanOrEqual([...text].length);
});

test.each([
  ["", 0],
  ["a", 1],
  ["Paris is the capital of France.", 8],
  ["Đà Nẵng là thành phố", 5],
  ["naïve café", 3],
])("%j is %i", (text, tokens) => {
  expect(outputTokensOf(text)).toBe(tokens);
});
