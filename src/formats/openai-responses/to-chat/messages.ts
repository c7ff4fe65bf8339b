// The input of a Responses request as chat-completions messages. Items of one turn of the model become one assistant
// message: reasoning, text and parallel calls together, followed by the results of the calls.

import {
  type ChatMessage,
  type ContentPart,
  type ToolCall,
  type UnreadText,
  unreadIn,
  withUnreadContent,
} from "../../../core/chat.ts";
import type { Conversion } from "../../convert/conversion.ts";
import { openDetail, openText, type ReasoningDetail } from "../../convert/reasoning-details.ts";
import { isObject, type JsonObject, objectsIn, textOrEmpty, toText } from "../../json/fields.ts";
import { NO_RESULT, orphanedResult, reminder } from "../../tools/results.ts";
import { writeInput } from "../custom-input.ts";
import { chatToolName, itemType, partTexts } from "../items.ts";
import { clientToolOfItem } from "./client-tools.ts";

/** The instructions, and the conversation after them. */
export interface Prompt {
  readonly instructions: unknown;
  readonly input: string | readonly JsonObject[];
}

/** The same messages for routing and for every provider. */
export function convertInput({ instructions, input }: Prompt, conversion: Conversion): readonly ChatMessage[] {
  const messages: ChatMessage[] = [];
  if (typeof instructions === "string" && instructions !== "") messages.push({ role: "system", content: instructions });
  if (typeof input === "string") messages.push({ role: "user", content: input });
  else convertItems(input, messages, conversion);
  return messages;
}

const CALLS: ReadonlySet<string> = new Set(["function_call", "custom_tool_call"]);
const RESULTS: ReadonlySet<string> = new Set(["function_call_output", "custom_tool_call_output"]);

function isCall(type: string): boolean {
  return CALLS.has(type) || clientToolOfItem(type)?.call === type;
}

function isResult(type: string): boolean {
  return RESULTS.has(type) || (!isCall(type) && clientToolOfItem(type) !== undefined);
}

/** Items that bring tools, which are read with the tools of the request. */
const SILENT: ReadonlySet<string> = new Set(["additional_tools", "tool_search_call", "tool_search_output"]);

const SEARCH_CALL = "web_search_call";
const IMAGE_CALL = "image_generation_call";

/** Items that say what a provider did and not what came of it: its answer has that. */
const NOTHING_SAID: ReadonlySet<string> = new Set([SEARCH_CALL, "file_search_call", "mcp_list_tools"]);

function convertItems(items: readonly JsonObject[], messages: ChatMessage[], conversion: Conversion): void {
  const results = pairResults(items);
  let turn: ModelTurn | null = null;
  const close = (): void => {
    if (turn !== null) messages.push(...turn.messages(results, conversion));
    turn = null;
  };
  for (const item of items) {
    const type = itemType(item);
    if (isModels(item, type) || isTold(item, type)) {
      turn ??= new ModelTurn();
      turn.add(item, type);
    } else if (isResult(type)) {
      // Results stand behind the call they belong to, wherever the client has put them.
      if ((turn as ModelTurn | null)?.hasCalls === true) close();
      if (results.known.has(item)) continue;
      close();
      messages.push(orphan(item, conversion));
    } else if (type === "message") {
      close();
      const message = convertMessage(item, conversion);
      if (message !== null) messages.push(message);
    } else if (type === "compaction") {
      conversion.refuse("a compaction item can be read only by the provider that made it");
    } else if (NOTHING_SAID.has(type)) {
      conversion.note(
        "content_converted",
        `dropped '${type}' from earlier turns: only providers of the Responses API can read it`,
      );
    } else if (!SILENT.has(type)) {
      conversion.refuse(`'${type}' of an earlier turn can be read only by providers of the Responses API`);
    }
  }
  close();
}

/** Tells whether the model made the item. */
function isModels({ role }: JsonObject, type: string): boolean {
  return type === "reasoning" || isCall(type) || (type === "message" && role === "assistant");
}

/** A search that says what was looked for and found, as those of the gateway do, or a picture that says what it shows. */
function isTold({ action, revised_prompt: prompt }: JsonObject, type: string): boolean {
  if (type === IMAGE_CALL) return textOrEmpty(prompt) !== "";
  return type === SEARCH_CALL && isObject(action) && objectsIn(action.sources).length > 0;
}

/** The search as the model that takes over reads it. */
function searchedText({ query, sources }: JsonObject): string {
  const found = objectsIn(sources).map(({ url }) => toText(url));
  return `[Searched the web for ${JSON.stringify(query)} and found ${found.join(" ")}]`;
}

