// Reads a client's Responses request: checks what the gateway reads and nothing else, gives routing its chat-completions
// view, and keeps the original for providers that speak the same format.

import { type ChatRequest, OUTPUT_TOKENS_MAX, unreadIn } from "../../core/chat.ts";
import { GatewayError } from "../../core/errors.ts";
import { isEffort } from "../../core/requests/effort.ts";
import { Conversion } from "../convert/conversion.ts";
import type { BarePrompt, ClientRequest, RequestHead } from "../format.ts";
import {
  invalid,
  isObject,
  isTexts,
  type JsonObject,
  readArray,
  readBoolean,
  readChoice,
  readInteger,
  readNumber,
  readObject,
  readString,
} from "../json/fields.ts";
import { askedServiceTier } from "../provider/service-tier.ts";
import { type JsonSource, rawValue } from "../scan/scan.ts";
import { readControls } from "../service/controls.ts";
import { itemType, RESPONSES } from "./items.ts";
import { convertInput, type Prompt } from "./to-chat/messages.ts";
import {
  imageAskIn,
  readBuiltInNeeds,
  readBuiltInWishes,
  readGivenTools,
  routedTools,
  searchAskIn,
  searchesIn,
} from "./to-chat/tools.ts";

export const INPUT_ROLES = ["user", "assistant", "system", "developer"] as const;
const ROLES: ReadonlySet<unknown> = new Set(INPUT_ROLES);
/** The vendor's documented limit. */
export const TOP_LOGPROBS_MAX = 20;

/** Throws what is wrong with the body, by field; Behaviour 4. */
export function readResponsesRequest(source: JsonSource, body: JsonObject, head?: RequestHead): ClientRequest {
  checkFields(body);
  const tools = readGivenTools(body);
  const conversion = new Conversion();
  const messages = convertInput({ instructions: readString(body, "instructions"), input: readInput(body) }, conversion);
  const nativeNeeds = [...conversion.refusals, ...readBuiltInNeeds(tools, body.tool_choice), ...readPromptNeeds(body)];
  if (messages.length === 0 && nativeNeeds.length === 0) {
    throw invalid("input", "'input' must have at least one message.");
  }
  const isStream = readBoolean(body, "stream");
  const chat: ChatRequest = {
    messages,
    tools: routedTools(tools, nativeNeeds),
    toolChoice: body.tool_choice ?? null,
    isStream,
    // The Responses format reports usage in every stream.
    wantsUsage: isStream,
    maxOutputTokens: readInteger(body, "max_output_tokens", { min: 1, max: OUTPUT_TOKENS_MAX }),
    choiceCount: 1,
    ...effortOf(body),
    ...askedServiceTier(body),
    ...searchesIn(tools, body),
  };
  const controls = readControls(body);
  const nativeWishes = readBuiltInWishes(tools, body.tool_choice);
  const searchAsk = searchAskIn(tools, body);
  const read = {
    format: RESPONSES,
    source,
    body,
    controls,
    chat,
    nativeNeeds,
    nativeWishes,
    searchAsk,
    imageAsk: imageAskIn(tools, body),
    notes: conversion.notes,
  };
  return head?.headers === undefined ? read : { ...read, headers: head.headers };
}

function effortOf({ reasoning }: JsonObject): Pick<ChatRequest, "effort"> {
  const effort: unknown = isObject(reasoning) ? reasoning.effort : null;
  if (effort === null || effort === undefined) return {};
  return { effort: isEffort(effort) ? effort : "own" };
}

/** The parts of a request that are counted. All of them may be left out. */
export function readCountRequest(body: JsonObject): Pick<ChatRequest, "messages" | "tools"> {
  const tools = readGivenTools(body);
  const input = (body.input ?? null) === null ? [] : readInput(body);
  const messages = convertInput({ instructions: readString(body, "instructions"), input }, new Conversion());
  return { messages, tools: routedTools(tools, readBuiltInNeeds(tools, body.tool_choice)) };
}

/** Tells whether nothing of the input is stored or added to. */
export function isStateless(source: JsonSource): boolean {
  const isNull = (name: string): boolean => (rawValue(source, name) ?? "null").toString() === "null";
  const store = rawValue(source, "store")?.toString();
  return store === "false" && isNull("previous_response_id") && isNull("conversation");
}

/** Fields that a conversion or the response reads: checked as their vendor documents them, before anything is sent. */
function checkFields(body: JsonObject): void {
  readNumber(body, "temperature", { min: 0, max: 2 });
  readNumber(body, "top_p", { min: 0, max: 1 });
  for (const name of ["presence_penalty", "frequency_penalty"]) readNumber(body, name, { min: -2, max: 2 });
  readInteger(body, "top_logprobs", { min: 0, max: TOP_LOGPROBS_MAX });
  for (const name of ["parallel_tool_calls", "store", "background"]) readBoolean(body, name);
  for (const name of ["reasoning", "metadata", "stream_options", "prompt"]) readObject(body, name);
  for (const name of ["user", "safety_identifier", "prompt_cache_key", "previous_response_id"]) readString(body, name);
  readChoice(body, "truncation", ["auto", "disabled"]);
  if (!isTexts(readArray(body, "include"))) throw invalid("include", "'include' must be an array of strings.");
  const choice = body.tool_choice ?? "";
  if (typeof choice !== "string" && !isObject(choice)) {
    throw invalid("tool_choice", "'tool_choice' must be a string or an object.");
  }
  checkText(readObject(body, "text") ?? {});
}

