// Chat-completions messages as turns of the Messages format. Instructions come first and apart from the turns, tool
// results come first in the turn that answers the calls, and user and assistant alternate.

import type { ChatMessage, ContentPart } from "../../../core/chat.ts";
import type { HostedModel } from "../../../core/model.ts";
import {
  groupsOf,
  isInstruction,
  OPENING,
  parseArguments,
  readCalls,
  readDataUrl,
  refuseMedia,
  resultKey,
} from "../../convert/chat-turns.ts";
import type { Conversion } from "../../convert/conversion.ts";
import { detailsOf } from "../../convert/reasoning-details.ts";
import { isObject, type JsonObject, textOrEmpty, toText } from "../../json/fields.ts";
import { toolIdFor } from "../../tools/calls.ts";
import { NO_RESULT, orphanedResult, reminder } from "../../tools/results.ts";
import { ANTHROPIC, type Block, cacheMark, type Turn, textBlock, thinkingBlock } from "../blocks.ts";

interface TurnsOptions {
  readonly model: HostedModel;
  readonly conversion: Conversion;
}

/** Instructions stand apart from the conversation in this format. */
interface WrittenTurns {
  readonly system: readonly Block[];
  readonly turns: readonly Turn[];
}

/** The whole conversation, with every rule of alternation and pairing kept. */
export function writeTurns(messages: readonly ChatMessage[], options: TurnsOptions): WrittenTurns {
  const firstOther = messages.findIndex((message) => !isInstruction(message));
  const leading = firstOther < 0 ? messages : messages.slice(0, firstOther);
  const system = leading.flatMap((message) => instructionBlocks(message, options));
  const turns: Turn[] = [];
  const takenIds = new Set<string>();
  for (const { assistant, replies } of groupsOf(messages.slice(leading.length))) {
    const written = writeAssistant(assistant, { ...options, turnIndex: turns.length, takenIds });
    if (written.blocks.length > 0) turns.push({ role: "assistant", content: written.blocks });
    turns.push(...writeReplies(replies, written.callIds, options));
  }
  // The format needs a user turn to begin with, also when all was said in the instructions.
  if (turns.length === 0) return { system: system.slice(0, -1), turns: [{ role: "user", content: system.slice(-1) }] };
  if (turns[0]?.role !== "user") turns.unshift({ role: "user", content: OPENING });
  return { system, turns };
}

function instructionBlocks(message: ChatMessage, { conversion }: Pick<TurnsOptions, "conversion">): readonly Block[] {
  refuseMedia(message, conversion);
  const { content } = message;
  if (typeof content === "string") return content === "" ? [] : [textBlock(content)];
  const parts: readonly ContentPart[] = content ?? [];
  return parts
    .filter((part) => typeof part.text === "string" && part.text !== "")
    .map((part) => ({ ...textBlock(part.text ?? ""), ...cacheMark(part) }));
}

/** The user turn of the replies, and a system turn after it when the last message is an instruction the model takes there. */
function writeReplies(
  replies: readonly ChatMessage[],
  callIds: ReadonlyMap<string, string>,
  options: TurnsOptions,
): readonly Turn[] {
  const last = replies.at(-1);
  const hasSystemTurn = last !== undefined && isInstruction(last) && options.model.dialect.takesSystemInMiddle === true;
  const rest = hasSystemTurn ? replies.slice(0, -1) : replies;
  const blocks = [
    ...writeResults(rest, callIds, options),
    ...rest.flatMap((message) => writeOther(message, callIds, options)),
  ];
  const user: readonly Turn[] = blocks.length === 0 ? [] : [{ role: "user", content: blocks }];
  if (!hasSystemTurn) return user;
  const texts = instructionBlocks(last, options);
  if (texts.length === 0) return user;
  if (user.length > 0) return [...user, { role: "system", content: texts }];
  return [{ role: "user", content: texts.map(asReminder) }];
}

