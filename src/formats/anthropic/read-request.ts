// Reads a client's Messages request: checks what the gateway reads and nothing else, gives routing its chat-completions
// view, and keeps the original for providers that speak the same format.

import { type ChatRequest, OUTPUT_TOKENS_MAX, type Tool, unreadIn } from "../../core/chat.ts";
import { GatewayError } from "../../core/errors.ts";
import { Conversion } from "../convert/conversion.ts";
import type { BarePrompt, ClientRequest, RequestHead } from "../format.ts";
import {
  invalid,
  isObject,
  isTexts,
  type JsonObject,
  readArray,
  readBoolean,
  readInteger,
  readNumber,
  readObject,
  textOrEmpty,
  toText,
} from "../json/fields.ts";
import { onceForKnown } from "../json/known-lists.ts";
import { askedServiceTier } from "../provider/service-tier.ts";
import type { JsonSource } from "../scan/scan.ts";
import { readControls } from "../service/controls.ts";
import { ANTHROPIC, type Block, type Turn } from "./blocks.ts";
import { CITATIONS_DROPPED, convertTurns } from "./to-chat/messages.ts";
import { wantedEffort } from "./to-chat/request.ts";
import { fetchAskIn, readServerNeeds, readServerWishes, searchAskIn, searchesIn } from "./to-chat/tools.ts";

export const MESSAGE_ROLES = ["user", "assistant", "system"] as const;
const ROLES: ReadonlySet<unknown> = new Set(MESSAGE_ROLES);

/** Throws what is wrong with the body, by field; Behaviour 4. */
export function readAnthropicRequest(
  source: JsonSource,
  body: JsonObject,
  { headers, target }: RequestHead = {},
): ClientRequest {
  checkSampling(body);
  const { messages, tools, refusals, wishes } = readPrompt(body);
  const isStream = target?.isStream ?? readBoolean(body, "stream");
  const chat: ChatRequest = {
    messages,
    tools,
    toolChoice: body.tool_choice ?? null,
    isStream,
    // The Messages format reports usage in every stream.
    wantsUsage: isStream,
    maxOutputTokens: readInteger(body, "max_tokens", { min: 0, max: OUTPUT_TOKENS_MAX }),
    choiceCount: 1,
    ...effortOf(body),
    ...askedServiceTier(body),
    ...searchesIn(body),
  };
  const searchAsk = searchAskIn(body);
  const fetchAsk = fetchAskIn(body);
  return {
    format: ANTHROPIC,
    source,
    body,
    controls: readControls(target === undefined ? body : { ...body, model: target.model }),
    chat,
    ...(headers === undefined ? {} : { headers }),
    ...(target === undefined ? {} : { target }),
    nativeNeeds: [...refusals, ...readServerNeeds(body)],
    nativeWishes: [...readServerWishes(body), ...wishes],
    ...(searchAsk === undefined ? {} : { searchAsk }),
    ...(fetchAsk === undefined ? {} : { fetchAsk }),
  };
}

/** A client that speaks of thinking at all decides about it. */
function effortOf(body: JsonObject): Pick<ChatRequest, "effort"> {
  const effort = wantedEffort(body) ?? ((body.thinking ?? null) === null ? null : "own");
  return effort === null ? {} : { effort };
}

/** Fields that a conversion reads: checked as their vendor documents them, before anything is held or sent. */
function checkSampling(body: JsonObject): void {
  readNumber(body, "temperature", { min: 0, max: 1 });
  readNumber(body, "top_p", { min: 0, max: 1 });
  readInteger(body, "top_k", { min: 0, max: Number.MAX_SAFE_INTEGER });
  for (const name of ["thinking", "tool_choice", "output_config", "output_format", "metadata"]) readObject(body, name);
  if (!isTexts(readArray(body, "stop_sequences"))) {
    throw invalid("stop_sequences", "'stop_sequences' must be an array of strings.");
  }
}

interface RoutedPrompt extends Pick<ChatRequest, "messages" | "tools"> {
  /** Reasons for Anthropic alone: parts that only Anthropic can open. */
  readonly refusals: readonly string[];
  /** Reasons to prefer it. */
  readonly wishes: readonly string[];
}

/** Reads a prompt for routing and counting. */
function readPrompt(body: JsonObject): RoutedPrompt {
  checkThread(body.thread);
  checkSystem(body.system);
  checkMessages(body.messages);
  const conversion = new Conversion();
  const messages = convertTurns(
    { system: body.system as Turn["content"] | undefined, turns: body.messages as readonly Turn[] },
    { conversion, keepsCacheControl: false, keepsReasoning: false, keepsDetails: false },
  );
  const isCiting = conversion.notes.some(({ message }) => message === CITATIONS_DROPPED);
  const wishes = isCiting ? ["documents are cited by Anthropic only"] : [];
  return { messages, tools: readTools(readArray(body, "tools")), refusals: conversion.refusals, wishes };
}

