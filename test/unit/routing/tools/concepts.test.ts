import { describe, expect, it } from "vitest";
import { wordsIn } from "../../../../src/routing/tools/concepts.ts";

describe("the words that requests and definitions are compared by", () => {
  const cases: readonly [string, string, readonly string[]][] = [
    ["Latin words of three letters and more", "is it 4 km to zürich", ["zürich"]],
    ["Chinese by pairs of characters", "查股票, 现在", ["查股", "股票", "现在"]],
    ["Japanese too", "天気は", ["天気", "気は"]],
    ["Korean by the beginning of a word", "날씨가 궁금해", ["날씨", "궁금"]],
    ["Cyrillic and Arabic words", "погода الطقس", ["погода", "الطقس"]],
    ["both scripts of a mixed text", "用 file_write 写入", ["file", "write", "写入"]],
  ];
  it.each(cases)("%s", (_what, text, expected) => {
    expect(wordsIn(text, 240)).toEqual(expected);
  });

  it("stop at the bound", () => {
    expect(wordsIn("alpha beta gamma delta", 2)).toEqual(["alpha", "beta"]);
    expect(wordsIn("股".repeat(40), 5)).toHaveLength(5);
  });
});
