// Whether two answers agree, case by case.

import { describe, expect, it } from "vitest";
import { compareAnswers } from "../../../src/gateway/shadow/agreement.ts";

const text = (words: string) => ({ text: words, toolCalls: [] });
const calls = (...given: readonly (readonly [string, string])[]) => ({
  text: "",
  toolCalls: given.map(([name, args]) => ({ name, arguments: args })),
});
const LONG = "The quick brown fox jumps over the lazy dog near the river bank.";

describe("texts", () => {
  it.each([
    ["Paris", "**Paris.**", "same"],
    ["Yes", "yes!", "same"],
    ["42", "42.", "same"],
    ["3.14", "314", "different"],
    ["-5", "5", "different"],
    ["Paris", "Lyon", "different"],
    ["yes", "no", "different"],
    ["Ｐａｒｉｓ", "paris", "same"],
    ["", "Paris", "different"],
    ["", "", "same"],
    ["Paris", "The capital is Paris", "unclear"],
    ["No", LONG, "unclear"],
    [LONG, LONG.toUpperCase(), "same"],
    [LONG, `${LONG} Indeed.`, "unclear"],
    ['{"a":1,"b":[2]}', '```json\n{ "b": [2], "a": 1 }\n```', "same"],
    ['{"a":1,"b":[2,3]}', '{"a":1,"b":[3,2]}', "different"],
    ['{"a":1}', "I cannot read that document, sorry about it.", "unclear"],
  ])("%j and %j: %s", (live, second, verdict) => {
    expect(compareAnswers(text(live), text(second)).verdict).toBe(verdict);
    expect(compareAnswers(text(second), text(live)).verdict).toBe(verdict);
  });

  it("have a similarity, which is no verdict", () => {
    expect(compareAnswers(text(LONG), text(LONG)).similarity).toBe(1);
    expect(compareAnswers(text(LONG), text("Nothing at all in common here, or is anything shared?")).similarity).toBe(
      0,
    );
    expect(compareAnswers(text("a b c d"), text("a b x y")).similarity).toBe(0.5);
    expect(compareAnswers(text("a a a"), text("a")).similarity).toBe(0.5);
  });
});

describe("tool calls", () => {
  it.each([
    [calls(["read", '{"path":"a","n":1}']), calls(["read", '{"n":1, "path":"a"}']), "same"],
    [calls(["read", '{"path":"a"}']), calls(["read", '{"path":"b"}']), "same_tool"],
    [calls(["read", "{}"], ["list", "{}"]), calls(["list", "{}"], ["read", "{}"]), "same"],
    [calls(["read", "{}"], ["read", "{}"]), calls(["read", "{}"]), "different"],
    [calls(["read", "{}"]), calls(["write", "{}"]), "different"],
    [calls(["read", "{}"]), text("I would read the file."), "different"],
    [calls(["read", "not json"]), calls(["read", "not json"]), "same"],
  ])("%#: %s", (live, second, verdict) => {
    expect(compareAnswers(live, second)).toEqual({ verdict, similarity: null });
    expect(compareAnswers(second, live).verdict).toBe(verdict);
  });
});
