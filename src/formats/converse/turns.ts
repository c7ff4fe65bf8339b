// Chat-completions messages as turns of Converse. Instructions stand apart from the turns, tool results come first in the
// turn that answers the calls, and user and assistant alternate.

import type { ChatMessage, ContentPart } from "../../core/chat.ts";
import type { HostedModel } from "../../core/model.ts";
import {
  CONTINUE,
  groupsOf,
  isInstruction,
  OPENING,
  parseArguments,
  readCalls,
  refuseMedia,
  resultKey,
} from "../convert/chat-turns.ts";
import type { Conversion } from "../convert/conversion.ts";
import { detailsOf } from "../convert/reasoning-details.ts";
import { isObject, type JsonObject, textOrEmpty, toText } from "../json/fields.ts";
import { toolIdFor } from "../tools/calls.ts";
import { NO_RESULT, orphanedResult, reminder } from "../tools/results.ts";
import { CACHE_POINT, CONVERSE, type ConverseBlock, type ConverseTurn, reasoningBlock } from "./blocks.ts";
import { Documents, writePart } from "./parts.ts";

export interface ConverseTerms {
  readonly model: HostedModel;
  readonly conversion: Conversion;
  /** Says that the client's cache marks become cache points. */
  readonly marksCache: boolean;
  readonly dropsThinking: boolean;
}

/** Instructions stand apart from the conversation in this format. */
interface WrittenConversation {
  readonly system: readonly ConverseBlock[];
  readonly turns: readonly ConverseTurn[];
}

interface Writing extends ConverseTerms {
  /** Names of files are given once in a request. */
  readonly documents: Documents;
  /** The ids of the calls so far. */
  readonly takenIds: Set<string>;
}

/** The whole conversation, with every rule of alternation and pairing kept. */
export function writeTurns(messages: readonly ChatMessage[], options: ConverseTerms): WrittenConversation {
  const writing: Writing = { ...options, documents: new Documents(), takenIds: new Set() };
  const firstOther = messages.findIndex((message) => !isInstruction(message));
  const leading = firstOther < 0 ? messages : messages.slice(0, firstOther);
  const system = leading.flatMap((message) => instructionBlocks(message, writing));
  const turns: ConverseTurn[] = [];
  for (const { assistant, replies } of groupsOf(messages.slice(leading.length))) {
    const { blocks, callIds } = writeAssistant(assistant, { ...writing, turnIndex: turns.length });
    add(turns, "assistant", blocks);
    const others = replies.flatMap((message) => writeOther(message, callIds, writing));
    add(turns, "user", withWords([...writeResults(replies, callIds, writing), ...others]));
  }
  // The format needs a user turn to begin with, also when all was said in the instructions.
  if (turns.length === 0) {
    return { system: [], turns: [{ role: "user", content: system.length === 0 ? [{ text: OPENING }] : system }] };
  }
  if (turns[0]?.role !== "user") turns.unshift({ role: "user", content: [{ text: OPENING }] });
  if (turns.at(-1)?.role === "assistant" && options.model.dialect.takesPrefill !== true) {
    options.conversion.note("content_converted", "added a user turn: the model does not continue a begun answer");
    turns.push({ role: "user", content: [{ text: CONTINUE }] });
  }
  return { system, turns };
}

/** A turn of the same side is continued; one without blocks is none. */
function add(turns: ConverseTurn[], role: ConverseTurn["role"], blocks: readonly ConverseBlock[]): void {
  const last = turns.at(-1);
  if (blocks.length === 0) return;
  if (last?.role === role) turns.splice(-1, 1, { role, content: [...last.content, ...blocks] });
  else turns.push({ role, content: blocks });
}

/** Bedrock refuses a document without a text beside it. */
function withWords(blocks: readonly ConverseBlock[]): readonly ConverseBlock[] {
  const hasDocument = blocks.some(({ document }) => document !== undefined);
  const hasText = blocks.some(({ text }) => text !== undefined);
  return hasDocument && !hasText ? [...blocks, { text: "(The user sent a document.)" }] : blocks;
}

function instructionBlocks(message: ChatMessage, writing: Writing): readonly ConverseBlock[] {
  refuseMedia(message, writing.conversion);
  const { content } = message;
  if (typeof content === "string") return textBlocks(content);
  return ((content ?? []) as readonly ContentPart[]).flatMap((part) =>
    marked(part, textBlocks(part.text ?? ""), writing),
  );
}

/** Bedrock refuses blank texts. */
function textBlocks(text: string): readonly ConverseBlock[] {
  return text.trim() === "" ? [] : [{ text }];
}

function marked(
  part: ContentPart,
  blocks: readonly ConverseBlock[],
  { marksCache }: Writing,
): readonly ConverseBlock[] {
  return marksCache && blocks.length > 0 && isObject(part.cache_control) ? [...blocks, CACHE_POINT] : blocks;
}

