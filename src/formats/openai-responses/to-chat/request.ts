// A Responses request as a chat-completions body for one model. What both formats have is converted, and the rest is
// dropped with a reason.

import type { ChatMessage } from "../../../core/chat.ts";
import type { HostedModel } from "../../../core/model.ts";
import { isEffort } from "../../../core/requests/effort.ts";
import { Conversion, unconvertible } from "../../convert/conversion.ts";
import { convertEffort } from "../../convert/effort.ts";
import type { ChatBody, ClientRequest } from "../../format.ts";
import { isObject, type JsonObject } from "../../json/fields.ts";
import { sourceOf } from "../../json/splice.ts";
import { isControlField } from "../../service/controls.ts";
import { convertTools } from "./tools.ts";

/** Fields this file takes care of, or that say nothing to a provider; every other one is left out with a note. */
const CONVERTED: ReadonlySet<string> = new Set([
  ...["model", "input", "instructions", "stream", "stream_options", "max_output_tokens", "temperature", "top_p"],
  ...["tools", "tool_choice", "parallel_tool_calls", "text", "reasoning", "top_logprobs", "include", "user"],
  ...["safety_identifier", "prompt_cache_key", "metadata", "store", "previous_response_id", "conversation"],
  ...["background", "presence_penalty", "frequency_penalty"],
]);
/** Fields that chat-completions has under the same name. */
const SHARED = [
  ...(["temperature", "top_p", "presence_penalty", "frequency_penalty"] as const),
  ...(["user", "safety_identifier", "prompt_cache_key"] as const),
];

/** Throws `unconvertible` when the request needs what only a provider of the same format has. */
export function writeChatBody(request: ClientRequest, model: HostedModel): ChatBody {
  const { body, chat, nativeNeeds = [], notes = [] } = request;
  if (nativeNeeds.length > 0) throw unconvertible(nativeNeeds);
  const conversion = new Conversion();
  for (const { code, message } of notes) conversion.note(code, message);
  const messages = withReasoningFor(model, chat.messages);
  const converted: Record<string, unknown> = { model: body.model, messages };
  if (chat.isStream) converted.stream = true;
  if (chat.maxOutputTokens !== null) converted.max_tokens = chat.maxOutputTokens;
  for (const name of SHARED) if (isSet(body[name])) converted[name] = body[name];
  convertTools(body, converted, conversion);
  convertText(body.text, converted);
  convertLogprobs(body, converted);
  if (isObject(body.reasoning) && isEffort(body.reasoning.effort)) {
    const effort = convertEffort(body.reasoning.effort, model, conversion);
    if (effort !== null) converted.reasoning_effort = effort;
  }
  if (isObject(body.reasoning) && SUMMARIES.has(body.reasoning.summary)) {
    conversion.note("option_dropped", "dropped 'reasoning.summary': the model shows of its reasoning what it likes");
  }
  for (const name of Object.keys(body)) {
    if (CONVERTED.has(name) || isControlField(name, body[name]) || !isSet(body[name]) || isUsual(name, body[name]))
      continue;
    conversion.note("option_dropped", `dropped '${name}': only providers of the Responses API have it`);
  }
  if (conversion.refusals.length > 0) throw unconvertible(conversion.refusals);
  const written = messages === chat.messages ? chat : { ...chat, messages };
  return {
    body: converted,
    source: sourceOf(converted),
    chat: written,
    conversions: conversion.notes,
  };
}

/** Lengths that only providers of the Responses API can be asked for. */
const SUMMARIES: ReadonlySet<unknown> = new Set(["concise", "detailed"]);

/** Chat-completions never truncates. */
function isUsual(name: string, value: unknown): boolean {
  return name === "truncation" && value === "disabled";
}

/** Hosts refuse reasoning that another model left in the history, unless they ask for their own back. */
function withReasoningFor({ dialect }: HostedModel, messages: readonly ChatMessage[]): readonly ChatMessage[] {
  const isKept = (dialect.reasoningHistory ?? "drop") !== "drop";
  return isKept || !messages.some(hasReasoning) ? messages : messages.map(withoutReasoning);
}

function hasReasoning(message: ChatMessage): boolean {
  return "reasoning_content" in message;
}

function withoutReasoning(message: ChatMessage): ChatMessage {
  if (!hasReasoning(message)) return message;
  const { reasoning_content: _, ...rest } = message as ChatMessage & { readonly reasoning_content: unknown };
  return rest;
}

function convertText(text: unknown, converted: Record<string, unknown>): void {
  if (!isObject(text)) return;
  if (isSet(text.verbosity)) converted.verbosity = text.verbosity;
  const format = text.format;
  if (!isObject(format)) return;
  if (format.type === "json_object") converted.response_format = { type: "json_object" };
  if (format.type !== "json_schema") return;
  const schema: Record<string, unknown> = { name: format.name, schema: format.schema };
  for (const name of ["description", "strict"]) if (isSet(format[name])) schema[name] = format[name];
  converted.response_format = { type: "json_schema", json_schema: schema };
}

const LOGPROBS = "message.output_text.logprobs";

function convertLogprobs({ top_logprobs: top, include }: JsonObject, converted: Record<string, unknown>): void {
  const isIncluded = Array.isArray(include) && include.includes(LOGPROBS);
  if (!isSet(top) && !isIncluded) return;
  converted.logprobs = true;
  if (isSet(top)) converted.top_logprobs = top;
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}
