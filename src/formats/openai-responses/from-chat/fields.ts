// Everything but the messages of a chat-completions request, in the Responses format.

import type { HostedModel } from "../../../core/model.ts";
import { isEffort } from "../../../core/requests/effort.ts";
import type { Conversion } from "../../convert/conversion.ts";
import { nearestEffort } from "../../convert/effort.ts";
import type { Outgoing } from "../../format.ts";
import { isObject, type JsonObject, objectsIn, toText } from "../../json/fields.ts";
import { isControlField } from "../../service/controls.ts";
import { ENCRYPTED_REASONING } from "../items.ts";

/** The same in both formats. */
const SHARED = [
  ...["temperature", "top_p", "parallel_tool_calls", "metadata", "user", "safety_identifier", "moderation"],
  ...["prompt_cache_key", "prompt_cache_options", "prompt_cache_retention"],
] as const;
/** Converted here or elsewhere; every other field is dropped with a note. */
const CONVERTED: ReadonlySet<string> = new Set([
  ...SHARED,
  ...["model", "messages", "n", "stream", "stream_options", "store", "modalities", "max_tokens"],
  ...["max_completion_tokens", "tools", "tool_choice", "functions", "function_call", "response_format"],
  ...["reasoning_effort", "reasoning", "verbosity", "logprobs", "top_logprobs"],
]);
/** The API refuses smaller caps. */
const OUTPUT_TOKENS_MIN = 16;
/** A function needs a schema, also when it takes nothing. */
const NO_PARAMETERS: JsonObject = { type: "object", properties: {} };

/** The request without its input, for this model. */
interface ChatFields {
  readonly fields: JsonObject;
  readonly dropped: readonly string[];
}

/** `body`: the request without what the model refuses. */
export function writeFields(body: JsonObject, outgoing: Outgoing, conversion: Conversion): ChatFields {
  const { chat } = outgoing.request;
  if (chat.choiceCount > 1) conversion.refuse("it gives one answer at a time, so 'n' must be 1");
  if (Array.isArray(body.modalities) && body.modalities.includes("audio")) conversion.refuse("it gives no sound");
  const shared = SHARED.filter((name) => (body[name] ?? null) !== null).map((name) => [name, body[name]]);
  return {
    fields: {
      ...(Object.fromEntries(shared) as JsonObject),
      ...writeCap(body.max_completion_tokens ?? body.max_tokens, outgoing, conversion),
      ...writeTools(body, conversion),
      ...writeText(body),
      ...writeReasoning(body, outgoing),
      ...writeInclude(body, outgoing.model),
      ...(chat.isStream ? { stream: true } : {}),
      // The gateway keeps what is to be kept.
      store: false,
    },
    dropped: noteDropped(body, conversion),
  };
}

function writeCap(asked: unknown, outgoing: Outgoing, conversion: Conversion): JsonObject {
  const cap = outputCap(asked, outgoing);
  if (cap === null) return {};
  if (typeof asked === "number" && cap > asked) {
    conversion.note("option_changed", `raised the output cap to ${OUTPUT_TOKENS_MIN}, the least there is`);
  }
  return { max_output_tokens: cap };
}

/** The cap to send, or null for none. */
export function outputCap(asked: unknown, { model, outputCap: covered }: Outgoing): number | null {
  const cap = covered ?? asked;
  return typeof cap === "number" ? Math.max(OUTPUT_TOKENS_MIN, Math.min(cap, model.maxOutput)) : null;
}

function writeTools(body: JsonObject, conversion: Conversion): JsonObject {
  const given = [...objectsIn(body.tools), ...objectsIn(body.functions)];
  const tools = given.map((tool) => writeTool(tool, conversion)).filter((tool) => tool !== null);
  if (tools.length === 0) return {};
  const choice = writeChoice(body.tool_choice ?? body.function_call);
  // A client of `functions` reads one call.
  const single = objectsIn(body.tools).length === 0 ? { parallel_tool_calls: false } : {};
  return { tools, ...single, ...(choice === undefined ? {} : { tool_choice: choice }) };
}

