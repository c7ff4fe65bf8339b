// The turns of a Messages request as chat-completions messages. Everything that both formats can express is kept.

import { type ChatMessage, type ContentPart, type ToolCall, unreadIn, withUnreadContent } from "../../../core/chat.ts";
import type { Conversion } from "../../convert/conversion.ts";
import { isSealed, openDetail, type ReasoningDetail } from "../../convert/reasoning-details.ts";
import { isObject, type JsonObject, objectsIn, toText } from "../../json/fields.ts";
import { shortToolName } from "../../tools/calls.ts";
import { NO_RESULT, orphanedResult, reminder } from "../../tools/results.ts";
import { type Block, blocksIn, blocksOf, cacheMark, isThinking, onlyUnread, type Turn, textBlock } from "../blocks.ts";
import { serverText } from "./server-blocks.ts";

/** The instructions, and the conversation after them. */
export interface Prompt {
  readonly system: Turn["content"] | null | undefined;
  readonly turns: readonly Turn[];
}

interface TurnOptions extends PartOptions {
  /** Set where readable thinking of earlier turns goes along as `reasoning_content`. */
  readonly keepsReasoning: boolean;
  /** Set where thinking that a model of another format signed goes along. */
  readonly keepsDetails: boolean;
}

// Differs from conversation to conversation and so would spoil every cached prefix.
const BILLING_HEADER = "x-anthropic-billing-header:";

/** Also what routing reads: the same conversion, with nothing kept that only a provider needs. */
export function convertTurns({ system, turns }: Prompt, options: TurnOptions): readonly ChatMessage[] {
  const messages: ChatMessage[] = [...convertSystem(system ?? "", options)];
  for (const { assistant, replies } of groupsOf(turns)) {
    const message = assistant === null ? null : convertAssistant(assistant, options);
    if (message !== null) messages.push(message);
    const callIds = (message?.tool_calls ?? []).map((call) => call.id ?? "");
    messages.push(...convertReplies(replies, callIds, options));
  }
  return messages;
}

interface TurnGroup {
  readonly assistant: readonly Block[] | null;
  readonly replies: readonly Turn[];
}

/** An assistant turn and all that follows until the next one. Assistant turns in a row are one, as for the API. */
function groupsOf(turns: readonly Turn[]): readonly TurnGroup[] {
  const found: { assistant: Block[] | null; replies: Turn[] }[] = [];
  for (const turn of turns) {
    const last = found.at(-1);
    if (turn.role !== "assistant") {
      if (last === undefined) found.push({ assistant: null, replies: [turn] });
      else last.replies.push(turn);
    } else if (last !== undefined && last.assistant !== null && last.replies.length === 0) {
      last.assistant.push(...blocksIn(turn));
    } else {
      found.push({ assistant: [...blocksIn(turn)], replies: [] });
    }
  }
  return found;
}

function convertSystem(system: Turn["content"], options: TurnOptions): readonly ChatMessage[] {
  const blocks = blocksOf(system).filter((block) => !toText(block.text).startsWith(BILLING_HEADER));
  const parts = blocks.flatMap((block) => convertBlock(block, options));
  return parts.length === 0 ? [] : [{ role: "system", content: joinParts(parts, "\n\n") }];
}

