// A Gemini request as a chat-completions body for one model. What both formats have is converted, and the rest is dropped
// with a reason.

import type { HostedModel } from "../../../core/model.ts";
import { type Effort, isEffort } from "../../../core/requests/effort.ts";
import { Conversion, unconvertible } from "../../convert/conversion.ts";
import { convertEffort, effortForBudget } from "../../convert/effort.ts";
import type { ChatBody, ClientRequest } from "../../format.ts";
import { invalid, isObject, type JsonObject, readObject } from "../../json/fields.ts";
import { isStrictSchema } from "../../json/schema.ts";
import { sourceOf } from "../../json/splice.ts";
import { isControlField } from "../../service/controls.ts";
import { convertContents } from "./messages.ts";
import { camelFields, type GeminiRequest, isSet, parseRequest } from "./parse.ts";
import { toJsonSchema } from "./schema.ts";
import { convertTools, readToolNeeds } from "./tools.ts";

/** Hosts of chat-completions take no more stop sequences. */
const STOPS_MAX = 4;
const ENUM_TYPE = "text/x.enum";

/** Fields that this file takes care of; every other one is dropped with a note. */
const CONVERTED: ReadonlySet<string> = new Set([
  ...["contents", "systemInstruction", "tools", "toolConfig", "generationConfig", "model"],
]);
/** The same in `generationConfig`, under the name that chat-completions has for it. */
const SAME: Readonly<Record<string, string>> = {
  maxOutputTokens: "max_tokens",
  temperature: "temperature",
  topP: "top_p",
  seed: "seed",
  presencePenalty: "presence_penalty",
  frequencyPenalty: "frequency_penalty",
};
const CONVERTED_CONFIG: ReadonlySet<string> = new Set([
  ...Object.keys(SAME),
  ...["topK", "stopSequences", "candidateCount", "thinkingConfig", "responseLogprobs", "logprobs"],
  ...["responseMimeType", "responseSchema", "responseJsonSchema", "responseModalities"],
]);

/** Throws `unconvertible` when the request needs what only Google has. */
export function writeChatBody({ body, chat, target }: ClientRequest, model: HostedModel): ChatBody {
  const conversion = new Conversion();
  const request = parseRequest(body);
  const keepsReasoning = (model.dialect.reasoningHistory ?? "drop") !== "drop";
  const { system } = request;
  const messages = convertContents(
    { contents: request.contents, system: [...system, ...enumInstruction(request, conversion)] },
    { conversion, keepsReasoning, keepsDetails: true, keepsSignatures: model.dialect.needsThoughtSignatures === true },
  );
  const converted: JsonObject = {
    model: target?.model,
    messages,
    ...(chat.isStream ? { stream: true } : {}),
    ...convertSampling(request.config, model, conversion),
    ...convertTools(request, conversion),
    ...effortField(request, model, conversion),
    ...convertOutputFormat(request.config),
  };
  noteDropped(request, conversion);
  for (const reason of [...readNeeds(request), ...readToolNeeds(request)]) conversion.refuse(reason);
  if (conversion.refusals.length > 0) throw unconvertible(conversion.refusals);
  return { body: converted, source: sourceOf(converted), chat: { ...chat, messages }, conversions: conversion.notes };
}

/** Names needs that only Google can meet, beside its files and its tools. */
export function readNeeds({ fields, config }: Pick<GeminiRequest, "fields" | "config">): readonly string[] {
  const cached = isSet(fields.cachedContent) ? ["cached content is kept at Google"] : [];
  const modalities = (config.responseModalities as readonly string[] | undefined) ?? [];
  const others = modalities.filter((name) => name.toUpperCase() !== "TEXT");
  return [...cached, ...others.map((name) => `responses in the modality '${name}' are made by Google only`)];
}

function noteDropped({ fields, config }: GeminiRequest, conversion: Conversion): void {
  const top = Object.keys(fields).filter((name) => !CONVERTED.has(name) && !isControlField(name, fields[name]));
  const inner = Object.keys(config).filter((name) => !CONVERTED_CONFIG.has(name));
  for (const name of [...top, ...inner.map((each) => `generationConfig.${each}`)]) {
    conversion.note("option_dropped", `dropped '${name}': only Google has it`);
  }
}

function convertSampling(config: JsonObject, model: HostedModel, conversion: Conversion): JsonObject {
  const fields: Record<string, unknown> = {};
  for (const [name, chatName] of Object.entries(SAME)) if (isSet(config[name])) fields[chatName] = config[name];
  if (isSet(config.topK)) {
    if (model.dialect.takesTopK === true) fields.top_k = config.topK;
    else conversion.note("option_dropped", "dropped 'topK': the host does not take it");
  }
  const stops = (config.stopSequences as readonly string[] | undefined) ?? [];
  if (stops.length > STOPS_MAX)
    conversion.note("option_dropped", `dropped stop sequences beyond the first ${STOPS_MAX}`);
  if (stops.length > 0) fields.stop = stops.slice(0, STOPS_MAX);
  if (Number(config.candidateCount ?? 1) > 1) fields.n = config.candidateCount;
  if (config.responseLogprobs === true) {
    fields.logprobs = true;
    if (isSet(config.logprobs)) fields.top_logprobs = config.logprobs;
  }
  return fields;
}

function effortField({ thinking }: GeminiRequest, model: HostedModel, conversion: Conversion): JsonObject {
  const wanted = wantedEffort(thinking);
  const effort = wanted === null ? null : convertEffort(wanted, model, conversion);
  return effort === null ? {} : { reasoning_effort: effort };
}

/** Returns the effort; null when the model is to decide, as with a budget of -1. */
export function wantedEffort({ thinkingBudget: budget, thinkingLevel: level }: JsonObject): Effort | null {
  const named = typeof level === "string" ? level.toLowerCase() : null;
  if (isEffort(named)) return named;
  if (typeof budget !== "number" || budget < 0) return null;
  return budget === 0 ? "none" : effortForBudget(budget);
}

function convertOutputFormat(config: JsonObject): JsonObject {
  const { responseMimeType: type } = config;
  if (type !== "application/json") return {};
  const schema = schemaOf(config);
  if (schema === null) return { response_format: { type: "json_object" } };
  const strict = isStrictSchema(schema) ? { strict: true } : {};
  return { response_format: { type: "json_schema", json_schema: { name: "answer", schema, ...strict } } };
}

function schemaOf({ responseSchema, responseJsonSchema }: JsonObject): JsonObject | null {
  const schema = responseJsonSchema ?? responseSchema;
  return isObject(schema) ? toJsonSchema(schema) : null;
}

/** One of several words as plain text, which chat-completions has no field for. */
function enumInstruction({ config }: GeminiRequest, conversion: Conversion): readonly { readonly text: string }[] {
  if (config.responseMimeType !== ENUM_TYPE) return [];
  const values = schemaOf(config)?.enum;
  if (!Array.isArray(values)) return [];
  conversion.note("option_changed", "turned the list of allowed responses into an instruction");
  return [{ text: `Respond with exactly one of these values and nothing else: ${values.join(", ")}` }];
}

/** A request inside of a request to count tokens. */
export function innerRequest(body: JsonObject): JsonObject {
  const fields = camelFields(body);
  const inner = readObject(fields, "generateContentRequest");
  if (inner === null) return body;
  if (!isSet(fields.contents)) return inner;
  throw invalid("contents", "Send either 'contents' or 'generateContentRequest'.");
}
