// Words of a text for the search of the log: however long it becomes when it is split.

import { describe, expect, it } from "vitest";
import { writeWords } from "../../../src/store/requests/words.ts";

/** As much as is kept of a prompt. */
const LENGTH = 32 * 1024;

describe("the words of a text", () => {
  it.each([
    ["characters that stand for six", "㌖", 16_383],
    ["letters that stand for four, as one word", "ﷲ", 1],
    ["characters outside the first plane", "𠀀", 16_383],
  ])("are bounded: %s", (_name, character, count) => {
    expect(writeWords("sqlite", character.repeat(LENGTH)).split(" ")).toHaveLength(count);
    expect(writeWords("postgres", character.repeat(LENGTH))).not.toBe("");
  });
});