function convertAssistant(given: readonly Block[], options: TurnOptions): ChatMessage | null {
  const blocks = given.map((block) => readable(block, options));
  const calls = blocks.filter((block) => block.type === "tool_use").map(convertCall);
  const unread = onlyUnread(blocks.filter(hasText));
  const content = unread === null ? assistantText(blocks) : "";
  const reasoning = options.keepsReasoning ? thinkingText(blocks) : "";
  const details = options.keepsDetails ? blocks.flatMap((block) => openBlock(block) ?? []) : [];
  noteDropped(blocks, options);
  if (content === null && calls.length === 0) return null;
  const message: ChatMessage = {
    role: "assistant",
    content,
    ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
    ...(details.length === 0 ? {} : { reasoning_details: details }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
  return unread === null ? message : withUnreadContent(message, unread);
}

function hasText(block: Block): boolean {
  return block.type === "text" && (unreadIn(block, "text") !== null || block.text !== "");
}

function convertCall({ id, name, input }: Block): ToolCall {
  return {
    id: toText(id),
    type: "function",
    function: { name: shortToolName(toText(name)), arguments: JSON.stringify(input ?? {}) },
  };
}

/** Text blocks side by side are one text cut by citations; with something between them they are paragraphs. */
function assistantText(blocks: readonly Block[]): string | null {
  let text = "";
  let previous: Block | null = null;
  for (const block of blocks) {
    if (hasText(block)) {
      const isContinued = text === "" || previous?.type === "text";
      text += isContinued ? toText(block.text) : `\n\n${toText(block.text)}`;
    }
    previous = block;
  }
  return text === "" ? null : text;
}

function thinkingText(blocks: readonly Block[]): string {
  return blocks
    .filter((block) => block.type === "thinking" && typeof block.thinking === "string")
    .map((block) => block.thinking)
    .join("\n");
}

/** Opens an entry that a model of another format signed; only Anthropic reads its own. */
function openBlock({ type, signature, data }: Block): ReasoningDetail | null {
  if (type === "thinking") return openDetail(signature);
  return type === "redacted_thinking" ? openDetail(data) : null;
}

/** Turns what Anthropic's tools did into text, and refuses other blocks that only Anthropic reads. */
function readable(block: Block, { conversion }: TurnOptions): Block {
  if (block.type === "text" || block.type === "tool_use" || isThinking(block)) return block;
  const text = serverText(block);
  if (text === null) conversion.refuse(`a block '${block.type}' is read by Anthropic only`);
  else
    conversion.note(
      "content_converted",
      `turned '${block.type}' of an earlier turn into text: only Anthropic can read it`,
    );
  return textBlock(`\n${text ?? ""}\n`);
}

function noteDropped(blocks: readonly Block[], { conversion, keepsReasoning }: TurnOptions): void {
  const isLost = (block: Block): boolean => isThinking(block) && !isSealed(block.signature ?? block.data);
  if (!keepsReasoning && blocks.some(isLost)) {
    conversion.note("reasoning_dropped", "dropped thinking of earlier turns: only the model that made it can read it");
  }
}

// The replies between two assistant turns, in the order chat-completions wants: one tool message for each call, then
// attachments of the results, then the rest as it came.

function convertReplies(
  replies: readonly Turn[],
  callIds: readonly string[],
  options: PartOptions,
): readonly ChatMessage[] {
  const results = latestResults(replies);
  const answered = callIds.map((id) => convertResult(id, results.get(id), options));
  const attachments = answered.flatMap((result) => result.attachments);
  const known = new Set(callIds);
  return [
    ...answered.map((result) => result.message),
    ...(attachments.length === 0 ? [] : [{ role: "user", content: attachments } as const]),
    ...replies.flatMap((turn) => convertTurn(turn, known, options)),
  ];
}

/** Clients that repeat a result mean the later one. */
function latestResults(replies: readonly Turn[]): ReadonlyMap<string, Block> {
  const results = new Map<string, Block>();
  for (const turn of replies) {
    for (const block of blocksIn(turn)) {
      if (block.type === "tool_result") results.set(toText(block.tool_use_id), block);
    }
  }
  return results;
}

interface ConvertedResult {
  readonly message: ChatMessage;
  readonly attachments: readonly ContentPart[];
}

function convertResult(id: string, block: Block | undefined, options: PartOptions): ConvertedResult {
  if (block === undefined) {
    options.conversion.note("content_converted", "added an empty result for a tool call that had none");
    return { message: { role: "tool", tool_call_id: id, content: NO_RESULT }, attachments: [] };
  }
  const unread = block.is_error === true ? null : onlyUnread(contentOf(block));
  if (unread !== null) {
    return { message: withUnreadContent({ role: "tool", tool_call_id: id, content: "" }, unread), attachments: [] };
  }
  const { text, attachments } = readResult(block, options);
  return {
    message: { role: "tool", tool_call_id: id, content: text },
    attachments: attachments.length === 0 ? [] : [shownBy(id), ...attachments],
  };
}

function shownBy(id: string): ContentPart {
  return { type: "text", text: reminder(`What the tool call ${id} returned besides text:`) };
}

function readResult(block: Block, options: PartOptions): { text: string; attachments: readonly ContentPart[] } {
  const texts: string[] = [];
  const attachments: ContentPart[] = [];
  for (const inner of contentOf(block)) {
    if (inner.type === "tool_reference") {
      texts.push(`Tool ${toText(inner.tool_name)} loaded.`);
      continue;
    }
    for (const part of convertBlock(inner, { ...options, keepsCacheControl: false })) {
      if (part.type === "text") {
        texts.push(part.text ?? "");
        continue;
      }
      options.conversion.note(
        "content_converted",
        "moved images and files of tool results into a user message: tool messages take text only",
      );
      attachments.push(part);
      texts.push(`[${part.type === "image_url" ? "image" : "file"} in the next user message]`);
    }
  }
  const text = texts.join("\n");
  return { text: block.is_error === true ? asError(text) : text, attachments };
}

function contentOf(block: Block): readonly Block[] {
  if (unreadIn(block, "content") !== null) return blocksIn(block);
  const { content } = block;
  return content === undefined || content === null || content === "" ? [] : blocksOf(content as Turn["content"]);
}

// Chat-completions has no field for a failed call.
function asError(text: string): string {
  return /^error/i.test(text) ? text : `Error: ${text}`;
}

function convertTurn(turn: Turn, known: ReadonlySet<string>, options: PartOptions): readonly ChatMessage[] {
  const blocks = blocksIn(turn);
  const unread = hasMark(blocks, options) ? null : onlyUnread(blocks);
  if (unread !== null) return [withUnreadContent({ role: turn.role, content: "" }, unread)];
  const parts = blocks.flatMap((block) => {
    if (block.type !== "tool_result") return convertBlock(block, options);
    return known.has(toText(block.tool_use_id)) ? [] : orphan(block, options);
  });
  if (parts.length === 0) return [];
  return [{ role: turn.role, content: joinParts(parts, "\n\n") }];
}

function hasMark([block]: readonly Block[], { keepsCacheControl }: PartOptions): boolean {
  return keepsCacheControl && block !== undefined && cacheMark(block).cache_control !== undefined;
}

/** A result whose call is not in the history any more: hosts refuse it as a tool message. */
function orphan(block: Block, options: PartOptions): readonly ContentPart[] {
  options.conversion.note("content_converted", "turned a tool result without its call into text");
  const { text, attachments } = readResult(block, options);
  return [{ type: "text", text: orphanedResult(text) }, ...attachments];
}

/** Plain text as a string, which every host takes; anything else as parts. */
function joinParts(parts: readonly ContentPart[], separator: string): string | readonly ContentPart[] {
  const isPlain = parts.every((part) => part.type === "text" && part.cache_control === undefined);
  return isPlain ? parts.map((part) => part.text).join(separator) : parts;
}

// Content blocks of a user or of a tool as chat-completions parts. What only Anthropic can open is refused, so that
// another model is tried or the client is told.

/** Options for content that chat-completions has no field for. */
interface PartOptions {
  readonly conversion: Conversion;
  readonly keepsCacheControl: boolean;
}

/** The parts a block becomes: usually one, none when it is empty or left out, several for a document made of blocks. */
function convertBlock(block: Block, options: PartOptions): readonly ContentPart[] {
  const mark = options.keepsCacheControl ? cacheMark(block) : {};
  switch (block.type) {
    case "text":
      return block.text === "" ? [] : [{ type: "text", text: toText(block.text), ...mark }];
    case "image":
      return convertImage(block.source as JsonObject, options).map((part) => ({ ...part, ...mark }));
    case "document":
      return convertDocument(block, options).map((part) => ({ ...part, ...mark }));
    case "search_result":
      return [{ type: "text", text: searchResultText(block), ...mark }];
    case "container_upload":
      options.conversion.refuse("files in a code execution container exist at Anthropic only");
      return [];
    default:
      options.conversion.refuse(`a block '${block.type}' is read by Anthropic only`);
      return [];
  }
}

function convertImage(source: JsonObject, { conversion }: PartOptions): readonly ContentPart[] {
  if (source.type === "base64") {
    return [{ type: "image_url", image_url: { url: dataUrl(source.media_type, source.data) } }];
  }
  if (source.type === "url") return [{ type: "image_url", image_url: { url: toText(source.url) } }];
  conversion.refuse("a file id names a file kept at Anthropic; send the image as base64 or url");
  return [{ type: "image_url", image_url: { url: "" } }];
}

/** Documents that are sent elsewhere are read, but not cited. */
export const CITATIONS_DROPPED = "dropped 'citations' of documents: only Anthropic cites them";

function convertDocument(block: Block, options: PartOptions): readonly ContentPart[] {
  const source = block.source as JsonObject;
  if (isObject(block.citations) && block.citations.enabled === true) {
    options.conversion.note("option_dropped", CITATIONS_DROPPED);
  }
  const title = typeof block.title === "string" && block.title !== "" ? block.title : null;
  const context = typeof block.context === "string" && block.context !== "" ? [textPart(block.context)] : [];
  switch (source.type) {
    case "text":
      return [...context, textPart(documentText(title, toText(source.data ?? "")))];
    case "content":
      return [...context, ...convertInner(source.content, title, options)];
    case "base64": {
      const filename = title ?? "document.pdf";
      return [...context, { type: "file", file: { filename, file_data: dataUrl(source.media_type, source.data) } }];
    }
    case "url":
      options.conversion.refuse("a document given by url is fetched at Anthropic only; send it as base64 or text");
      return context;
    default:
      options.conversion.refuse("a file id names a file kept at Anthropic; send the document as base64 or text");
      return context;
  }
}

function convertInner(content: unknown, title: string | null, options: PartOptions): readonly ContentPart[] {
  if (typeof content === "string") return [textPart(documentText(title, content))];
  const blocks = objectsIn(content);
  const parts = blocks.flatMap((block) => convertBlock(block as Block, options));
  return title === null ? parts : [textPart(`${title}:`), ...parts];
}

function searchResultText({ title, source, content }: Block): string {
  const blocks = objectsIn(content);
  return [title, source, ...blocks.map((block) => block.text)].filter((text) => typeof text === "string").join("\n");
}

function textPart(text: string): ContentPart {
  return { type: "text", text };
}

function documentText(title: string | null, text: string): string {
  return title === null ? text : `${title}:\n${text}`;
}

function dataUrl(mediaType: unknown, data: unknown): string {
  return `data:${toText(mediaType)};base64,${toText(data)}`;
}
