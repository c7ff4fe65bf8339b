// The fields of a chat-completions request, apart from its messages, in Converse. A field without an equivalent is dropped
// with a reason. The request is refused where dropping the field would change the response.

import { forcesTool } from "../../core/chat.ts";
import { isEffort } from "../../core/requests/effort.ts";
import { type Conversion, TOOL_NOT_FORCED } from "../convert/conversion.ts";
import { budgetForEffort, convertEffort } from "../convert/effort.ts";
import type { Outgoing } from "../format.ts";
import { isObject, type JsonObject, objectsIn, toText } from "../json/fields.ts";
import { isControlField } from "../service/controls.ts";
import type { ConverseBlock, ConverseTurn } from "./blocks.ts";

/** Passed on as it is: fields that only one maker's models know. */
const OWN_FIELDS = "additionalModelRequestFields";
/** The least budget of thinking, and what must be left for the answer. */
const BUDGET_MIN = 1024;
const ANSWER_MIN = 1024;
/** Said in words where the model knows no output format. */
const JSON_ONLY = "Answer with one valid JSON object and nothing else: no other text, no code fence.";
const NO_CALLS = "Do not call a tool in this answer.";

/** Fields this file or the turns take care of; every other one is left out with a note. */
const CONVERTED: ReadonlySet<string> = new Set([
  ...["model", "messages", "stream", "stream_options", "n", "max_tokens", "max_completion_tokens", "temperature"],
  ...["top_p", "top_k", "stop", "tools", "functions", "tool_choice", "function_call", "response_format"],
  ...["reasoning_effort", "reasoning", OWN_FIELDS],
]);

interface ConverseInput extends Pick<Outgoing, "model" | "outputCap" | "added"> {
  readonly body: JsonObject;
  readonly choiceCount: number;
  readonly turns: readonly ConverseTurn[];
}

/** The request without its messages. */
interface ConverseFields {
  readonly fields: JsonObject;
  /** Wishes that have to be said in words, after the client's own instructions. */
  readonly instructions: readonly ConverseBlock[];
  readonly dropped: readonly string[];
}

export function writeFields(input: ConverseInput, conversion: Conversion): ConverseFields {
  const { body, choiceCount, model } = input;
  if (choiceCount > 1) conversion.refuse("it gives one answer at a time, so 'n' must be 1");
  const tools = writeTools(input, conversion);
  const thinking = writeThinking(input, forcesTool(body.tool_choice), conversion);
  const format = writeFormat(body, model.dialect.takesOutputFormat === true);
  const inference = { ...writeInference(body, input, thinking.bars, conversion), ...thinking.inference };
  const { top_k: topK } = body;
  const takesTopK = typeof topK === "number" && model.dialect.takesTopK === true;
  if (typeof topK === "number" && !takesTopK)
    conversion.note("option_dropped", "dropped 'top_k': the model does not take it");
  const given = body[OWN_FIELDS];
  const own = { ...(takesTopK ? { top_k: topK } : {}), ...thinking.own, ...(isObject(given) ? given : {}) };
  return {
    fields: {
      ...(Object.keys(inference).length === 0 ? {} : { inferenceConfig: inference }),
      ...tools.fields,
      ...(Object.keys(own).length === 0 ? {} : { [OWN_FIELDS]: own }),
      ...format.fields,
    },
    instructions: [...format.instructions, ...tools.instructions],
    dropped: noteDropped(body, conversion),
  };
}

function writeInference(
  body: JsonObject,
  { model, outputCap }: ConverseInput,
  isSamplingBarred: boolean,
  conversion: Conversion,
): JsonObject {
  const { temperature, top_p: topP, stop } = body;
  const asked = body.max_completion_tokens ?? body.max_tokens ?? outputCap;
  const stops = (Array.isArray(stop) ? stop : [stop]).filter((text) => typeof text === "string" && text !== "");
  const hasSampling = typeof temperature === "number" || typeof topP === "number";
  if (isSamplingBarred && hasSampling)
    conversion.note("option_dropped", "dropped sampling fields: they cannot be had together with thinking");
  if (!isSamplingBarred && Number(temperature) > 1)
    conversion.note("option_changed", "lowered 'temperature' to 1, the most there is");
  return {
    ...(typeof asked === "number" ? { maxTokens: Math.min(asked, model.maxOutput) } : {}),
    ...(typeof temperature === "number" && !isSamplingBarred ? { temperature: Math.min(1, temperature) } : {}),
    ...(typeof topP === "number" && !isSamplingBarred ? { topP } : {}),
    ...(stops.length === 0 ? {} : { stopSequences: stops }),
  };
}

