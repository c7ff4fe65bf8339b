// A chat-completions request for a provider of the same format: the client's own bytes. Only those top-level fields
// change that must, for instance because of the dialect of the model's host.

import { type ChatMessage, forcesTool, type ToolCall, withChanges } from "../../core/chat.ts";
import type { Dialect } from "../../core/model.ts";
import type { Effort } from "../../core/requests/effort.ts";
import { Conversion, ESSENTIAL_FIELDS, TOOL_NOT_FORCED } from "../convert/conversion.ts";
import { withoutDetails } from "../convert/reasoning-details.ts";
import type { Outgoing, ProviderRequest, SentRequest } from "../format.ts";
import { isObject, type JsonObject } from "../json/fields.ts";
import { spliceBody, writeJson } from "../json/splice.ts";
import { CACHE_KEY, cacheKeyFor } from "../provider/cache-key.ts";
import { rawValue } from "../scan/scan.ts";
import { isControlField } from "../service/controls.ts";
import { toolIdFor } from "../tools/calls.ts";

type Changes = Map<string, string | Buffer | null>;

const EFFORT = "reasoning_effort";

export function effortFields(effort: Effort): JsonObject {
  return { [EFFORT]: effort };
}

/** The same for a client's own request and a converted one: a client of this format writes the internal shape. */
export function writeOpenaiRequest(given: Outgoing): ProviderRequest {
  const outgoing = given.refusedFields.length === 0 ? given : avoidingRefused(given);
  const { request, model } = outgoing;
  const changes: Changes = new Map();
  changes.set("model", JSON.stringify(model.upstream));
  addFields(given.added, changes);
  dropControls(request.body, changes);
  addFields(outgoing.tierFields, changes);
  const droppedFields = dropRefused(outgoing, changes);
  renameFields(outgoing, changes);
  writeOutputCap(outgoing, changes);
  writeStreamOptions(outgoing, changes);
  const isUnforced = model.dialect.takesForcedTools === false && forcesTool(request.body.tool_choice);
  if (isUnforced) changes.set("tool_choice", JSON.stringify("auto"));
  const cacheKey = cacheKeyFor(outgoing);
  if (cacheKey !== null) changes.set(CACHE_KEY, JSON.stringify(cacheKey));
  const messages = adaptMessages(request.chat.messages, model.dialect);
  if (messages !== null) changes.set("messages", messages);
  const written = { path: "/chat/completions", body: spliceBody(request.source, changes), droppedFields };
  if (droppedFields.length === 0 && !isUnforced) return written;
  const conversion = new Conversion();
  if (isUnforced) conversion.note("option_changed", TOOL_NOT_FORCED);
  conversion.leaveOut(droppedFields);
  return { ...written, conversions: conversion.notes };
}

/** The model as it is to be addressed without these fields: a cap goes under its other name, so that it still holds. */
function avoidingRefused(outgoing: Outgoing): Outgoing {
  const { model, refusedFields } = outgoing;
  const changes: Partial<Dialect> = {
    ...(refusedFields.includes("max_tokens") ? { outputCap: "max_completion_tokens" } : {}),
    ...(refusedFields.includes("max_completion_tokens") ? { outputCap: "max_tokens" } : {}),
    ...(refusedFields.includes("stream_options") ? { takesStreamOptions: false } : {}),
  };
  return { ...outgoing, model: { ...model, dialect: { ...model.dialect, ...changes } } };
}

/** A field the client did not send cannot be what the provider refused, unless conversion wrote it. */
export function mayLeaveOut(field: string, { body, chat, isNative }: SentRequest): boolean {
  // In a stream we ask for usage ourselves, so this one can be refused although the client never sent it.
  if (field === "stream_options") return chat.isStream;
  if (field === CACHE_KEY || field === EFFORT) return true;
  // A converted request may have fields that the client never wrote.
  return (!isNative || body[field] !== undefined) && !ESSENTIAL_FIELDS.has(field);
}

function addFields(fields: JsonObject | null | undefined, changes: Changes): void {
  for (const name in fields) changes.set(name, JSON.stringify(fields[name]));
}

function dropControls(body: JsonObject, changes: Changes): void {
  for (const name in body) if (isControlField(name, body[name])) changes.set(name, null);
}

function dropRefused({ request, model, refusedFields }: Outgoing, changes: Changes): readonly string[] {
  const dropped: string[] = [];
  for (const name in request.body) {
    const isRefused = model.dialect.refuses.includes(name) || refusedFields.includes(name);
    if (isRefused && request.body[name] !== undefined) dropped.push(name);
  }
  for (const name of dropped) changes.set(name, null);
  return dropped;
}

function renameFields({ request, model, refusedFields }: Outgoing, changes: Changes): void {
  for (const [from, to] of Object.entries(model.dialect.renames)) {
    const value = rawValue(request.source, from);
    if (value === null) continue;
    changes.set(from, null);
    if (!refusedFields.includes(from) && !refusedFields.includes(to)) changes.set(to, value);
  }
}

