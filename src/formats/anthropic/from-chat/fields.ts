// The fields of a chat-completions request, apart from its messages, in the Messages format. A field without an
// equivalent is dropped with a reason. The request is refused where dropping the field would change the response.

import { forcesTool } from "../../../core/chat.ts";
import type { HostedModel } from "../../../core/model.ts";
import { isEffort } from "../../../core/requests/effort.ts";
import { type Conversion, TOOL_NOT_FORCED } from "../../convert/conversion.ts";
import { nearestEffort } from "../../convert/effort.ts";
import type { Outgoing, RequestBody } from "../../format.ts";
import { isObject, type JsonObject, objectsIn, toText } from "../../json/fields.ts";
import { closedSchema } from "../../json/schema.ts";
import { isControlField } from "../../service/controls.ts";
import { hashText } from "../../tools/calls.ts";
import { type Block, blocksOf, type Turn, textBlock } from "../blocks.ts";
import { thinkingForEffort, thinkingOff } from "./thinking.ts";

/** The format refuses longer ids; a hash still tells users apart. */
const USER_LENGTH_MAX = 256;
const USER_HASH_LENGTH = 40;
/** Said in words where the model knows no output format. */
const JSON_ONLY = "Answer with one valid JSON object and nothing else: no other text, no code fence.";

/** Fields this file or the turns take care of; every other one is left out with a note. */
const CONVERTED: ReadonlySet<string> = new Set([
  ...["model", "messages", "stream", "stream_options", "n", "max_tokens", "max_completion_tokens"],
  ...["temperature", "top_p", "top_k", "stop", "tools", "functions", "tool_choice", "function_call"],
  ...["parallel_tool_calls", "response_format", "reasoning_effort", "reasoning", "user", "safety_identifier"],
]);

interface FieldsInput extends Pick<Outgoing, "request" | "model" | "outputCap" | "added"> {
  readonly turns: readonly Turn[];
}

/** The request without its messages. */
interface WrittenFields {
  readonly fields: JsonObject;
  /** Wishes that have to be said in words, after the client's own instructions. */
  readonly instructions: readonly Block[];
  readonly dropped: readonly string[];
}

/** Everything but the messages, for this model. */
export function writeFields(input: FieldsInput, conversion: Conversion): WrittenFields {
  const { request, model } = input;
  const { body, chat } = request;
  if (chat.choiceCount > 1) conversion.refuse("it gives one answer at a time, so 'n' must be 1");
  const maxTokens = outputCap(body.max_completion_tokens ?? body.max_tokens, input);
  const tools = writeToolFields(input, conversion);
  const thinking = writeThinking({ ...input, maxTokens, isForced: isForced(tools) }, conversion);
  const format = writeFormat(body, model);
  const output = { ...thinking.output, ...format.output };
  return {
    fields: {
      max_tokens: maxTokens,
      ...(chat.isStream ? { stream: true } : {}),
      ...tools,
      ...thinking.fields,
      ...(Object.keys(output).length === 0 ? {} : { output_config: output }),
      ...writeSampling(body, isThinking(thinking.fields), conversion),
      ...writeUser(body),
    },
    instructions: format.instructions,
    dropped: noteDropped(body, conversion),
  };
}

/** The format must have a cap: the client's, else what its balance covers, else the model's limit. */
export function outputCap(
  asked: unknown,
  { model, outputCap: covered }: Pick<Outgoing, "model" | "outputCap">,
): number {
  const cap = typeof asked === "number" ? asked : (covered ?? model.maxOutput);
  return Math.min(cap, model.maxOutput);
}

function isForced({ tool_choice: choice }: JsonObject): boolean {
  return isObject(choice) && (choice.type === "any" || choice.type === "tool");
}

/** Facts that decide whether thinking can be asked for. */
interface ThinkingWish extends FieldsInput {
  readonly maxTokens: number;
  readonly isForced: boolean;
}

function writeThinking(wish: ThinkingWish, conversion: Conversion): { fields: JsonObject; output: JsonObject } {
  const { request, model } = wish;
  const { reasoning } = request.body;
  const effort = request.body.reasoning_effort ?? (isObject(reasoning) ? reasoning.effort : null);
  if (effort === "none") return { fields: thinkingOff(model), output: {} };
  if (!isEffort(effort)) return { fields: {}, output: {} };
  const nearest = nearestEffort(effort, model.dialect);
  const output = nearest === null ? {} : { effort: nearest };
  // Thinking that the client did not ask for must not cost it its sampling fields.
  if (wish.added?.reasoning_effort !== undefined) return { fields: {}, output };
  const thinking = thinkingForEffort(effort, wish);
  if (thinking === null) {
    conversion.note(
      "option_dropped",
      "did not ask for thinking: the model, the output cap or the open tool call leaves no room for it",
    );
    return { fields: {}, output };
  }
  if (!wish.isForced) return { fields: { thinking }, output };
  conversion.note("option_dropped", "did not ask for thinking: it cannot be had together with a forced tool call");
  return { fields: {}, output };
}

function isThinking({ thinking }: JsonObject): boolean {
  return isObject(thinking) && thinking.type !== "disabled";
}

