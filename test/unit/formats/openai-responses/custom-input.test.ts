// Plain text in the JSON arguments of a function: found whole and in pieces, and never lost.

import { describe, expect, it } from "vitest";
import { createInputDecoder, readInput, writeInput } from "../../../../src/formats/openai-responses/custom-input.ts";
import { fc } from "../../../support/property.ts";

/** As a stream brings it: cut anywhere. */
function inPieces(text: string, lengths: readonly number[]): readonly string[] {
  const decoder = createInputDecoder();
  const pieces: string[] = [];
  let from = 0;
  for (const length of [...lengths, text.length]) {
    pieces.push(decoder.push(text.slice(from, from + length)));
    from += length;
  }
  return [...pieces, decoder.end()];
}

const anyText = fc.string({ unit: "binary", maxLength: 30 });
const lengths = fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 60 });
/** JSON in which every character is written as an escape, as some models do. */
const escaped = (text: string): string =>
  `{"input":"${[...Array(text.length).keys()].map((at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, "0")}`).join("")}"}`;

describe("the input of a custom tool", () => {
  it("comes back as it was written", () => {
    fc.assert(fc.property(anyText, (text) => readInput(writeInput(text)) === text));
  });

  it("is the same however its arguments are cut, and never ends in half a character", () => {
    fc.assert(
      fc.property(anyText, lengths, fc.boolean(), (text, cuts, isEscaped) => {
        const pieces = inPieces(isEscaped ? escaped(text) : writeInput(text), cuts);
        expect(pieces.join("")).toBe(text);
        if (isEscaped) expect(pieces.filter((piece) => Buffer.from(piece).toString() !== piece)).toEqual([]);
      }),
    );
  });

  it.each(["x\ud83d\n", 'a\ud83d\nabc"q', "\ud83d"])("keeps what follows half a character: %j", (text) => {
    expect(readInput(writeInput(text))).toBe(text);
    expect(inPieces(writeInput(text), [12, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]).join("")).toBe(text);
  });

  it("is the same whole and in pieces, whatever a model writes", () => {
    fc.assert(
      fc.property(fc.oneof(anyText, fc.json()), lengths, (text, cuts) => {
        expect(inPieces(text, cuts).join("")).toBe(readInput(text));
      }),
    );
  });

  it.each([
    ['{"input":"*** Begin Patch"}', "*** Begin Patch"],
    [' { "input" : "a\\nb" } ', "a\nb"],
    ['{"patch":"only one text"}', "only one text"],
    ['{"why":"x","input":"found anywhere"}', "found anywhere"],
    ['"a text alone"', "a text alone"],
    ["no JSON at all", "no JSON at all"],
    ['{"a":1,"b":2}', '{"a":1,"b":2}'],
    ["{}", ""],
    ["", ""],
    ['{"input":"cut in the mid', "cut in the mid"],
    ['{"input":"\\ud83d"}', "\ud83d"],
  ])("%s", (text, input) => {
    expect(readInput(text)).toBe(input);
  });
});