const TEXT_FORMATS = ["text", "json_object", "json_schema"] as const;

function checkText({ format = null }: JsonObject): void {
  if (format === null) return;
  if (!isObject(format)) throw invalid("text.format", "'text.format' must be an object.");
  if (!TEXT_FORMATS.some((type) => type === format.type)) {
    throw invalid("text.format.type", `'text.format.type' must be one of ${TEXT_FORMATS.join(", ")}.`);
  }
  if (format.type !== "json_schema") return;
  if (!isObject(format.schema)) throw invalid("text.format.schema", "'text.format.schema' must be an object.");
  if (typeof format.name !== "string") throw invalid("text.format.name", "'text.format.name' must be a string.");
}

/** A prompt that is stored at the vendor. */
function readPromptNeeds(body: JsonObject): readonly string[] {
  return isObject(body.prompt) ? ["a stored prompt is kept at its provider; send 'instructions' and 'input'"] : [];
}

function readInput(body: JsonObject): Prompt["input"] {
  const input = body.input ?? null;
  if (typeof input === "string") return input;
  if (input === null) {
    if (isObject(body.prompt)) return [];
    throw invalid("input", "'input' is missing: a text, or an array of input items.");
  }
  if (!Array.isArray(input)) throw invalid("input", "'input' must be a string or an array of input items.");
  if (input.length === 0) throw invalid("input", "'input' must have at least one item.");
  input.forEach(checkItem);
  return input as readonly JsonObject[];
}

/** Fields that must be text for the gateway to read an item. Other items pass unread. */
const ITEM_FIELDS: ReadonlyMap<string, readonly string[]> = new Map([
  ["function_call", ["call_id", "name", "arguments"]],
  ["custom_tool_call", ["call_id", "name", "input"]],
  ["function_call_output", ["call_id"]],
  ["custom_tool_call_output", ["call_id"]],
  ...["shell_call", "local_shell_call", "apply_patch_call", "computer_call"].map(
    (type): [string, readonly string[]] => [type, ["call_id"]],
  ),
]);

function checkItem(item: unknown, index: number): void {
  const place = `input[${index}]`;
  if (!isObject(item)) throw invalid(place, `${place} must be an object.`);
  const type = itemType(item);
  if (type === "" || typeof (item.type ?? "") !== "string") {
    throw invalid(`${place}.type`, `${place} must have a 'type' or a 'role'.`);
  }
  if (type === "item_reference" && typeof item.id === "string") throw unknownItem(item.id);
  if (type === "item_reference") throw invalid(`${place}.id`, `${place}.id must be a string.`);
  for (const name of ITEM_FIELDS.get(type) ?? []) {
    if (typeof item[name] !== "string") throw invalid(`${place}.${name}`, `${place}.${name} must be a string.`);
  }
  if (type === "message") checkMessage(item, place);
  else if (type.endsWith("call_output") && ITEM_FIELDS.has(type)) checkContent(item, "output", place);
}

function checkMessage(item: JsonObject, place: string): void {
  if (!ROLES.has(item.role)) throw invalid(`${place}.role`, `${place}.role must be one of ${INPUT_ROLES.join(", ")}.`);
  checkContent(item, "content", place);
}

function checkContent(item: JsonObject, name: "content" | "output", itemPlace: string): void {
  if (unreadIn(item, name) !== null) return;
  const content = item[name];
  const place = `${itemPlace}.${name}`;
  if (typeof content === "string") return;
  if (!Array.isArray(content)) throw invalid(place, `${place} must be a string or an array of parts.`);
  for (const [index, part] of content.entries()) {
    const partPlace = `${place}[${index}]`;
    if (!isObject(part) || typeof part.type !== "string") {
      throw invalid(partPlace, `${partPlace} must be an object with a 'type'.`);
    }
    const isText = part.type === "input_text" || part.type === "output_text";
    if (isText && unreadIn(part, "text") === null && typeof part.text !== "string") {
      throw invalid(`${partPlace}.text`, `${partPlace}.text must be a string.`);
    }
  }
}

/** The vendor's own answer to an unknown reference. */
function unknownItem(id: string): GatewayError {
  const message = `Item with id '${id}' not found. Send the item itself instead of a reference.`;
  return new GatewayError("notFound", message, { code: "item_not_found", param: "input" });
}

/** A bare prompt as a request of this format; what the client wrote of input, instructions and cap stays. */
export function withPrompt(given: JsonObject, { prompt, systemPrompt, outputCap }: BarePrompt): JsonObject {
  const { input = null } = given;
  const turns = typeof input === "string" ? [{ role: "user", content: input }] : input;
  const asked = Array.isArray(turns) ? [...turns, { role: "user", content: prompt }] : (turns ?? prompt);
  return {
    ...given,
    input: prompt === null ? input : asked,
    instructions: systemPrompt ?? given.instructions,
    max_output_tokens: outputCap,
  };
}