/** One result for each call, in the order of the calls: what was repeated counts once, what is missing is said. */
function writeResults(
  replies: readonly ChatMessage[],
  callIds: ReadonlyMap<string, string>,
  writing: Writing,
): readonly ConverseBlock[] {
  const results = new Map<string, ChatMessage>();
  for (const message of replies) {
    const key = resultKey(message);
    if (key !== null) results.set(key, message);
  }
  return [...callIds].flatMap(([key, toolUseId]) => {
    const message = results.get(key);
    if (message === undefined)
      writing.conversion.note("content_converted", "added an empty result for a tool call that had none");
    const written = message === undefined ? [] : contentBlocks(message, writing);
    const blocks = written.filter(({ cachePoint }) => cachePoint === undefined);
    const result = { toolResult: { toolUseId, content: blocks.length === 0 ? [{ text: NO_RESULT }] : blocks } };
    return blocks.length < written.length ? [result, CACHE_POINT] : [result];
  });
}

function contentBlocks({ content }: ChatMessage, writing: Writing): readonly ConverseBlock[] {
  if (typeof content === "string") return textBlocks(content);
  return ((content ?? []) as readonly ContentPart[]).flatMap((part) =>
    marked(part, writePart(part, writing.conversion, writing.documents), writing),
  );
}

function writeOther(
  message: ChatMessage,
  callIds: ReadonlyMap<string, string>,
  writing: Writing,
): readonly ConverseBlock[] {
  const { conversion } = writing;
  if (isInstruction(message)) {
    conversion.note("content_converted", "turned a system message among the messages into a reminder");
    return asText(instructionBlocks(message, writing), reminder);
  }
  const key = resultKey(message);
  if (key !== null) {
    if (callIds.has(key)) return [];
    conversion.note("content_converted", "turned a tool result without its call into text");
    return asText(contentBlocks(message, writing), orphanedResult);
  }
  if (message.name !== undefined)
    conversion.note("content_converted", "dropped names of messages: the Converse format has none");
  return contentBlocks(message, writing);
}

function asText(blocks: readonly ConverseBlock[], word: (text: string) => string): readonly ConverseBlock[] {
  return blocks.map((block) => (block.text === undefined ? block : { text: word(toText(block.text)) }));
}

// Assistant messages as the blocks of one turn: first what was thought, then what was said, then the tool calls.

/** Ids the API takes; others are replaced by a hash of themselves. */
const SAFE_ID = /^[A-Za-z0-9_-]{1,64}$/;

interface AssistantTurn {
  readonly blocks: readonly ConverseBlock[];
  /** The id each call goes by in this turn, under the key its result will have. */
  readonly callIds: ReadonlyMap<string, string>;
}

function writeAssistant(
  messages: readonly ChatMessage[],
  writing: Writing & { readonly turnIndex: number },
): AssistantTurn {
  const { conversion, dropsThinking } = writing;
  const thoughts: ConverseBlock[] = [];
  const said: ConverseBlock[] = [];
  const calls: ConverseBlock[] = [];
  const callIds = new Map<string, string>();
  for (const message of messages) {
    if (!dropsThinking) thoughts.push(...detailsOf(CONVERSE, message).map(reasoningBlock));
    refuseMedia(message, conversion);
    said.push(...assistantTexts(message, writing));
    for (const call of readCalls(message)) {
      const toolUseId = callId(call.id, writing);
      callIds.set(call.key, toolUseId);
      calls.push({ toolUse: { toolUseId, name: call.name, input: parseArguments(call.text, conversion) } });
    }
  }
  const rest = [...said, ...calls];
  return { blocks: rest.length === 0 ? [] : [...thoughts, ...rest], callIds };
}

function assistantTexts(message: ChatMessage, writing: Writing): readonly ConverseBlock[] {
  const { content } = message;
  const { refusal } = message as unknown as JsonObject;
  const parts: readonly ContentPart[] = Array.isArray(content) ? content : [];
  const said = typeof content === "string" ? textBlocks(content) : parts.flatMap((part) => partText(part, writing));
  return [...said, ...textBlocks(textOrEmpty(refusal))];
}

function partText(part: ContentPart, writing: Writing): readonly ConverseBlock[] {
  return marked(part, textBlocks(part.text ?? textOrEmpty(part.refusal)), writing);
}

// Hosts that give no ids of their own get the same made-up one in every turn, and Bedrock refuses repeats. An id that is the
// first of its kind stays as it is.
function callId(id: string, { turnIndex, takenIds }: Writing & { readonly turnIndex: number }): string {
  const plain = SAFE_ID.test(id) ? id : toolIdFor(id, "safe-40");
  const unique =
    id === "" ? `call_turn_${turnIndex}_${takenIds.size}` : takenIds.has(plain) ? `${hashed(plain, turnIndex)}` : plain;
  takenIds.add(unique);
  return unique;
}

function hashed(id: string, turnIndex: number): string {
  const named = `${id}_turn_${turnIndex}`;
  return SAFE_ID.test(named) ? named : toolIdFor(`${named} again`, "safe-40");
}
