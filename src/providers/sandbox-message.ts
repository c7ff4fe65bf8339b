// What the sandbox says: a tool call when tools are offered and no result is in yet, JSON when JSON is asked for,
// otherwise a short text that names the model it stands in for.

import { type ChatMessage, contentText } from "../core/chat.ts";
import { isObject, type JsonObject } from "../formats/wire/fields.ts";
import { hashText } from "../formats/wire/tool-ids.ts";
import { newestAsk } from "../routing/ask.ts";

const QUOTE_LENGTH = 120;
const SCHEMA_DEPTH_MAX = 12;
const ID_LENGTH = 24;

interface SandboxMessage {
  readonly content: string | null;
  readonly toolCall: JsonObject | null;
  readonly finish: string;
}

export function sandboxMessage(body: JsonObject): SandboxMessage {
  const messages = body.messages as readonly ChatMessage[];
  const prompt = newestAsk(messages).text;
  const tool = chosenTool(body, messages);
  if (tool !== null) return { content: null, toolCall: callTool(tool, prompt, body), finish: "tool_calls" };
  return { content: wantedText(body, messages, prompt), toolCall: null, finish: "stop" };
}

function chosenTool(body: JsonObject, messages: readonly ChatMessage[]): JsonObject | null {
  const tools = Array.isArray(body.tools) ? body.tools.filter(isFunctionTool) : [];
  const choice = body.tool_choice ?? "auto";
  if (tools.length === 0 || choice === "none") return null;
  if (isObject(choice)) return tools.find((tool) => nameOf(tool) === nameOf(choice)) ?? null;
  const hasResult = messages.at(-1)?.role === "tool";
  return choice === "auto" && hasResult ? null : (tools[0] ?? null);
}

function isFunctionTool(tool: unknown): tool is JsonObject {
  return isObject(tool) && isObject(tool.function) && typeof tool.function.name === "string";
}

function nameOf(holder: JsonObject): unknown {
  return isObject(holder.function) ? holder.function.name : undefined;
}

function callTool(tool: JsonObject, prompt: string, { model, messages }: JsonObject): JsonObject {
  const { name, parameters } = tool.function as { name: string; parameters?: unknown };
  const sample = isObject(parameters) ? sampleOf(parameters, prompt, 0) : {};
  return {
    // The same for the same request, another for any other: ids tell whose call a result belongs to.
    id: `call_${hashText(JSON.stringify([model, name, messages]), ID_LENGTH)}`,
    type: "function",
    function: { name, arguments: JSON.stringify(sample) },
  };
}

function wantedText(body: JsonObject, messages: readonly ChatMessage[], prompt: string): string {
  const format = isObject(body.response_format) ? body.response_format : {};
  if (format.type === "json_schema" && isObject(format.json_schema) && isObject(format.json_schema.schema)) {
    return JSON.stringify(sampleOf(format.json_schema.schema, prompt, 0));
  }
  if (format.type === "json_object") return JSON.stringify({ simulated: true, prompt: quote(prompt) });
  const subject =
    messages.at(-1)?.role === "tool"
      ? `The tool answered: "${quote(contentText(messages.at(-1)?.content))}".`
      : `You asked: "${quote(prompt)}".`;
  return `[simulated] This is Switchyard's sandbox standing in for ${String(body.model)}. ${subject} Set a provider key to get real answers.`;
}

function quote(text: string): string {
  return text.length > QUOTE_LENGTH ? `${text.slice(0, QUOTE_LENGTH)}…` : text;
}

/** The smallest value that a JSON schema allows, as far as a sandbox needs to know schemas. */
function sampleOf(schema: JsonObject, prompt: string, depth: number): unknown {
  if (depth > SCHEMA_DEPTH_MAX) return null;
  if (schema.const !== undefined) return schema.const;
  if (Array.isArray(schema.enum) && schema.enum.length > 0) return schema.enum[0];
  const alternative = [schema.anyOf, schema.oneOf].find(Array.isArray)?.find(isObject);
  if (alternative !== undefined) return sampleOf(alternative, prompt, depth + 1);
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  if (type === "object" || isObject(schema.properties)) return sampleObject(schema, prompt, depth);
  if (type === "array") return sampleArray(schema, prompt, depth);
  if (type === "integer" || type === "number") return typeof schema.minimum === "number" ? schema.minimum : 1;
  if (type === "boolean") return true;
  return type === "null" ? null : quote(prompt) || "sample";
}

function sampleObject(schema: JsonObject, prompt: string, depth: number): JsonObject {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required : Object.keys(properties);
  const entries = required.map((name) => {
    const inner = properties[String(name)];
    return [String(name), isObject(inner) ? sampleOf(inner, prompt, depth + 1) : "sample"] as const;
  });
  return Object.fromEntries(entries);
}

function sampleArray(schema: JsonObject, prompt: string, depth: number): readonly unknown[] {
  return isObject(schema.items) ? [sampleOf(schema.items, prompt, depth + 1)] : [];
}