/** One result for each call, in the order of the calls: what was repeated counts once, what is missing is said. */
function writeResults(
  replies: readonly ChatMessage[],
  callIds: ReadonlyMap<string, string>,
  options: TurnsOptions,
): readonly Block[] {
  if (callIds.size === 0) return [];
  const results = new Map<string, ChatMessage>();
  for (const message of replies) {
    const key = resultKey(message);
    if (key !== null) results.set(key, message);
  }
  return [...callIds].map(([key, id]) => {
    const message = results.get(key);
    if (message === undefined)
      options.conversion.note("content_converted", "added an empty result for a tool call that had none");
    const content = message === undefined ? NO_RESULT : resultContent(message, options);
    return { type: "tool_result", tool_use_id: id, content };
  });
}

function resultContent({ content }: ChatMessage, options: TurnsOptions): string | readonly Block[] {
  if (typeof content === "string") return content;
  return ((content ?? []) as readonly ContentPart[]).flatMap((part) => writePart(part, options.conversion));
}

function writeOther(
  message: ChatMessage,
  callIds: ReadonlyMap<string, string>,
  options: TurnsOptions,
): readonly Block[] {
  if (isInstruction(message)) {
    options.conversion.note("content_converted", "turned a system message among the messages into a reminder");
    return instructionBlocks(message, options).map(asReminder);
  }
  const key = resultKey(message);
  if (key !== null) return callIds.has(key) ? [] : orphan(message, options);
  if (message.name !== undefined)
    options.conversion.note("content_converted", "dropped names of messages: the Messages format has none");
  if (typeof message.content === "string") return message.content.trim() === "" ? [] : [textBlock(message.content)];
  const parts = (message.content ?? []) as readonly ContentPart[];
  return parts.flatMap((part) => writePart(part, options.conversion));
}

/** A result whose call is not in the history any more. */
function orphan(message: ChatMessage, options: TurnsOptions): readonly Block[] {
  options.conversion.note("content_converted", "turned a tool result without its call into text");
  const content = resultContent(message, options);
  const blocks = typeof content === "string" ? [textBlock(content)] : content;
  return blocks.map((block) => (block.type === "text" ? textBlock(orphanedResult(toText(block.text))) : block));
}

function asReminder(block: Block): Block {
  return { ...block, text: reminder(toText(block.text)) };
}

// Assistant messages as the blocks of one turn: first what was thought, then what was said, then the tool calls.

/** Ids the API takes; others are replaced by a hash of themselves. */
const SAFE_ID = /^[A-Za-z0-9_-]+$/;

interface AssistantOptions {
  readonly conversion: Conversion;
  /** Tells calls of different turns apart that hosts gave one and the same id. */
  readonly turnIndex: number;
  /** The ids of the calls so far; those of this turn are added. */
  readonly takenIds: Set<string>;
}

interface WrittenAssistant {
  readonly blocks: readonly Block[];
  /** The id each call goes by in this turn, under the key its result will have. */
  readonly callIds: ReadonlyMap<string, string>;
}

function writeAssistant(messages: readonly ChatMessage[], options: AssistantOptions): WrittenAssistant {
  const thoughts: Block[] = [];
  const texts: Block[] = [];
  const calls: Block[] = [];
  const callIds = new Map<string, string>();
  for (const message of messages) {
    thoughts.push(...detailsOf(ANTHROPIC, message).map(thinkingBlock));
    refuseMedia(message, options.conversion);
    texts.push(...writeTexts(message));
    for (const call of readCalls(message)) {
      const id = callId(call.id, options);
      callIds.set(call.key, id);
      calls.push({ type: "tool_use", id, name: call.name, input: parseArguments(call.text, options.conversion) });
    }
  }
  const said = [...texts, ...calls];
  return { blocks: said.length === 0 ? [] : [...thoughts, ...said], callIds };
}

