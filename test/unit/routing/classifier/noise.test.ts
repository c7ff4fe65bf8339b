import { describe, expect, it } from "vitest";
import { readPrompt, withoutNoise } from "../../../../src/routing/classifier/signals.ts";

describe("what is asked", () => {
  const cut: readonly [string, string][] = [
    ["hello! write a short poem.", "write a short poem"],
    ["hi there, please fix this bug", "fix this bug"],
    ["can you fix this bug? thanks a lot!", "can you fix this bug?"],
    ["how do you boil an egg thanks!", "how do you boil an egg"],
    ["guten tag, übersetze diesen satz bitte", "übersetze diesen satz"],
    ["fix the login page\n[ref k3x9q1]", "fix the login page"],
    ["k3x9q1 fix the login page", "fix the login page"],
    ["fix the login page k3x9q1", "fix the login page"],
    ["thanks!", "thanks"],
    ["!!!", "!!!"],
    ["你好，请写一首诗", "请写一首诗"],
  ];
  it.each(cut)("%j is read as %j", (text, asked) => {
    expect(withoutNoise(text)).toBe(asked);
  });

  it.each([
    "hello",
    "hi bob",
    "thanks",
    "please wait",
    "how do you say thank you",
    "what does sha256",
    "is 100km far",
    "",
  ])("%j stays: it says nothing beside courtesy, or asks for just that", (text) => {
    expect(withoutNoise(text)).toBe(text);
  });

  it("is the same in capitals, with double spaces and with curly quotes", () => {
    const { asked } = readPrompt("Größe “des” Hauses: it's big");
    expect(readPrompt('GRÖSSE  "DES"   HAUSES: IT’S BIG').asked).toBe(asked);
  });
});

describe("words of letters and digits", () => {
  it("are not numbers, and identifiers are no words", () => {
    const { numbers, words } = readPrompt("python3 and utf8 run on k3x9q1 here").signals;
    expect(numbers).toBe(0);
    expect(words).toBe(6);
  });

  it("are numbers with a unit", () => {
    expect(readPrompt("drive 100km at 50 mph").signals.numbers).toBe(2);
  });
});
