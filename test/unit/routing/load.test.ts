import { describe, expect, it } from "vitest";
import { readSignals } from "../../../src/routing/signals.ts";
import { fc } from "../../support/property.ts";

const loadOf = (text: string) => readSignals(text).load;

describe("the load of a request", () => {
  const harder: readonly [string, string, string][] = [
    ["more numbers", "Add the 3 apples.", "Add the 3 apples, 4 pears, 17 plums."],
    ["a condition", "How many are red cars?", "How many are red if a car?"],
    ["variables", "Solve for the unknown now", "Solve for x and y or z"],
    ["longer words", "Tell me about how cows eat", "Elucidate ruminant metabolism"],
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
  });

  it("is a finite number for any text", () => {
    const anyText = fc.string({ unit: "binary", maxLength: 300 });
    fc.assert(fc.property(anyText, (text) => Number.isFinite(loadOf(text))));
  });
});
