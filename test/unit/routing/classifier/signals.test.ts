import { describe, expect, it } from "vitest";
import { readPrompt } from "../../../../src/routing/classifier/signals.ts";
import { fc } from "../../../support/property.ts";

const LONG =
  "look at the old red house by a small river where nine quiet people grow green beans under tall trees and sing each day about rain wind sun moon and stars until night comes down over their roof with its cold blue light while dogs sleep near warm fires";

const readSignals = (text: string) => readPrompt(text).signals;
const loadOf = (text: string) => readSignals(text).load;

describe("the load of a request", () => {
  const harder: readonly [string, string, string][] = [
    ["more numbers", "Add the 3 apples.", "Add the 3 apples, 4 pears, 17 plums."],
    ["a condition", "How many are red cars?", "How many are red if a car?"],
    ["variables", "Solve for the unknown now", "Solve for x and y or z"],
    ["different words", "the dog and the dog and the dog and the dog", "the dog and her cat saw two old men"],
    ["numbers among the choices", "Which is it?\nA. red\nB. blue", "Which is it?\nA. 7.2\nB. 9.8"],
    ["longer words", "Tell me about old cows", "Elucidate ruminant metabolism systems thoroughly"],
    ["a longer Chinese text", "请解释光", "请解释光的折射与反射之间的区别并举例"],
  ];
  it.each(harder)("grows with %s", (_name, easy, hard) => {
    expect(loadOf(hard)).toBeGreaterThan(loadOf(easy));
  });

  it("is not raised by the choices of a test", () => {
    const question = "Which animal lays eggs?";
    const choices = "\nA. a large cow in the field\nB. a hen on the roof\nC. a very old cat\nD. a dog";
    expect(loadOf(question + choices)).toBeLessThan(loadOf(question) + 0.6);
    expect(loadOf(question + choices)).toBeLessThan(loadOf(question + choices.replace(/[A-D]\. /g, "")));
  });

  it("is that of the last question where solved examples stand before it", () => {
    const example = "Why do magnets stick to a door of iron?\nAnswer: because they do\n\n";
    const question = "What is the melting point of lead at sea level?\nAnswer:";
    expect(loadOf(example.repeat(5) + question)).toBe(loadOf(question));
    expect(loadOf(example + question)).toBeGreaterThan(loadOf(question));
    expect(readSignals(example.repeat(5) + question).questionAt).toBe(example.length * 5);
    expect(readSignals(question).questionAt).toBe(0);
  });

  it("has no part of its own for one word said over and over", () => {
    const once = loadOf("look at it");
    expect(loadOf("look at it ".repeat(20)) - once).toBeLessThan(loadOf(LONG) - once);
  });

  it("is a finite number for any text", () => {
    const anyText = fc.string({ unit: "binary", maxLength: 300 });
    fc.assert(fc.property(anyText, (text) => Number.isFinite(loadOf(text))));
  });
});