interface WrittenThinking {
  /** Fields of the model's maker. */
  readonly own: JsonObject;
  readonly inference: JsonObject;
  /** Says that sampling fields would be refused beside it. */
  readonly bars: boolean;
}

const NO_THINKING: WrittenThinking = { own: {}, inference: {}, bars: false };

/** Each maker has its own way to ask for thinking, and the dialect names it. */
function writeThinking(input: ConverseInput, isForced: boolean, conversion: Conversion): WrittenThinking {
  const { body, model, added } = input;
  const { reasoning } = body;
  const wanted = body.reasoning_effort ?? (isObject(reasoning) ? reasoning.effort : null);
  if (!isEffort(wanted)) return NO_THINKING;
  const effort = convertEffort(wanted, model, conversion);
  if (effort === null) return NO_THINKING;
  switch (model.dialect.thinking) {
    case "level": {
      const isOff = effort === "none";
      const config = isOff ? { type: "disabled" } : { type: "enabled", maxReasoningEffort: effort };
      return { ...NO_THINKING, own: { reasoningConfig: config } };
    }
    case "budget":
      return effort === "none" ? NO_THINKING : withBudget(budgetForEffort(effort), input, isForced, conversion);
    default:
      if (added?.reasoning_effort === undefined)
        conversion.note("option_dropped", "did not ask for an effort: the model has no field for it");
      return NO_THINKING;
  }
}

function withBudget(
  budget: number,
  { body, model, turns, outputCap }: ConverseInput,
  isForced: boolean,
  conversion: Conversion,
): WrittenThinking {
  const cap = body.max_completion_tokens ?? body.max_tokens ?? outputCap;
  const maxTokens = Math.min(typeof cap === "number" ? cap : model.maxOutput, model.maxOutput);
  const tokens = Math.min(budget, maxTokens - ANSWER_MIN);
  if (tokens < BUDGET_MIN || isForced || lacksThinking(turns)) {
    conversion.note(
      "option_dropped",
      "did not ask for thinking: the output cap, a forced tool or the open tool call leaves no room for it",
    );
    return NO_THINKING;
  }
  return { own: { thinking: { type: "enabled", budget_tokens: tokens } }, inference: { maxTokens }, bars: true };
}

/** Calls that were made without a thought cannot be gone on from with one. */
function lacksThinking(turns: readonly ConverseTurn[]): boolean {
  const isAnswering = turns.at(-1)?.content.some(({ toolResult }) => toolResult !== undefined) === true;
  const calling = turns.findLast(({ role }) => role === "assistant");
  return isAnswering && calling?.content.some(({ reasoningContent }) => reasoningContent !== undefined) !== true;
}

function writeFormat(
  body: JsonObject,
  takesFormat: boolean,
): { readonly fields: JsonObject; readonly instructions: readonly ConverseBlock[] } {
  const format = isObject(body.response_format) ? body.response_format : {};
  const { schema, name } = isObject(format.json_schema) ? format.json_schema : {};
  const isJson = format.type === "json_object" || format.type === "json_schema";
  if (!isJson) return { fields: {}, instructions: [] };
  if (!isObject(schema)) return { fields: {}, instructions: [{ text: JSON_ONLY }] };
  const written = JSON.stringify(schema);
  if (!takesFormat) {
    return { fields: {}, instructions: [{ text: `${JSON_ONLY} It must satisfy this JSON schema:\n${written}` }] };
  }
  const jsonSchema = { schema: written, ...(typeof name === "string" ? { name } : {}) };
  return {
    fields: { outputConfig: { textFormat: { type: "json_schema", structure: { jsonSchema } } } },
    instructions: [],
  };
}

function noteDropped(body: JsonObject, conversion: Conversion): readonly string[] {
  const names = Object.keys(body).filter(
    (name) => !CONVERTED.has(name) && !isControlField(name, body[name]) && body[name] !== null,
  );
  for (const name of names)
    conversion.note("option_dropped", `dropped '${name}': the Converse format has no counterpart`);
  return names;
}

