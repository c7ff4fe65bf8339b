// What other vendors left in a conversation, on its way to a chat-completions host.

import { describe, expect, it } from "vitest";
import type { Dialect } from "../../../../src/core/model.ts";
import { nearestEffort } from "../../../../src/formats/convert/effort.ts";
import { closedSchema, isStrictSchema } from "../../../../src/formats/json/schema.ts";
import { shortToolName, toolNameRestorer } from "../../../../src/formats/tools/calls.ts";
import { makeModel } from "../../../support/catalog.ts";
import { FORMATS, type Json, send } from "../anthropic/exchange.ts";

const { openai } = FORMATS;
const CALL = { id: "a", type: "function", function: { name: "f", arguments: "{}" } };
const SIGNED = { ...CALL, extra_content: { google: { thought_signature: "s" } } };
const PLACEHOLDER = { google: { thought_signature: "skip_thought_signature_validator" } };

function history(dialect: Partial<Dialect>, assistant: Json): Json {
  const messages = [
    { role: "user", content: "Hi" },
    { role: "assistant", content: "a", ...assistant },
    { role: "user", content: "b" },
  ];
  return (send([openai, openai], { messages }, { model: { dialect } }).json.messages as Json[])[1]!;
}

describe("reasoning in history", () => {
  it.each([
    [{}, { reasoning_content: "Hm." }, { reasoning_content: "Hm." }],
    [{ reasoningHistory: "drop" as const }, { reasoning_content: "Hm.", reasoning: "Hm.", thinking_blocks: [] }, {}],
    [{ reasoningHistory: "tool-turns" as const }, { reasoning_content: "Hm." }, {}],
    [
      { reasoningHistory: "tool-turns" as const },
      { reasoning_content: "Hm.", tool_calls: [CALL] },
      { reasoning_content: "Hm.", tool_calls: [CALL] },
    ],
    [{ reasoningHistory: "drop" as const }, { tool_calls: [SIGNED] }, { tool_calls: [CALL] }],
    [{ needsThoughtSignatures: true }, { tool_calls: [SIGNED, CALL] }, { tool_calls: [SIGNED, CALL] }],
    [
      { needsThoughtSignatures: true },
      { tool_calls: [CALL, CALL] },
      { tool_calls: [{ ...CALL, extra_content: PLACEHOLDER }, CALL] },
    ],
    [
      { toolIds: "alphanumeric-9" as const, needsThoughtSignatures: true },
      { tool_calls: [{ ...CALL, id: "123456789" }] },
      { tool_calls: [{ ...CALL, id: "123456789", extra_content: PLACEHOLDER }] },
    ],
  ])("%j: %j", (dialect, assistant, expected) => {
    expect(history(dialect, assistant)).toEqual({ role: "assistant", content: "a", ...expected });
  });
});

describe("efforts", () => {
  it.each([
    ["max", undefined, "high"],
    ["minimal", undefined, "low"],
    ["none", undefined, null],
    ["none", ["none", "low"], "none"],
    ["xhigh", ["low", "medium", "high", "max"], "high"],
    ["high", [], null],
    ["low", ["none"], null],
  ] as const)("%s of %j is %s", (wanted, efforts, expected) => {
    const { dialect } = makeModel(efforts === undefined ? {} : { dialect: { efforts } });
    expect(nearestEffort(wanted, dialect)).toBe(expected);
  });
});

describe("tool names", () => {
  const long = `mcp__${"x".repeat(80)}`;
  const offered = [long, `${long}y`, "a.b", "naïve", "b"].map((name) => ({ name }));

  it.each(["read", "a-b_C9", "x".repeat(64)])("%s stays", (name) => {
    expect(shortToolName(name)).toBe(name);
  });

  it.each([long, `${long}y`, "a.b", "naïve"])("%s is made valid, and found again", (name) => {
    const short = shortToolName(name);
    expect(short).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    expect(toolNameRestorer(offered)(short)).toBe(name);
    expect(toolNameRestorer([])("b")).toBe("b");
  });
});

describe("schemas", () => {
  const closed = {
    type: "object",
    properties: { a: { type: "array", items: { type: "object", properties: {}, additionalProperties: false } } },
    required: ["a"],
    additionalProperties: false,
  };

  it.each([
    [closed, true],
    [{ ...closed, required: [] }, false],
    [{ ...closed, additionalProperties: true }, false],
    [{ ...closed, $defs: { b: { type: "object" } } }, false],
    [{ anyOf: [{ type: "string" }, { type: "object" }] }, false],
    [{ type: "string" }, true],
  ])("%j is strict: %s", (schema, expected) => {
    expect(isStrictSchema(schema)).toBe(expected);
  });

  it("are closed without touching properties that are named like constraints", () => {
    const schema = {
      type: "object",
      properties: { minimum: { type: "integer", minimum: 1, description: "Least." } },
      anyOf: [{ type: "object" }],
    };
    expect(closedSchema(schema)).toEqual({
      type: "object",
      additionalProperties: false,
      properties: { minimum: { type: "integer", description: "Least. (minimum: 1)" } },
      anyOf: [{ type: "object", additionalProperties: false }],
    });
  });
});
