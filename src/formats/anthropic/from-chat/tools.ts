// Tools and tool choice of a chat-completions request in the Messages format.

import type { ClientRequest } from "../../format.ts";
import type { Conversion } from "../../wire/conversion.ts";
import { isObject, type JsonObject } from "../../wire/fields.ts";
import { blocksOf, type Turn } from "../blocks.ts";

const NO_PARAMETERS: JsonObject = { type: "object", properties: {} };

interface ToolsInput {
  readonly request: ClientRequest;
  readonly turns: readonly Turn[];
}

/** The fields `tools` and `tool_choice`, as far as they are needed. */
export function writeToolFields({ request, turns }: ToolsInput, conversion: Conversion): JsonObject {
  const { body } = request;
  const given = [...listOf(body.tools), ...listOf(body.functions)];
  const choice = body.tool_choice ?? body.function_call;
  const allowed = allowedNames(choice);
  const tools = given
    .map((tool) => writeTool(tool, conversion))
    .filter((tool) => tool !== null && (allowed === null || allowed.includes(tool.name)));
  if (tools.length === 0) return toolsOfHistory(turns, conversion);
  const written = writeChoice(choice, body.parallel_tool_calls === false);
  return { tools, ...(written === null ? {} : { tool_choice: written }) };
}

function listOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** Nested or flat, as both are sent. */
function writeTool(tool: JsonObject, conversion: Conversion): JsonObject | null {
  if (isObject(tool.custom) || tool.type === "custom") {
    conversion.refuse("it knows no custom tools with free text or a grammar");
    return null;
  }
  const { name, description, parameters, strict } = isObject(tool.function) ? tool.function : tool;
  if (typeof name !== "string") {
    conversion.note(`dropped a tool '${String(tool.type)}': only its own provider runs it`);
    return null;
  }
  return {
    name,
    ...(typeof description === "string" && description !== "" ? { description } : {}),
    input_schema: isObject(parameters) ? parameters : NO_PARAMETERS,
    ...(strict === true ? { strict } : {}),
  };
}

function allowedNames(choice: unknown): readonly unknown[] | null {
  if (!isObject(choice) || choice.type !== "allowed_tools") return null;
  const allowed = isObject(choice.allowed_tools) ? choice.allowed_tools : choice;
  return listOf(allowed.tools).map(nameOf);
}

function nameOf(tool: JsonObject): unknown {
  return isObject(tool.function) ? tool.function.name : tool.name;
}

function writeChoice(choice: unknown, isSingle: boolean): JsonObject | null {
  const flag = isSingle ? { disable_parallel_tool_use: true } : {};
  const kind = isObject(choice) ? choice.type : choice;
  if (kind === "none") return { type: "none" };
  if (kind === "required" || kind === "any") return { type: "any", ...flag };
  if (isObject(choice) && kind === "allowed_tools") {
    const allowed = isObject(choice.allowed_tools) ? choice.allowed_tools : choice;
    return { type: allowed.mode === "required" ? "any" : "auto", ...flag };
  }
  const name = isObject(choice) ? nameOf(choice) : null;
  if (typeof name === "string") return { type: "tool", name, ...flag };
  return kind === "auto" || isSingle ? { type: "auto", ...flag } : null;
}

/** Anthropic refuses calls in the history for tools that are not listed. */
function toolsOfHistory(turns: readonly Turn[], conversion: Conversion): JsonObject {
  const names = new Set<string>();
  for (const turn of turns) {
    if (typeof turn.content === "string") continue;
    for (const block of blocksOf(turn.content)) if (block.type === "tool_use") names.add(String(block.name));
  }
  if (names.size === 0) return {};
  conversion.note("listed the tools that were called earlier, without leave to call them");
  const tools = [...names].map((name) => ({ name, input_schema: NO_PARAMETERS }));
  return { tools, tool_choice: { type: "none" } };
}
