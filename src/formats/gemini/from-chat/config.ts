// The fields of a chat-completions request, apart from messages and tools, in the Gemini format: `generationConfig` with
// the form of the answer and thinking. A field without a counterpart is dropped with a reason.

import type { HostedModel } from "../../../core/model.ts";
import { type Effort, isEffort } from "../../../core/requests/effort.ts";
import type { Conversion } from "../../convert/conversion.ts";
import { budgetForEffort, NO_REASONING, nearestEffort } from "../../convert/effort.ts";
import type { Outgoing } from "../../format.ts";
import { isObject, type JsonObject } from "../../json/fields.ts";
import { isControlField } from "../../service/controls.ts";
import { acceptedSchema } from "./tools.ts";

/** Fields that mean the same in both formats, under Gemini's names. */
export const SAME_FIELDS: Readonly<Record<string, string>> = {
  temperature: "temperature",
  top_p: "topP",
  top_k: "topK",
  presence_penalty: "presencePenalty",
  frequency_penalty: "frequencyPenalty",
};
/** The most answers that can be asked for at once. */
const CANDIDATES_MAX = 8;
const STOPS_MAX = 5;
/** The least that every model with budgets accepts, beside none at all. */
const BUDGET_MIN = 512;
const SEED_MAX = 2 ** 31 - 1;
/** Said in words where the model takes no format beside tools. */
const JSON_ONLY = "Answer with one valid JSON object and nothing else: no other text, no code fence.";

/** Fields this file, the contents or the tools take care of; every other one is left out with a note. */
const CONVERTED: ReadonlySet<string> = new Set([
  ...Object.keys(SAME_FIELDS),
  ...["model", "messages", "stream", "stream_options", "n", "max_tokens", "max_completion_tokens", "stop", "seed"],
  ...["tools", "functions", "tool_choice", "function_call", "parallel_tool_calls", "response_format"],
  ...["reasoning_effort", "reasoning"],
]);

interface ConfigInput extends Pick<Outgoing, "request" | "model" | "outputCap" | "added"> {
  readonly hasTools: boolean;
}

interface WrittenConfig {
  readonly config: JsonObject;
  /** Wishes that have to be said in words, after the client's own instructions. */
  readonly instructions: readonly string[];
  readonly dropped: readonly string[];
}

/** Everything but contents and tools, for this model. */
export function writeConfig(input: ConfigInput, conversion: Conversion): WrittenConfig {
  const { request, model, hasTools } = input;
  const { body, chat } = request;
  if (chat.choiceCount > CANDIDATES_MAX) {
    conversion.refuse(`it gives at most ${CANDIDATES_MAX} answers at a time, so 'n' must not be larger`);
  }
  const cap = outputCap(body.max_completion_tokens ?? body.max_tokens, input);
  const format = writeFormat(body, hasTools && model.dialect.takesFormatWithTools === false);
  const config: JsonObject = {
    ...(cap === null ? {} : { maxOutputTokens: cap }),
    ...(chat.choiceCount > 1 ? { candidateCount: chat.choiceCount } : {}),
    ...writeSampling(body, conversion),
    ...format.config,
    ...writeThinking(input, cap, conversion),
  };
  return { config, instructions: format.instructions, dropped: noteDropped(body, conversion) };
}

/** The client's cap, else what its balance covers; null when there is none. */
export function outputCap(
  asked: unknown,
  { model, outputCap: covered }: Pick<Outgoing, "model" | "outputCap">,
): number | null {
  const cap = typeof asked === "number" ? asked : (covered ?? null);
  return cap === null ? null : Math.min(cap, model.maxOutput);
}

function writeSampling(body: JsonObject, conversion: Conversion): JsonObject {
  const fields: Record<string, unknown> = {};
  for (const [name, counterpart] of Object.entries(SAME_FIELDS)) {
    if (typeof body[name] === "number") fields[counterpart] = body[name];
  }
  if (Number.isInteger(body.seed)) fields.seed = Math.abs(body.seed as number) % SEED_MAX;
  const given: readonly unknown[] = Array.isArray(body.stop) ? body.stop : [body.stop];
  const stops = given.filter((text) => typeof text === "string" && text !== "");
  if (stops.length > STOPS_MAX) conversion.refuse(`it takes at most ${STOPS_MAX} stop sequences`);
  if (stops.length > 0) fields.stopSequences = stops;
  return fields;
}

function writeFormat(
  { response_format: format }: JsonObject,
  isSaidInWords: boolean,
): { config: JsonObject; instructions: readonly string[] } {
  if (!isObject(format) || (format.type !== "json_object" && format.type !== "json_schema")) {
    return { config: {}, instructions: [] };
  }
  const wanted = isObject(format.json_schema) ? format.json_schema.schema : undefined;
  const schema = isObject(wanted) ? wanted : null;
  if (isSaidInWords) {
    const form = schema === null ? "" : ` It must satisfy this JSON schema:\n${JSON.stringify(schema)}`;
    return { config: {}, instructions: [JSON_ONLY + form] };
  }
  const responseJsonSchema = schema === null ? {} : { responseJsonSchema: acceptedSchema(schema) };
  return { config: { responseMimeType: "application/json", ...responseJsonSchema }, instructions: [] };
}

/** Thoughts are shown to who asks for an effort; without one the model thinks as it likes and keeps them to itself. */
function writeThinking(
  { request: { body }, model, added }: ConfigInput,
  cap: number | null,
  conversion: Conversion,
): JsonObject {
  const isOurs = added?.reasoning_effort !== undefined;
  const { dialect } = model;
  const asked = body.reasoning_effort ?? (isObject(body.reasoning) ? body.reasoning.effort : null);
  if (!isEffort(asked)) return {};
  if (dialect.thinking === "none" || !model.capabilities.has("reasoning")) {
    if (!isOurs && asked !== "none") conversion.note("option_dropped", NO_REASONING);
    return {};
  }
  const effort = nearestEffort(asked, dialect) ?? dialect.efforts?.[0] ?? "low";
  const includeThoughts = !isOurs && asked !== "none" && effort !== "none";
  const amount = amountOf(effort, model, cap);
  if (!isOurs && Object.keys(amount).length === 0) {
    conversion.note(
      "option_changed",
      "left the amount of thinking to the model: the output cap has no room for a budget",
    );
  }
  return { thinkingConfig: { ...amount, ...(includeThoughts ? { includeThoughts } : {}) } };
}

/** An effort in the form that the model takes. */
export function amountOf(effort: Effort, { dialect }: HostedModel, cap: number | null): JsonObject {
  return dialect.thinking === "level" ? { thinkingLevel: levelOf(effort) } : budgetOf(effort, cap);
}

function levelOf(effort: Effort): string {
  return effort.toUpperCase();
}

/** Thoughts count against the cap, so half of it is left for the answer. Without room the model decides for itself. */
function budgetOf(effort: Effort, cap: number | null): JsonObject {
  const wanted = budgetForEffort(effort);
  const budget = cap === null ? wanted : Math.min(wanted, Math.floor(cap / 2));
  return budget === wanted || budget >= BUDGET_MIN ? { thinkingBudget: budget } : {};
}

function noteDropped(body: JsonObject, conversion: Conversion): readonly string[] {
  const names = Object.keys(body).filter(
    (name) => !CONVERTED.has(name) && !isControlField(name, body[name]) && body[name] !== null,
  );
  for (const name of names)
    conversion.note("option_dropped", `dropped '${name}': the Gemini format has no counterpart`);
  return names;
}