// Anthropic would keep the history of a thread, and each turn may go to another vendor. The official tool runners send
// threads by default; at this code they send the whole history instead.
function checkThread(thread: unknown): void {
  if (thread === undefined || thread === null) return;
  const message =
    "'thread' is not supported: each turn may go to another model. Send the whole conversation without it.";
  throw new GatewayError("badRequest", message, { code: "thread_unsupported_request", param: "thread" });
}

const readTools = onceForKnown((list) => list.map(readTool));

function readTool(tool: unknown, index: number): Tool {
  const place = `tools[${index}]`;
  if (!isObject(tool)) throw invalid(place, `${place} must be an object.`);
  const { name, type, description, input_schema: schema } = tool;
  const isServerTool = typeof type === "string" && type !== "custom";
  if (typeof name !== "string" && !isServerTool) throw invalid(`${place}.name`, `${place}.name must be a string.`);
  return {
    name: typeof name === "string" ? name : toText(type),
    description: textOrEmpty(description),
    parameters: isObject(schema) ? schema : null,
  };
}

function checkSystem(system: unknown): void {
  if (system === undefined || system === null || typeof system === "string") return;
  if (!Array.isArray(system)) throw invalid("system", "'system' must be a string or an array of text blocks.");
  for (const [index, block] of system.entries()) {
    const isText = isObject(block) && block.type === "text" && typeof block.text === "string";
    if (!isText) throw invalid(`system[${index}]`, `system[${index}] must be a text block.`);
  }
}

function checkMessages(messages: unknown): void {
  if (messages === undefined || messages === null) throw unprocessable("messages", "'messages' is missing.");
  if (!Array.isArray(messages)) throw unprocessable("messages", "'messages' must be an array of messages.");
  if (messages.length === 0) throw unprocessable("messages", "'messages' must have at least one message.");
  messages.forEach(checkMessage);
}

function checkMessage(message: unknown, index: number): void {
  const place = `messages[${index}]`;
  if (!isObject(message)) throw unprocessable(place, `${place} must be an object.`);
  if (!ROLES.has(message.role)) {
    throw unprocessable(`${place}.role`, `${place}.role must be one of ${MESSAGE_ROLES.join(", ")}.`);
  }
  if (unreadIn(message, "content") !== null) return;
  const content = message.content;
  if (typeof content === "string") return;
  if (!Array.isArray(content)) {
    throw unprocessable(`${place}.content`, `${place}.content must be a string or an array of blocks.`);
  }
  for (const [position, block] of content.entries()) checkBlock(block, `${place}.content[${position}]`);
}

/** Fields that a block must have for the gateway to read it. Other blocks pass unread. */
const BLOCK_FIELDS: ReadonlyMap<string, readonly string[]> = new Map([
  ["text", ["text"]],
  ["tool_use", ["id", "name"]],
  ["tool_result", ["tool_use_id"]],
]);

function checkBlock(block: unknown, place: string): void {
  if (!isObject(block) || typeof block.type !== "string") {
    throw unprocessable(place, `${place} must be an object with a 'type'.`);
  }
  for (const name of BLOCK_FIELDS.get(block.type) ?? []) {
    if (unreadIn(block, name) === null && typeof block[name] !== "string")
      throw unprocessable(`${place}.${name}`, `${place}.${name} must be a string.`);
  }
  if ((block.type === "image" || block.type === "document") && !isObject(block.source)) {
    throw unprocessable(`${place}.source`, `${place}.source must be an object.`);
  }
  if (block.type === "tool_result" && unreadIn(block, "content") === null) checkResult(block as Block, place);
}

function checkResult({ content }: Block, place: string): void {
  if (content === undefined || content === null || typeof content === "string") return;
  if (!Array.isArray(content)) {
    throw unprocessable(`${place}.content`, `${place}.content must be a string or an array of blocks.`);
  }
  for (const [position, block] of content.entries()) checkBlock(block, `${place}.content[${position}]`);
}

function unprocessable(param: string, message: string): GatewayError {
  return new GatewayError("unprocessable", message, { code: "invalid_messages", param });
}

/** Reads the prompt to count; routing's estimate of input tokens takes it as it is. */
export function readCountRequest(body: JsonObject): Pick<ChatRequest, "messages" | "tools"> {
  const { messages, tools } = readPrompt(body);
  return { messages, tools };
}

export function writeCount(inputTokens: number): JsonObject {
  return { input_tokens: inputTokens };
}

/** A bare prompt as a request of this format; what the client wrote of messages, instructions and cap stays. */
export function withPrompt(given: JsonObject, { prompt, systemPrompt, outputCap }: BarePrompt): JsonObject {
  const { messages = null } = given;
  const asked = prompt === null ? [] : [{ role: "user", content: prompt }];
  return {
    ...given,
    messages: messages === null || Array.isArray(messages) ? [...(messages ?? []), ...asked] : messages,
    system: systemPrompt ?? given.system,
    max_tokens: outputCap ?? given.max_tokens,
  };
}
