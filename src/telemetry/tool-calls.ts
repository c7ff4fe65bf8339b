// Whether the tool calls of an answer could be used: they parse, name a tool that was offered, and have what it requires.

import type { Tool } from "../core/chat.ts";
import type { ToolCallCheck } from "../core/requests/records.ts";
import { shortToolName } from "../formats/wire/tool-calls.ts";

interface Call {
  readonly name: string;
  readonly arguments: string;
}

export function checkToolCalls(calls: readonly Call[], tools: readonly Tool[]): ToolCallCheck {
  const offered = new Map(tools.map((tool) => [tool.name, tool]));
  // A provider may have been given a shorter name.
  for (const tool of tools) offered.set(shortToolName(tool.name), tool);
  let parsed = 0;
  let known = 0;
  let valid = 0;
  for (const call of calls) {
    const given = parseObject(call.arguments);
    const tool = offered.get(call.name);
    if (given !== null) parsed += 1;
    if (tool !== undefined) known += 1;
    if (given !== null && tool !== undefined && hasRequired(given, tool)) valid += 1;
  }
  return { calls: calls.length, parsed, known, valid };
}

type Fields = Readonly<Record<string, unknown>>;

function parseObject(text: string): Fields | null {
  try {
    const value: unknown = JSON.parse(text === "" ? "{}" : text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : null;
  } catch {
    return null;
  }
}

function hasRequired(given: Fields, { parameters }: Tool): boolean {
  const required = parameters?.required;
  return !Array.isArray(required) || required.every((name) => Object.hasOwn(given, String(name)));
}
