// Whether the tool calls of an answer could be used: they parse, name a tool that was offered, and have what it requires.

import type { Tool } from "../core/chat.ts";
import type { ToolCallCheck } from "../core/records.ts";
import { shortToolName } from "../formats/tool-names.ts";

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

/** As many calls as the static score stands for; and the least that is left of it, however bad the calls are. */
const STATIC_WEIGHT = 50;
const SHARE_MIN = 0.5;

/**
 * The static score, lowered by the share of calls that could not be used. Valid calls never raise it: a call that fits its
 * schema is not yet the right call, and a model would rise above better ones merely by being used.
 */
export function blendScore(staticScore: number, { calls, valid }: Pick<ToolCallCheck, "calls" | "valid">): number {
  const share = (STATIC_WEIGHT + valid) / (STATIC_WEIGHT + calls);
  return Math.round(staticScore * Math.max(SHARE_MIN, share) * 100) / 100;
}