interface PairedResults {
  /** The result of each call, by the call. */
  readonly of: ReadonlyMap<JsonObject, JsonObject>;
  /** Results that have a call, and those that a later one replaces. */
  readonly known: ReadonlySet<JsonObject>;
}

/** From the end: the latest result of a call counts, and a later call may have the same id. */
function pairResults(items: readonly JsonObject[]): PairedResults {
  const paired = new Map<JsonObject, JsonObject>();
  const known = new Set<JsonObject>();
  const waiting = new Map<unknown, JsonObject>();
  for (let index = items.length - 1; index >= 0; index -= 1) {
    const item = items[index] as JsonObject;
    const type = itemType(item);
    // A result of `local_shell` may have no more than an id.
    const id = item.call_id ?? item.id;
    if (isResult(type)) {
      if (waiting.has(id)) known.add(item);
      else waiting.set(id, item);
    } else if (isCall(type)) {
      const result = waiting.get(id) ?? waiting.get(item.id);
      if (result === undefined) continue;
      waiting.delete(result.call_id ?? result.id);
      paired.set(item, result);
      known.add(result);
    }
  }
  return { of: paired, known };
}

/** Items that the model said in one go. */
class ModelTurn {
  readonly #texts: JsonObject[] = [];
  readonly #thoughts: string[] = [];
  readonly #details: ReasoningDetail[] = [];
  readonly #calls: JsonObject[] = [];

  get hasCalls(): boolean {
    return this.#calls.length > 0;
  }

  add(item: JsonObject, type: string): void {
    if (type === "message" || type === SEARCH_CALL || type === IMAGE_CALL) this.#texts.push(item);
    else if (type === "reasoning") this.#addReasoning(item);
    else this.#calls.push(item);
  }

