// Reads what the gateway needs of a chat-completions body. It validates the fields that it reads. All others stay in
// the original bytes. Behaviour 4, 5.

import {
  type ChatMessage,
  type ChatRequest,
  OUTPUT_TOKENS_MAX,
  ROLES,
  type Role,
  searchesHeld,
  type Tool,
  UNREAD,
} from "../../core/chat.ts";
import { GatewayError } from "../../core/errors.ts";
import { isEffort } from "../../core/requests/effort.ts";
import {
  invalid,
  isObject,
  isTexts,
  type JsonObject,
  objectsIn,
  readArray,
  readBoolean,
  readInteger,
  readNumber,
  readObject,
  textOrEmpty,
} from "../json/fields.ts";
import { onceForKnown } from "../json/known-lists.ts";
import { askedServiceTier } from "../provider/service-tier.ts";

/** The vendor's documented limit; more would multiply the hold. */
export const CHOICES_MAX = 128;
const NULL_CONTENT_ROLES: ReadonlySet<Role> = new Set<Role>(["assistant", "function"]);
const KNOWN_ROLES: ReadonlySet<string> = new Set(ROLES);

/** Throws what is wrong with the body, by field; Behaviour 4. */
export function readChatRequest(body: JsonObject): ChatRequest {
  checkSampling(body);
  const isStream = readBoolean(body, "stream");
  const streamOptions = readObject(body, "stream_options");
  const chat: { -readonly [Name in keyof ChatRequest]: ChatRequest[Name] } = {
    messages: readMessages(body),
    tools: readTools(body),
    toolChoice: body.tool_choice ?? body.function_call ?? null,
    isStream,
    wantsUsage: isStream && streamOptions?.include_usage === true,
    maxOutputTokens: readOutputCap(body),
    choiceCount: readInteger(body, "n", { min: 1, max: CHOICES_MAX }) ?? 1,
  };
  if (asksForSearches(body)) chat.searches = searchesHeld(null);
  const effort = effortOf(body);
  if (effort !== undefined) chat.effort = effort;
  const { serviceTier } = askedServiceTier(body);
  if (serviceTier !== undefined) chat.serviceTier = serviceTier;
  return chat;
}

/** Tells whether a host may search by itself. Hosts have three ways to ask for it. */
function asksForSearches({ web_search_options: options, plugins, tools, tool_choice: choice }: JsonObject): boolean {
  const isOption = isObject(options) || objectsIn(plugins).some(({ id }) => id === "web");
  const isTool = choice !== "none" && objectsIn(tools).some(({ type }) => SEARCH_TOOL.test(textOrEmpty(type)));
  return isOption || isTool;
}

/** `web_search` of several vendors, Groq's `browser_search`, OpenRouter's `openrouter:web_search`. */
const SEARCH_TOOL = /^(?:openrouter:)?(?:web|browser)_search/;

/** Fields in which clients of several vendors speak of thinking. */
const THINKING_FIELDS = ["reasoning_effort", "reasoning", "thinking", "thinking_budget", "enable_thinking"] as const;

function effortOf(body: JsonObject): ChatRequest["effort"] {
  if (THINKING_FIELDS.every((name) => (body[name] ?? null) === null)) return undefined;
  const effort = body.reasoning_effort ?? (isObject(body.reasoning) ? body.reasoning.effort : null);
  return isEffort(effort) ? effort : "own";
}

/** Fields that a conversion reads: checked as their vendor documents them, before anything is held or sent. */
function checkSampling(body: JsonObject): void {
  readNumber(body, "temperature", { min: 0, max: 2 });
  readNumber(body, "top_p", { min: 0, max: 1 });
  readNumber(body, "frequency_penalty", { min: -2, max: 2 });
  readNumber(body, "presence_penalty", { min: -2, max: 2 });
  readBoolean(body, "parallel_tool_calls");
  readObject(body, "response_format");
  checkTextOr(body, "stop", "an array of strings", isTexts);
  checkTextOr(body, "tool_choice", "an object", isObject);
}

function checkTextOr(body: JsonObject, name: string, what: string, isOther: (value: unknown) => boolean): void {
  const value = body[name] ?? "";
  if (typeof value !== "string" && !isOther(value)) throw invalid(name, `'${name}' must be a string or ${what}.`);
}

