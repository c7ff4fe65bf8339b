// A Messages request as a chat-completions body for one model. What both formats have is converted, and the rest is
// dropped with a reason.

import { unreadIn } from "../../../core/chat.ts";
import type { HostedModel } from "../../../core/model.ts";
import { type Effort, isEffort } from "../../../core/requests/effort.ts";
import { Conversion, unconvertible } from "../../convert/conversion.ts";
import { convertEffort, effortForBudget } from "../../convert/effort.ts";
import type { ChatBody, ClientRequest } from "../../format.ts";
import { isObject, type JsonObject, toText } from "../../json/fields.ts";
import { isStrictSchema } from "../../json/schema.ts";
import { sourceOf } from "../../json/splice.ts";
import { isControlField } from "../../service/controls.ts";
import { hashText } from "../../tools/calls.ts";
import { CLOUD_FIELDS, type Turn } from "../blocks.ts";
import { type EditedContext, editContext } from "../context-edits.ts";
import { convertTurns } from "./messages.ts";
import { convertTools } from "./tools.ts";

/** Hosts of chat-completions take no more stop sequences. */
const STOPS_MAX = 4;
/** Hosts refuse longer names of users; a hash still tells them apart. */
const USER_LENGTH_MAX = 64;
const USER_HASH_LENGTH = 40;

/** Fields this file takes care of; every other one is left out with a note. */
const CONVERTED: ReadonlySet<string> = new Set([
  ...["model", "max_tokens", "messages", "system", "stream", "temperature", "top_p", "top_k", "stop_sequences"],
  ...["tools", "tool_choice", "thinking", "output_config", "output_format", "metadata", "mcp_servers"],
  "context_management",
  ...CLOUD_FIELDS,
]);

/** Reasons that say more of a field that is left out. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  container: "only Anthropic runs code in containers",
};

/** Throws `unconvertible` when the request needs what only Anthropic has. */
export function writeChatBody({ body, chat, source: given }: ClientRequest, model: HostedModel): ChatBody {
  const conversion = new Conversion();
  const { turns, applied, unknown } = editContext({ body, source: given });
  noteEdits({ applied, unknown }, conversion);
  const keepsCacheControl = model.dialect.takesCacheControl === true;
  const keepsReasoning = (model.dialect.reasoningHistory ?? "drop") !== "drop";
  const messages = convertTurns(
    { system: body.system as Turn["content"] | undefined, turns },
    { conversion, keepsCacheControl, keepsReasoning, keepsDetails: true },
  );
  const converted: JsonObject = {
    model: body.model,
    messages,
    ...(chat.isStream ? { stream: true } : {}),
    ...convertSampling(body, model, conversion),
    ...convertTools(body, conversion),
    ...effortField(body, model, conversion),
    ...convertOutputFormat(body),
    ...convertUser(body),
  };
  for (const name of Object.keys(body)) {
    if (!CONVERTED.has(name) && !isControlField(name, body[name]))
      conversion.note("option_dropped", `dropped '${name}': ${LEFT_OUT[name] ?? "only Anthropic has it"}`);
  }
  if (!keepsCacheControl && chat.messages.length > 0) noteCacheControl(body, conversion);
  if (conversion.refusals.length > 0) throw unconvertible(conversion.refusals);
  const source = sourceOf(converted);
  return { body: converted, source, chat: { ...chat, messages }, conversions: conversion.notes };
}

function noteEdits({ applied, unknown }: Omit<EditedContext, "turns">, conversion: Conversion): void {
  for (const { type, cleared_input_tokens: tokens } of applied)
    conversion.note(
      "context_edited",
      `cleared about ${toText(tokens)} tokens of earlier turns, as '${toText(type)}' asks`,
    );
  for (const type of unknown)
    conversion.note("option_dropped", `dropped the edit '${type}' of 'context_management': only Anthropic does it`);
}

function convertSampling(body: JsonObject, model: HostedModel, conversion: Conversion): JsonObject {
  const fields: Record<string, unknown> = {};
  for (const name of ["max_tokens", "temperature", "top_p"]) if (isSet(body[name])) fields[name] = body[name];
  if (body.max_tokens === 0) {
    conversion.note("option_changed", "asked for one token instead of none: only Anthropic can warm a cache");
    fields.max_tokens = 1;
  }
  if (isSet(body.top_k)) {
    if (model.dialect.takesTopK === true) fields.top_k = body.top_k;
    else conversion.note("option_dropped", "dropped 'top_k': the host does not take it");
  }
  const stops = Array.isArray(body.stop_sequences) ? body.stop_sequences : [];
  if (stops.length > STOPS_MAX)
    conversion.note("option_dropped", `dropped stop sequences beyond the first ${STOPS_MAX}`);
  if (stops.length > 0) fields.stop = stops.slice(0, STOPS_MAX);
  return fields;
}

function effortField(body: JsonObject, model: HostedModel, conversion: Conversion): JsonObject {
  const wanted = wantedEffort(body);
  const effort = wanted === null ? null : convertEffort(wanted, model, conversion);
  return effort === null ? {} : { reasoning_effort: effort };
}

/** Returns the effort; null when the model is to decide, as with adaptive thinking. */
export function wantedEffort({ thinking, output_config: output }: JsonObject): Effort | null {
  if (isObject(thinking) && thinking.type === "disabled") return "none";
  if (isObject(output) && isEffort(output.effort)) return output.effort;
  if (isObject(thinking) && thinking.type === "enabled") return effortForBudget(Number(thinking.budget_tokens ?? 0));
  return null;
}

function convertOutputFormat(body: JsonObject): JsonObject {
  const format = isObject(body.output_config) ? (body.output_config.format ?? body.output_format) : body.output_format;
  if (!isObject(format) || format.type !== "json_schema") return {};
  const schema = format.schema;
  const strict = isStrictSchema(schema) ? { strict: true } : {};
  return { response_format: { type: "json_schema", json_schema: { name: "answer", schema, ...strict } } };
}

function convertUser({ metadata }: JsonObject): JsonObject {
  const user = isObject(metadata) ? metadata.user_id : null;
  if (typeof user !== "string" || user === "") return {};
  return { user: user.length > USER_LENGTH_MAX ? hashText(user, USER_HASH_LENGTH) : user };
}

function noteCacheControl(body: JsonObject, conversion: Conversion): void {
  const hasMark = [body.system, body.tools, body.messages].some((value) => hasField(value, "cache_control", 0));
  if (hasMark) conversion.note("option_dropped", "dropped 'cache_control': the host caches in its own way");
}

/** Cache marks stand on blocks and on content inside results, never deeper. */
const MARK_DEPTH_MAX = 4;

function hasField(value: unknown, name: string, depth: number): boolean {
  if (Array.isArray(value)) return value.some((item) => hasField(item, name, depth + 1));
  if (!isObject(value) || depth > MARK_DEPTH_MAX) return false;
  if (value[name] !== undefined) return true;
  return unreadIn(value, "content") === null && hasField(value.content, name, depth + 1);
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}