  /** The assistant message, the results of its calls, and what the results show besides text. */
  messages(results: PairedResults, conversion: Conversion): readonly ChatMessage[] {
    const [first] = this.#texts;
    const unread = first === undefined || this.#texts.length > 1 ? null : unreadText(first, "content");
    const said = unread === null ? this.#texts.map(modelText).filter((text) => text !== "") : [""];
    if (said.length === 0 && this.#calls.length === 0) return [];
    const made: Record<string, unknown> = { role: "assistant", content: said.length === 0 ? null : said.join("\n\n") };
    if (this.#thoughts.length > 0) made.reasoning_content = this.#thoughts.join("\n\n");
    if (this.#details.length > 0) made.reasoning_details = this.#details;
    if (this.#calls.length > 0) made.tool_calls = this.#calls.map(convertCall);
    const message = made as unknown as ChatMessage;
    return [
      unread === null ? message : withUnreadContent(message, unread),
      ...convertResults(
        this.#calls.map((call) => ({ id: toText(call.call_id), result: results.of.get(call) })),
        conversion,
      ),
    ];
  }

  #addReasoning({ content, summary, encrypted_content: encrypted }: JsonObject): void {
    const texts = partTexts(content);
    const text = (texts.length > 0 ? texts : partTexts(summary)).join("\n\n") || (openText(encrypted) ?? "");
    if (text !== "") this.#thoughts.push(text);
    // Text that another provider encrypted stays in the original request, for providers of the same format.
    const detail = openDetail(encrypted);
    if (detail !== null) this.#details.push(detail);
  }
}

/** The text in the body that is all that an item says; null where there is more, or another text. */
function unreadText(item: JsonObject, name: "content" | "output"): UnreadText | null {
  const text = unreadIn(item, name);
  if (text !== null) return text;
  const parts = item[name];
  return Array.isArray(parts) && parts.length === 1 && isObject(parts[0]) ? unreadIn(parts[0], "text") : null;
}

/** The text of an answer in several parts is one text. A refusal is what the model said. */
function modelText({ type, content, action, revised_prompt: prompt }: JsonObject): string {
  if (type === IMAGE_CALL) return `[Made a picture: ${toText(prompt)}]`;
  if (type === SEARCH_CALL) return searchedText(isObject(action) ? action : {});
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part) => (isObject(part) ? toText(part.text ?? part.refusal ?? "") : "")).join("");
}

function convertCall(item: JsonObject): ToolCall {
  const isCustom = item.type === "custom_tool_call";
  const id = toText(item.call_id);
  const own = clientToolOfItem(itemType(item));
  if (own !== undefined) {
    const said = JSON.stringify(own.readCall(item) ?? {});
    return { id, type: "function", function: { name: own.name, arguments: said } };
  }
  return {
    id,
    type: "function",
    function: {
      name: chatToolName(toText(item.name), item.namespace),
      arguments: isCustom ? writeInput(toText(item.input)) : toText(item.arguments),
    },
  };
}

interface AnsweredCall {
  readonly id: string;
  readonly result: JsonObject | undefined;
}

/** One tool message for each call. Tool messages take text only, so images and files follow in a user message. */
function convertResults(calls: readonly AnsweredCall[], conversion: Conversion): readonly ChatMessage[] {
  const attachments: ContentPart[] = [];
  const messages: ChatMessage[] = calls.map(({ id, result }) => {
    if (result === undefined) {
      conversion.note("content_converted", "added an empty result for a tool call that had none");
      return { role: "tool", tool_call_id: id, content: NO_RESULT };
    }
    const own = clientToolOfItem(itemType(result));
    const unread = own === undefined ? unreadText(result, "output") : null;
    if (unread !== null) return withUnreadContent({ role: "tool", tool_call_id: id, content: "" }, unread);
    const { text, parts } = readResult(result, conversion);
    if (parts.length > 0) attachments.push(shownBy(id), ...parts);
    return { role: "tool", tool_call_id: id, content: text };
  });
  if (attachments.length > 0) messages.push({ role: "user", content: attachments });
  return messages;
}

function shownBy(id: string): ContentPart {
  return { type: "text", text: reminder(`What the tool call ${id} returned besides text:`) };
}

function readResult(item: JsonObject, conversion: Conversion): { text: string; parts: readonly ContentPart[] } {
  const output = clientToolOfItem(itemType(item))?.readOutput(item) ?? item.output;
  if (typeof output === "string") return { text: output, parts: [] };
  const texts: string[] = [];
  const parts: ContentPart[] = [];
  for (const part of convertParts(output, conversion)) {
    if (part.type === "text") {
      texts.push(part.text ?? "");
      continue;
    }
    conversion.note(
      "content_converted",
      "moved images and files of tool results into a user message: tool messages take text only",
    );
    parts.push(part);
    texts.push(`[${part.type === "image_url" ? "image" : "file"} in the next user message]`);
  }
  return { text: texts.join("\n"), parts };
}

/** A result whose call is not in the history: hosts refuse it as a tool message. */
function orphan(item: JsonObject, conversion: Conversion): ChatMessage {
  conversion.note("content_converted", "turned a tool result without its call into text");
  const { text, parts } = readResult(item, conversion);
  const said = orphanedResult(text);
  return { role: "user", content: parts.length === 0 ? said : [{ type: "text", text: said }, ...parts] };
}

function convertMessage(item: JsonObject, conversion: Conversion): ChatMessage | null {
  const role = item.role as ChatMessage["role"];
  const unread = unreadText(item, "content");
  if (unread !== null) return withUnreadContent({ role, content: "" }, unread);
  if (typeof item.content === "string") return { role, content: item.content };
  const parts = convertParts(item.content, conversion);
  return parts.length === 0 ? null : { role, content: joinParts(parts) };
}

/** Plain text as a string, which every host takes; anything else as parts. */
function joinParts(parts: readonly ContentPart[]): string | readonly ContentPart[] {
  return parts.every((part) => part.type === "text") ? parts.map((part) => part.text).join("\n\n") : parts;
}

/** Content parts of a user or of a tool. What only the vendor can open is refused, so that another model is tried. */
function convertParts(content: unknown, conversion: Conversion): readonly ContentPart[] {
  if (!Array.isArray(content)) return [];
  return content.filter(isObject).flatMap((part) => convertPart(part, conversion) ?? []);
}

function convertPart(part: JsonObject, conversion: Conversion): ContentPart | null {
  if (typeof part.text === "string") return { type: "text", text: part.text };
  switch (part.type) {
    case "input_image":
      return convertImage(part, conversion);
    case "input_file":
      return convertFile(part, conversion);
    case "input_audio":
      return { type: "input_audio", input_audio: part.input_audio };
    case "refusal":
      return { type: "text", text: toText(part.refusal) };
    default:
      conversion.refuse(`a part '${toText(part.type)}' can be read only by providers of the Responses API`);
      return null;
  }
}

function convertImage({ image_url: url, detail }: JsonObject, conversion: Conversion): ContentPart | null {
  if (typeof url !== "string") {
    conversion.refuse("an image given by file id is kept at its provider; send it as a URL or as data");
    return null;
  }
  const image: Record<string, unknown> = { url };
  // Chat-completions knows no other values.
  if (detail === "low" || detail === "high") image.detail = detail;
  return { type: "image_url", image_url: image };
}

function convertFile(part: JsonObject, conversion: Conversion): ContentPart | null {
  const { file_data: data, file_id: id, filename } = part;
  const name = typeof filename === "string" ? { filename } : {};
  if (typeof data === "string") return { type: "file", file: { ...name, file_data: data } };
  if (typeof id === "string") return { type: "file", file: { file_id: id } };
  conversion.refuse("a file given by URL is fetched only by providers of the Responses API; send its data");
  return null;
}