// A cap above what the model can write is refused by most hosts and means the same as the model's own limit.
function writeOutputCap({ request, model, outputCap, refusedFields }: Outgoing, changes: Changes): void {
  const caps = { max_tokens: request.body.max_tokens, max_completion_tokens: request.body.max_completion_tokens };
  const names = ["max_completion_tokens", "max_tokens"] as const;
  if (model.dialect.outputCap === "as-sent") {
    for (const name of names) {
      const isTooHigh = typeof caps[name] === "number" && caps[name] > model.maxOutput;
      if (isTooHigh && !refusedFields.includes(name)) changes.set(name, String(model.maxOutput));
    }
    if (typeof outputCap === "number") changes.set("max_tokens", String(outputCap));
    return;
  }
  const cap = outputCap ?? caps.max_completion_tokens ?? caps.max_tokens;
  for (const name of names) {
    const isWanted = name === model.dialect.outputCap && typeof cap === "number" && !refusedFields.includes(name);
    if (isWanted) changes.set(name, String(Math.min(cap, model.maxOutput)));
    else if (caps[name] !== undefined) changes.set(name, null);
  }
}

// Usage is always asked for: without it nothing can be metered. The client's own wish is kept for the answer.
function writeStreamOptions({ request, model, refusedFields }: Outgoing, changes: Changes): void {
  const options = request.body.stream_options;
  const isTaken = model.dialect.takesStreamOptions && !refusedFields.includes("stream_options");
  if (!request.chat.isStream || !isTaken) {
    if (options !== undefined) changes.set("stream_options", null);
    return;
  }
  if (isObject(options) && options.include_usage === true) return;
  changes.set("stream_options", JSON.stringify({ ...(isObject(options) ? options : {}), include_usage: true }));
}

/** The messages as this host takes them, or null when they can go as they are. */
function adaptMessages(messages: readonly ChatMessage[], dialect: Dialect): Buffer | null {
  const isPlain = dialect.hasDeveloperRole && dialect.takesMessageNames && dialect.toolIds === "any";
  if (isPlain && !hasHistoryRules(messages, dialect)) return null;
  let isChanged = false;
  const adapted = messages.map((message) => {
    const result = adaptMessage(message, dialect);
    isChanged ||= result !== message;
    return result;
  });
  if (!isChanged) return null;
  return writeJson(adapted);
}

function adaptMessage(message: ChatMessage, dialect: Dialect): ChatMessage {
  let adapted = adaptHistory(message, dialect);
  if (!dialect.hasDeveloperRole && message.role === "developer") adapted = withChanges(adapted, { role: "system" });
  if (!dialect.takesMessageNames && message.name !== undefined && message.role !== "function") {
    const { name: _, ...rest } = adapted;
    adapted = rest;
  }
  if (dialect.toolIds === "any") return adapted;
  if (typeof message.tool_call_id === "string") {
    const id = toolIdFor(message.tool_call_id, dialect.toolIds);
    if (id !== message.tool_call_id) adapted = withChanges(adapted, { tool_call_id: id });
  }
  const validId = (id: string): string => toolIdFor(id, dialect.toolIds);
  return adapted.tool_calls?.some(({ id }) => typeof id === "string" && validId(id) !== id) === true
    ? withChanges(adapted, { tool_calls: adapted.tool_calls.map((call) => withValidId(call, validId)) })
    : adapted;
}

function withValidId(call: ToolCall, validId: (id: string) => string): ToolCall {
  return typeof call.id === "string" ? { ...call, id: validId(call.id) } : call;
}

// Earlier turns of a conversation, adapted to the host. Models of other vendors leave reasoning text and thought signatures
// in them.

/** Names under which hosts leave a model's thoughts in a message. */
const REASONING_FIELDS = ["reasoning_content", "reasoning", "reasoning_details", "thinking_blocks"] as const;

// Gemini refuses a call without the signature it gave; this value it accepts for calls that it did not make.
const FOREIGN_SIGNATURE = { google: { thought_signature: "skip_thought_signature_validator" } };

/** Tells whether earlier turns must be looked at: most hosts have no rules, and most turns no signatures. */
function hasHistoryRules(messages: readonly ChatMessage[], dialect: Dialect): boolean {
  const { reasoningHistory = "keep", needsThoughtSignatures = false } = dialect;
  return reasoningHistory !== "keep" || needsThoughtSignatures || messages.some(hasDetails);
}

function hasDetails(message: ChatMessage): boolean {
  return (message as { reasoning_details?: unknown }).reasoning_details !== undefined;
}

/** The same message when nothing has to change. */
function adaptHistory(message: ChatMessage, dialect: Dialect): ChatMessage {
  if (message.role !== "assistant") return message;
  const adapted = keepsReasoning(message, dialect) ? withoutDetails(message) : without(message, REASONING_FIELDS);
  const calls = message.tool_calls;
  if (calls === undefined || calls === null || calls.length === 0) return adapted;
  if (dialect.needsThoughtSignatures === true) return withSignature(adapted, calls);
  const isForeign = dialect.reasoningHistory === "drop" && calls.some((call) => "extra_content" in call);
  return isForeign
    ? withChanges(adapted, { tool_calls: calls.map((call) => without(call, ["extra_content"])) })
    : adapted;
}

function keepsReasoning(message: ChatMessage, { reasoningHistory = "keep" }: Dialect): boolean {
  if (reasoningHistory === "tool-turns") return (message.tool_calls?.length ?? 0) > 0;
  return reasoningHistory === "keep";
}

/** Signs the first of several calls made at once: the others need no signature. */
function withSignature(message: ChatMessage, calls: readonly ToolCall[]): ChatMessage {
  const [first, ...others] = calls as readonly [ToolCall, ...ToolCall[]];
  if (isObject((first as { extra_content?: unknown }).extra_content)) return message;
  return withChanges(message, { tool_calls: [{ ...first, extra_content: FOREIGN_SIGNATURE }, ...others] });
}

function without<T extends object>(value: T, names: readonly string[]): T {
  if (!names.some((name) => name in value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name))) as T;
}