/** The larger of the two counts: a small one must not hide a large one. */
function readOutputCap(body: JsonObject): number | null {
  const range = { min: 1, max: OUTPUT_TOKENS_MAX };
  const older = readInteger(body, "max_tokens", range);
  const newer = readInteger(body, "max_completion_tokens", range);
  return older === null && newer === null ? null : Math.max(older ?? 0, newer ?? 0);
}

function readMessages(body: JsonObject): readonly ChatMessage[] {
  const value = body.messages;
  if (value === undefined || value === null) throw unprocessable("messages", "'messages' is missing.");
  if (!Array.isArray(value)) throw unprocessable("messages", "'messages' must be an array of messages.");
  if (value.length === 0) throw unprocessable("messages", "'messages' must have at least one message.");
  value.forEach(checkMessage);
  return value as readonly ChatMessage[];
}

// Places are put into words only for what is wrong: a long history has hundreds of them.
function checkMessage(message: unknown, index: number): void {
  if (!isObject(message)) throw wrongAt(`messages[${index}]`, "must be an object.");
  const role = message.role;
  if (typeof role !== "string" || !KNOWN_ROLES.has(role)) {
    throw wrongAt(`messages[${index}].role`, `must be one of ${ROLES.join(", ")}.`);
  }
  if (!(UNREAD in message)) checkContent(message.content, role as Role, index);
  const calls = message.tool_calls ?? null;
  if (calls !== null) checkToolCalls(calls, index);
}

function checkToolCalls(calls: unknown, messageIndex: number): void {
  const place = `messages[${messageIndex}].tool_calls`;
  if (!Array.isArray(calls) || !calls.every(isObject)) throw wrongAt(place, "must be an array of tool calls.");
  for (const [index, call] of calls.entries()) {
    const { name, arguments: text } = (call.function ?? {}) as JsonObject;
    if (isObject(call.function ?? {}) && typeof (name ?? "") === "string" && typeof (text ?? "") === "string") continue;
    throw wrongAt(`${place}[${index}].function`, "must have its 'name' and 'arguments' as strings.");
  }
}

function checkContent(content: unknown, role: Role, index: number): void {
  if (typeof content === "string") return;
  if ((content === null || content === undefined) && NULL_CONTENT_ROLES.has(role)) return;
  const place = `messages[${index}].content`;
  if (!Array.isArray(content)) throw wrongAt(place, "must be a string or an array of parts.");
  for (const [partIndex, part] of content.entries()) checkPart(part, `${place}[${partIndex}]`);
}

function checkPart(part: unknown, place: string): void {
  if (!isObject(part) || typeof part.type !== "string") throw wrongAt(place, "must be an object with a 'type'.");
  if (part.type === "text" && typeof part.text !== "string") throw wrongAt(`${place}.text`, "must be a string.");
  if (part.type === "image_url" && !hasImageUrl(part.image_url)) {
    throw wrongAt(`${place}.image_url`, "must be an object with a 'url' string.");
  }
}

function hasImageUrl(image: unknown): boolean {
  return isObject(image) && typeof image.url === "string";
}

/** Tools in all shapes clients send: nested functions, custom tools, flat entries, and the deprecated `functions`. */
function readTools(body: JsonObject): readonly Tool[] {
  const tools = readToolList(readArray(body, "tools"));
  const functions = readArray(body, "functions");
  return functions.length === 0 ? tools : [...tools, ...readFunctionList(functions)];
}

const readToolList = onceForKnown((list) => list.map((tool, index) => readTool(tool, `tools[${index}]`)));
const readFunctionList = onceForKnown((list) => list.map((tool, index) => readTool(tool, `functions[${index}]`)));

function readTool(tool: unknown, place: string): Tool {
  if (!isObject(tool)) throw invalid(place, `${place} must be an object.`);
  const inner = [tool.function, tool.custom].find(isObject) ?? tool;
  const parameters = inner.parameters;
  return {
    name: textOrEmpty(inner.name) || textOrEmpty(tool.type),
    description: textOrEmpty(inner.description),
    parameters: isObject(parameters) ? parameters : null,
  };
}

function wrongAt(place: string, what: string): GatewayError {
  return unprocessable(place, `${place} ${what}`);
}

function unprocessable(param: string, message: string): GatewayError {
  return new GatewayError("unprocessable", message, { code: "invalid_messages", param });
}