// Hosts that give no ids of their own get the same made-up one in every turn, and Anthropic refuses repeats. An id that
// is the first of its kind stays as it is.
function callId(id: string, { turnIndex, takenIds }: AssistantOptions): string {
  const plain = SAFE_ID.test(id) ? id : toolIdFor(id, "safe-40");
  const unique = id === "" ? `call_turn_${turnIndex}` : takenIds.has(plain) ? `${plain}_turn_${turnIndex}` : plain;
  takenIds.add(unique);
  return unique;
}

function writeTexts({ content, ...message }: ChatMessage): readonly Block[] {
  const refusal = (message as JsonObject).refusal;
  const parts: readonly ContentPart[] = Array.isArray(content) ? content : [];
  const said = typeof content === "string" ? [textBlock(content)] : parts.map(writeText);
  const all = typeof refusal === "string" ? [...said, textBlock(refusal)] : said;
  return all.filter((block) => toText(block.text).trim() !== "");
}

function writeText(part: ContentPart): Block {
  const text = part.text ?? textOrEmpty(part.refusal);
  return { ...textBlock(text), ...cacheMark(part) };
}

// Parts of chat-completions content as content blocks.

/** The types of parts that there are blocks for. */
const PARTS: ReadonlySet<string> = new Set(["text", "refusal", "image_url", "file"]);

export function takesPart(type: string): boolean {
  return PARTS.has(type);
}

/** Other images cannot be sent, whatever they are called. */
const IMAGE_TYPES: ReadonlySet<string> = new Set(["image/jpeg", "image/png", "image/gif", "image/webp"]);

function writePart(part: ContentPart, conversion: Conversion): readonly Block[] {
  const blocks = convert(part, conversion);
  return blocks.map((block) => ({ ...block, ...cacheMark(part) }));
}

function convert(part: ContentPart, conversion: Conversion): readonly Block[] {
  switch (part.type) {
    case "text":
      return (part.text ?? "").trim() === "" ? [] : [textBlock(part.text ?? "")];
    case "refusal":
      return [textBlock(toText(part.refusal ?? ""))];
    case "image_url":
      return writeImage(part.image_url as JsonObject, conversion);
    case "file":
      return writeFile(isObject(part.file) ? part.file : {}, conversion);
    case "input_audio":
      conversion.refuse("it takes no sound");
      return [];
    default:
      conversion.refuse(`it takes no content of the type '${part.type}'`);
      return [];
  }
}

function writeImage({ url }: JsonObject, conversion: Conversion): readonly Block[] {
  const address = toText(url);
  if (!address.startsWith("data:")) return [{ type: "image", source: { type: "url", url: address } }];
  const inline = readDataUrl(address);
  const mediaType = (inline?.mediaType ?? "").replace("image/jpg", "image/jpeg");
  if (inline === null || !IMAGE_TYPES.has(mediaType)) {
    conversion.refuse(
      `it takes images as jpeg, png, gif or webp, not ${mediaType === "" ? "this data URL" : mediaType}`,
    );
    return [];
  }
  return [{ type: "image", source: { type: "base64", media_type: mediaType, data: inline.base64 } }];
}

function writeFile({ file_data: data, filename }: JsonObject, conversion: Conversion): readonly Block[] {
  if (typeof data !== "string") {
    conversion.refuse("a file id names a file kept at another provider; send the file's data");
    return [];
  }
  const title = typeof filename === "string" && filename !== "" ? { title: filename } : {};
  const { mediaType, base64 } = readDataUrl(data) ?? { mediaType: "application/pdf", base64: data };
  if (mediaType === "application/pdf") {
    return [{ type: "document", source: { type: "base64", media_type: mediaType, data: base64 }, ...title }];
  }
  if (IMAGE_TYPES.has(mediaType)) {
    return [{ type: "image", source: { type: "base64", media_type: mediaType, data: base64 } }];
  }
  if (mediaType.startsWith("text/") || mediaType === "application/json") {
    const text = Buffer.from(base64, "base64").toString("utf8");
    return [{ type: "document", source: { type: "text", media_type: "text/plain", data: text }, ...title }];
  }
  conversion.refuse(`it takes files as pdf or text, not ${mediaType}`);
  return [];
}