/** Nested or flat, as both are sent. */
function writeTool(tool: JsonObject, conversion: Conversion): JsonObject | null {
  if (tool.type === "custom") return writeCustomTool(isObject(tool.custom) ? tool.custom : tool);
  const { name, description, parameters, strict } = isObject(tool.function) ? tool.function : tool;
  if (typeof name !== "string") {
    conversion.note("tool_dropped", `dropped a tool '${toText(tool.type)}': only its own provider runs it`);
    return null;
  }
  return {
    type: "function",
    name,
    ...(typeof description === "string" ? { description } : {}),
    parameters: isObject(parameters) ? parameters : NO_PARAMETERS,
    // Left out it would be true here, and false in chat-completions.
    strict: strict === true,
  };
}

function writeCustomTool({ name, description, format }: JsonObject): JsonObject {
  const { grammar, ...rest } = isObject(format) ? format : {};
  return {
    type: "custom",
    name,
    ...(description === undefined ? {} : { description }),
    ...(isObject(format) ? { format: { ...rest, ...(isObject(grammar) ? grammar : {}) } } : {}),
  };
}

/** Undefined for none. */
function writeChoice(choice: unknown): unknown {
  if (!isObject(choice)) return choice ?? undefined;
  if (choice.type === "allowed_tools") {
    const { mode, tools } = isObject(choice.allowed_tools) ? choice.allowed_tools : choice;
    return { type: "allowed_tools", mode, tools: objectsIn(tools).map(toolReference) };
  }
  return toolReference(choice);
}

function toolReference(tool: JsonObject): JsonObject {
  const inner = [tool.function, tool.custom].find(isObject) ?? tool;
  return { type: tool.type === "custom" ? "custom" : "function", name: inner.name };
}

function writeText({ response_format: wanted, verbosity }: JsonObject): JsonObject {
  const format = isObject(wanted) ? writeFormat(wanted) : null;
  const text = { ...(format === null ? {} : { format }), ...(typeof verbosity === "string" ? { verbosity } : {}) };
  return Object.keys(text).length === 0 ? {} : { text };
}

function writeFormat({ type, json_schema: wanted }: JsonObject): JsonObject {
  return isObject(wanted) ? { type, ...wanted } : { type };
}

/** A client that names an effort wants to see what is thought; the API shows a summary at most. */
function writeReasoning(body: JsonObject, { model: { dialect }, added }: Outgoing): JsonObject {
  const given = isObject(body.reasoning) ? body.reasoning : {};
  const wanted = body.reasoning_effort ?? given.effort;
  if (typeof wanted !== "string") return {};
  const isMapped = isEffort(wanted) && dialect.efforts !== undefined;
  const effort = isMapped ? nearestEffort(wanted, dialect) : wanted;
  if (effort === null) return {};
  const isOurs = added?.reasoning_effort !== undefined;
  return { reasoning: effort === "none" || isOurs ? { effort } : { effort, summary: given.summary ?? "auto" } };
}

function writeInclude(body: JsonObject, { capabilities }: HostedModel): JsonObject {
  const { logprobs, top_logprobs: count } = body;
  const include = [
    ...(capabilities.has("reasoning") ? [ENCRYPTED_REASONING] : []),
    ...(logprobs === true ? ["message.output_text.logprobs"] : []),
  ];
  return {
    ...(include.length === 0 ? {} : { include }),
    ...(logprobs === true && typeof count === "number" ? { top_logprobs: count } : {}),
  };
}

function noteDropped(body: JsonObject, conversion: Conversion): readonly string[] {
  const names = Object.keys(body).filter(
    (name) => !CONVERTED.has(name) && !isControlField(name, body[name]) && body[name] !== null,
  );
  for (const name of names)
    conversion.note("option_dropped", `dropped '${name}': the Responses format has no counterpart`);
  return names;
}