function writeSampling(body: JsonObject, thinks: boolean, conversion: Conversion): JsonObject {
  const fields: Record<string, unknown> = {};
  const { temperature, top_p: topP, top_k: topK } = body;
  if (typeof temperature === "number") fields.temperature = Math.min(1, temperature);
  if (Number(temperature) > 1) conversion.note("option_changed", "lowered 'temperature' to 1, the most there is");
  if (typeof topP === "number" && fields.temperature === undefined) fields.top_p = topP;
  if (typeof topK === "number") fields.top_k = topK;
  if (typeof topP === "number" && fields.top_p === undefined) {
    conversion.note("option_dropped", "dropped 'top_p': Claude takes it only without 'temperature'");
  }
  if (thinks && Object.keys(fields).length > 0) {
    conversion.note("option_dropped", "dropped sampling fields: they cannot be had together with thinking");
    return writeStops(body);
  }
  return { ...fields, ...writeStops(body) };
}

function writeStops({ stop }: JsonObject): JsonObject {
  const given: readonly unknown[] = Array.isArray(stop) ? stop : [stop];
  const stops = given.filter((text) => typeof text === "string" && text.trim() !== "");
  return stops.length === 0 ? {} : { stop_sequences: stops };
}

function writeFormat(
  body: JsonObject,
  { dialect }: HostedModel,
): { output: JsonObject; instructions: readonly Block[] } {
  const format = isObject(body.response_format) ? body.response_format : {};
  const wanted = isObject(format.json_schema) ? format.json_schema : {};
  if (format.type === "json_schema" && isObject(wanted.schema)) {
    if (dialect.takesOutputFormat !== false) {
      return { output: { format: { type: "json_schema", schema: closedSchema(wanted.schema) } }, instructions: [] };
    }
    const schema = JSON.stringify(wanted.schema);
    return { output: {}, instructions: [textBlock(`${JSON_ONLY} It must satisfy this JSON schema:\n${schema}`)] };
  }
  const isJson = format.type === "json_object" || format.type === "json_schema";
  return { output: {}, instructions: isJson ? [textBlock(JSON_ONLY)] : [] };
}

function writeUser({ user, safety_identifier: identifier }: JsonObject): JsonObject {
  const id = identifier ?? user;
  if (typeof id !== "string" || id === "") return {};
  return { metadata: { user_id: id.length > USER_LENGTH_MAX ? hashText(id, USER_HASH_LENGTH) : id } };
}

function noteDropped(body: JsonObject, conversion: Conversion): readonly string[] {
  const names = Object.keys(body).filter(
    (name) => !CONVERTED.has(name) && !isControlField(name, body[name]) && body[name] !== null,
  );
  for (const name of names)
    conversion.note("option_dropped", `dropped '${name}': the Messages format has no counterpart`);
  return names;
}

// Tools and tool choice of a chat-completions request in the Messages format.

/** A tool needs a schema, also when it takes nothing. */
const NO_PARAMETERS: JsonObject = { type: "object", properties: {} };

interface ToolsInput {
  readonly model: HostedModel;
  readonly request: RequestBody;
  readonly turns: readonly Turn[];
}

/** The fields `tools` and `tool_choice`, as far as they are needed. */
function writeToolFields({ request, turns, model }: ToolsInput, conversion: Conversion): JsonObject {
  const { body } = request;
  const given = [...objectsIn(body.tools), ...objectsIn(body.functions)];
  const choice = body.tool_choice ?? body.function_call;
  const allowed = allowedNames(choice);
  const tools = given
    .map((tool) => writeTool(tool, conversion))
    .filter((tool) => tool !== null && (allowed === null || allowed.includes(tool.name)));
  if (tools.length === 0) return toolsOfHistory(turns, conversion);
  // A client of `functions` reads one call.
  const isOld = objectsIn(body.tools).length === 0;
  const asked = writeChoice(choice, isOld || body.parallel_tool_calls === false);
  const isRefused = model.dialect.takesForcedTools === false && forcesTool(asked);
  const written = isRefused && asked !== null ? unforced(asked, conversion) : asked;
  return { tools, ...(written === null ? {} : { tool_choice: written }) };
}

/** Leaves the choice to a model that cannot be forced. */
export function unforced({ name: _, ...choice }: JsonObject, conversion: Conversion): JsonObject {
  conversion.note("option_changed", TOOL_NOT_FORCED);
  return { ...choice, type: "auto" };
}

/** Nested or flat, as both are sent. */
function writeTool(tool: JsonObject, conversion: Conversion): JsonObject | null {
  if (isObject(tool.custom) || tool.type === "custom") {
    conversion.refuse("it knows no custom tools with free text or a grammar");
    return null;
  }
  const { name, description, parameters, strict } = isObject(tool.function) ? tool.function : tool;
  if (typeof name !== "string") {
    conversion.note("tool_dropped", `dropped a tool '${toText(tool.type)}': only its own provider runs it`);
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
  return objectsIn(allowed.tools).map(nameOf);
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
    for (const block of blocksOf(turn.content)) if (block.type === "tool_use") names.add(toText(block.name));
  }
  if (names.size === 0) return {};
  conversion.note("content_converted", "listed the tools that were called earlier, without leave to call them");
  const tools = [...names].map((name) => ({ name, input_schema: NO_PARAMETERS }));
  return { tools, tool_choice: { type: "none" } };
}