// Tools and tool choice.

/** A tool needs a schema, also when it takes nothing. */
const NO_PARAMETERS: JsonObject = { type: "object", properties: {} };

interface WrittenTools {
  readonly fields: JsonObject;
  readonly instructions: readonly ConverseBlock[];
}

function writeTools({ body, turns, model }: ConverseInput, conversion: Conversion): WrittenTools {
  const choice = body.tool_choice ?? body.function_call;
  const allowed = allowedIn(choice);
  const given = [...objectsIn(body.tools), ...objectsIn(body.functions)]
    .flatMap((tool) => writeTool(tool, conversion) ?? [])
    .filter(({ toolSpec }) => allowed === null || allowed.names.includes(toolSpec.name));
  const isNone = choice === "none";
  const called = calledNames(turns);
  if (given.length === 0 || (isNone && called.size === 0)) return toolsOfHistory(called, conversion);
  const asked = writeChoice(choice, allowed?.isRequired === true);
  const isForced = asked !== null && asked.auto === undefined;
  const isRefused = isForced && model.dialect.takesForcedTools === false;
  if (isRefused) conversion.note("option_changed", TOOL_NOT_FORCED);
  const toolChoice = asked === null || isRefused ? {} : { toolChoice: asked };
  return {
    fields: { toolConfig: { tools: given, ...toolChoice } },
    instructions: isNone ? [{ text: NO_CALLS }] : [],
  };
}

interface ToolSpec {
  readonly toolSpec: JsonObject & { readonly name: string };
}

/** Nested or flat, as both are sent. */
function writeTool(tool: JsonObject, conversion: Conversion): ToolSpec | null {
  if (isObject(tool.custom) || tool.type === "custom") {
    conversion.refuse("it knows no custom tools with free text or a grammar");
    return null;
  }
  const { name, description, parameters, strict } = isObject(tool.function) ? tool.function : tool;
  if (typeof name !== "string") {
    conversion.note("tool_dropped", `dropped a tool '${toText(tool.type)}': only its own provider runs it`);
    return null;
  }
  if (strict === true)
    conversion.note("option_dropped", "dropped 'strict' of tools: the Converse format has no counterpart");
  const json = isObject(parameters) ? { type: "object", ...parameters } : NO_PARAMETERS;
  const said = typeof description === "string" && description !== "" ? { description } : {};
  return { toolSpec: { name, ...said, inputSchema: { json } } };
}

function allowedIn(choice: unknown): { readonly names: readonly unknown[]; readonly isRequired: boolean } | null {
  if (!isObject(choice) || choice.type !== "allowed_tools") return null;
  const allowed = isObject(choice.allowed_tools) ? choice.allowed_tools : choice;
  return { names: objectsIn(allowed.tools).map(nameOf), isRequired: allowed.mode === "required" };
}

function nameOf(tool: JsonObject): unknown {
  return isObject(tool.function) ? tool.function.name : tool.name;
}

function writeChoice(choice: unknown, isRequired: boolean): JsonObject | null {
  const kind = isObject(choice) ? choice.type : choice;
  if (kind === "required" || kind === "any" || isRequired) return { any: {} };
  const name = isObject(choice) && kind !== "allowed_tools" ? nameOf(choice) : null;
  if (typeof name === "string") return { tool: { name } };
  return kind === "auto" ? { auto: {} } : null;
}

function calledNames(turns: readonly ConverseTurn[]): ReadonlySet<string> {
  const calls = turns.flatMap(({ content }) => objectsIn(content.map(({ toolUse }) => toolUse)));
  return new Set(calls.map(({ name }) => toText(name)));
}

/** Bedrock refuses calls in the history of a request without tools. */
function toolsOfHistory(names: ReadonlySet<string>, conversion: Conversion): WrittenTools {
  if (names.size === 0) return { fields: {}, instructions: [] };
  conversion.note("content_converted", "listed the tools that were called earlier, and asked not to call them");
  const tools = [...names].map((name) => ({ toolSpec: { name, inputSchema: { json: NO_PARAMETERS } } }));
  return { fields: { toolConfig: { tools } }, instructions: [{ text: NO_CALLS }] };
}
