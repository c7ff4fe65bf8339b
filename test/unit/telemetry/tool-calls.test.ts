// What counts as a usable tool call, and what that does to a score.

import { describe, expect, it } from "vitest";
import type { Tool } from "../../../src/core/chat.ts";
import { shortToolName } from "../../../src/formats/tools/calls.ts";
import { checkToolCalls } from "../../../src/telemetry/tool-calls.ts";

const TOOLS: readonly Tool[] = [
  { name: "weather", description: "", parameters: { type: "object", required: ["city"] } },
  { name: "now", description: "", parameters: null },
  { name: `long.${"x".repeat(80)}`, description: "", parameters: null },
];

describe("a tool call", () => {
  it.each([
    ["fits", "weather", '{"city":"Rome"}', { parsed: 1, known: 1, valid: 1 }],
    ["lacks what is required", "weather", '{"town":"Rome"}', { parsed: 1, known: 1, valid: 0 }],
    ["is cut off", "weather", '{"city":"Ro', { parsed: 0, known: 1, valid: 0 }],
    ["has arguments that are a list", "weather", '["Rome"]', { parsed: 0, known: 1, valid: 0 }],
    ["names no tool that was offered", "wether", '{"city":"Rome"}', { parsed: 1, known: 0, valid: 0 }],
    ["needs no arguments and has none", "now", "", { parsed: 1, known: 1, valid: 1 }],
    ["tries the prototype", "weather", '{"toString":1}', { parsed: 1, known: 1, valid: 0 }],
  ])("that %s", (_what, name, text, expected) => {
    expect(checkToolCalls([{ name, arguments: text }], TOOLS)).toEqual({ calls: 1, ...expected });
  });

  it("of a tool that requires what no argument can be called is not valid", () => {
    const parameters = { type: "object", required: [{ toString: 1 }] };
    const tools = [{ name: "odd", description: "", parameters }];
    expect(checkToolCalls([{ name: "odd", arguments: "{}" }], tools)).toMatchObject({ known: 1, valid: 0 });
  });

  it("may use the shorter name that the provider was given", () => {
    const name = `long.${"x".repeat(80)}`;
    expect(shortToolName(name)).not.toBe(name);
    for (const given of [name, shortToolName(name)]) {
      expect(checkToolCalls([{ name: given, arguments: "{}" }], TOOLS).valid).toBe(1);
    }
  });
});
