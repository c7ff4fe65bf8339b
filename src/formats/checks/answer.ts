// Checks a whole answer in the internal shape: its text against a JSON Schema or an expression, and its tool calls against the
// tools that were offered. The client's format brings schema and tools into that shape.

import type { CascadeCheck, CascadeChecks, WebhookAnswer } from "../../core/requests/cascade.ts";
import { splitContent } from "../content.ts";
import { isObject, type JsonObject, objectsIn, textOrEmpty } from "../json/fields.ts";
import { shortToolName } from "../tools/calls.ts";
import { findMisfit, type Misfit } from "./json-schema.ts";
import { compilePattern, PATTERN_WORK_MAX, type Pattern } from "./pattern.ts";

/** Checks of one request. At least one is set. */
export interface AnswerChecks {
  /** A JSON Schema; null for none. */
  readonly schema: unknown;
  /** The text must be a JSON object, of any schema. */
  readonly isJson: boolean;
  readonly pattern: Pattern | null;
  /** Schemas of arguments by the names of tools; null where calls are not checked. */
  readonly tools: ReadonlyMap<string, unknown> | null;
  readonly mustCall: boolean;
}

/** The check that an answer failed, and what was wrong. */
export interface CheckFailure {
  readonly check: CascadeCheck;
  readonly reason: string;
}

/** The names of the checks, in the order in which they run. Empty where nothing can be checked. */
export function namesOf({ schema, isJson, pattern, tools }: AnswerChecks): readonly CascadeCheck[] {
  const names: CascadeCheck[] = [];
  if (schema !== null) names.push("json_schema");
  else if (isJson) names.push("json");
  if (tools !== null) names.push("tool_calls");
  if (pattern !== null) names.push("pattern");
  return names;
}

/** A request's own schema and tools, as chat-completions has them, with the checks that it names. */
export function readChecks(body: JsonObject, asked: CascadeChecks, mustCall: boolean): AnswerChecks {
  const own = isObject(body.response_format) ? body.response_format : {};
  const inOwn = own.type === "json_schema" && isObject(own.json_schema) ? own.json_schema.schema : null;
  const tools = asked.tool_calls === false ? new Map<string, unknown>() : toolsIn(body);
  return {
    schema: asked.json_schema ?? inOwn ?? null,
    isJson: own.type === "json_object" || own.type === "json_schema",
    pattern: asked.pattern === undefined ? null : compilePattern(asked.pattern),
    tools: tools.size === 0 ? null : tools,
    mustCall: mustCall && tools.size > 0,
  };
}

function toolsIn({ tools, functions }: JsonObject): ReadonlyMap<string, unknown> {
  const offered = new Map<string, unknown>();
  for (const tool of [...objectsIn(tools).map((each) => each.function), ...objectsIn(functions)]) {
    if (!isObject(tool) || typeof tool.name !== "string") continue;
    offered.set(tool.name, tool.parameters);
    // A provider may have been given a shorter name.
    offered.set(shortToolName(tool.name), tool.parameters);
  }
  return offered;
}

/** Returns null where every choice passes. A choice that calls tools need not say anything. */
export function checkAnswer(completion: JsonObject, checks: AnswerChecks): CheckFailure | null {
  const work = { left: PATTERN_WORK_MAX };
  for (const choice of objectsIn(completion.choices)) {
    const message = isObject(choice.message) ? choice.message : {};
    const calls = callsIn(message);
    const failure = checkCalls(calls, checks) ?? (calls.length > 0 ? null : checkText(message, checks, work));
    if (failure === null) continue;
    const isCut = choice.finish_reason === "length";
    return isCut ? { ...failure, reason: `${failure.reason}; the answer was cut off at its output cap` } : failure;
  }
  return null;
}

/** The answer as a webhook gets it. */
export function answersIn(completion: JsonObject): readonly WebhookAnswer[] {
  return objectsIn(completion.choices).map(({ message }) => {
    const said = isObject(message) ? message : {};
    const toolCalls = callsIn(said).map((call) => ({
      name: textOrEmpty(call.name),
      arguments: textOrEmpty(call.arguments),
    }));
    return { text: splitContent(said).text, toolCalls };
  });
}

/** Functions that were called; tools of other kinds have no schema. */
function callsIn({ tool_calls: calls, function_call: call }: JsonObject): readonly JsonObject[] {
  return [...objectsIn(calls).map((each) => each.function), call].filter(isObject);
}

function checkCalls(calls: readonly JsonObject[], { tools, mustCall }: AnswerChecks): CheckFailure | null {
  if (tools === null) return null;
  if (calls.length === 0 && mustCall)
    return { check: "tool_calls", reason: "no tool was called, although one had to be" };
  for (const { name, arguments: given } of calls) {
    if (typeof name !== "string" || !tools.has(name)) {
      return { check: "tool_calls", reason: "a tool was called that was not offered" };
    }
    const parsed = parse(textOrEmpty(given) || "{}");
    if (!isObject(parsed)) return { check: "tool_calls", reason: `the arguments of '${name}' are no JSON object` };
    const misfit = findMisfit(parsed, tools.get(name));
    if (misfit !== null) return { check: "tool_calls", reason: `${worded(`the arguments of '${name}'`, misfit)}` };
  }
  return null;
}

function checkText(
  message: JsonObject,
  { schema, isJson, pattern }: AnswerChecks,
  work: { left: number },
): CheckFailure | null {
  const { text } = splitContent(message);
  const check = schema === null ? "json" : "json_schema";
  if (schema !== null || isJson) {
    const parsed = parse(text);
    if (parsed === undefined) return { check, reason: "the text is no JSON" };
    if (schema === null && !isObject(parsed)) return { check, reason: "the text is no JSON object" };
    const misfit = schema === null ? null : findMisfit(parsed, schema);
    if (misfit !== null) return { check, reason: worded("the text", misfit) };
  }
  const isMatch = pattern?.matches(text, work);
  if (isMatch === false) return { check: "pattern", reason: "the text does not match" };
  return isMatch === null ? { check: "pattern", reason: "the text is too long for the expression" } : null;
}

function worded(what: string, { at, must }: Misfit): string {
  return `${at === "" ? what : `${what} at ${at.slice(0, PLACE_CHARS_MAX)}`} must ${must}`;
}

const PLACE_CHARS_MAX = 120;

/** Undefined for a text that is no JSON. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
