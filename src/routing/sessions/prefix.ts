// Prefixes: the beginnings of a prompt, hashed at message boundaries. Two prompts with the same beginning have the same
// hashes up to there, decoded or not: all is hashed as UTF-8. Instructions and the first human message count with every
// byte, later messages with a few at both ends: a wrong match costs no more than a wrong estimate.

import {
  type ChatMessage,
  type ChatRequest,
  type ContentPart,
  isUndecoded,
  type Tool,
  type ToolCall,
} from "../../core/chat.ts";

/** Hashes a whole text by its bytes in UTF-8. `isBytes`: each character is a byte already. */
export type TextHash = (text: string, isBytes: boolean) => number;

/** The instructions at the beginning of a conversation, and the first thing that a human said. */
export interface Opening {
  readonly instructions: number;
  /** How many messages these are. */
  readonly count: number;
  readonly human: number;
}

export function readOpening(messages: readonly ChatMessage[], hashText: TextHash): Opening {
  let count = 0;
  let instructions = OFFSET;
  for (; count < messages.length; count++) {
    const message = messages[count] as ChatMessage;
    if (message.role !== "system" && message.role !== "developer") break;
    instructions = mixWhole(instructions, message, hashText);
  }
  const human = messages.find(({ role }) => role === "user");
  return { instructions, count, human: human === undefined ? 0 : mixWhole(OFFSET, human, hashText) };
}

/** The first answer and what followed it: two conversations that begin alike part there. Undefined before that. */
export function threadOf(messages: readonly ChatMessage[]): number | undefined {
  const at = messages.findIndex(({ role }) => role === "assistant");
  if (at < 0) return undefined;
  const next = messages[at + 1];
  const answer = mixContent(messages[at] as ChatMessage);
  return (next === undefined ? answer : mix(answer, mixContent(next))) >>> 0;
}

/** A message with every byte of its content. */
export function hashMessage(message: ChatMessage, hashText: TextHash): number {
  return mixWhole(mixContent(message), message, hashText);
}

/** The end of a message, or of the instructions. */
interface PrefixMark {
  readonly hash: number;
  /** Characters up to here, of tools and texts. */
  readonly chars: number;
}

export interface PrefixMarks {
  /** After tools and instructions, where the first other message begins; null where there are none. */
  readonly instructions: PrefixMark | null;
  /** At the end of each of the last other messages, the newest last. */
  readonly ends: readonly PrefixMark[];
}

/** More messages than these hardly come between two requests of a conversation. */
const ENDS_MAX = 24;
/** Before the end of a prefix, so many messages are read. */
const READ_MESSAGES = 6;
/** What the schema of a tool adds to its name and description. By hand: only shares of a prompt are counted with it. */
const SCHEMA_CHARS = 300;

/** Each account's prompts are its own. */
export function prefixMarks(
  { messages, tools }: Pick<ChatRequest, "messages" | "tools">,
  account: string,
  opening: Opening,
): PrefixMarks {
  let hash = mix(mixTools(mixText(OFFSET, account), tools), opening.instructions);
  let chars = 0;
  for (const { name, description } of tools) chars += name.length + description.length + SCHEMA_CHARS;
  for (let at = 0; at < opening.count; at++) chars += charsOf(messages[at] as ChatMessage);
  const first = opening.count;
  const instructions = chars > 0 && first < messages.length ? markOf(hash, first, chars) : null;
  const firstEnd = Math.max(first, messages.length - ENDS_MAX);
  const read: number[] = [];
  const ends: PrefixMark[] = [];
  let isHumanRead = false;
  for (let at = first; at < messages.length; at++) {
    const message = messages[at] as ChatMessage;
    chars += charsOf(message);
    hash = mixTips(hash, message);
    if (!isHumanRead && message.role === "user") {
      hash = mix(hash, opening.human);
      isHumanRead = true;
    }
    if (at > firstEnd - READ_MESSAGES) read.push(mixContent(message));
    if (at >= firstEnd) ends.push(markOf(mixLast(hash, read), at + 1, chars));
  }
  return { instructions, ends };
}

function mixLast(seed: number, read: readonly number[]): number {
  let hash = seed;
  for (let at = Math.max(0, read.length - READ_MESSAGES); at < read.length; at++) hash = mix(hash, read[at] as number);
  return hash;
}

/** The place makes equal hashes of unlike prompts rarer still. */
function markOf(hash: number, place: number, chars: number): PrefixMark {
  return { hash: (hash >>> 0) * PLACES + (place % PLACES), chars };
}

const PLACES = 2 ** 20;

function mixTools(seed: number, tools: readonly Tool[]): number {
  let hash = seed;
  for (const { name, description } of tools) {
    // Tools are decoded in every request, so that their characters may count as they are.
    hash = mixEnds(mix(mixText(hash, name), description.length), description, true);
  }
  return hash;
}

function mixWhole(seed: number, message: ChatMessage, hashText: TextHash): number {
  const { content } = message;
  const isBytes = isUndecoded(message);
  let hash = seed;
  if (typeof content === "string") return mix(hash, hashText(content, isBytes));
  for (const part of (content ?? []) as readonly ContentPart[]) {
    hash = mix(hash, hashText(typeof part.text === "string" ? part.text : part.type, isBytes));
  }
  return hash;
}

/** Of each message, however long the conversation: its role and the first and last bytes of its text. */
function mixTips(seed: number, message: ChatMessage): number {
  const { content } = message;
  const text = Array.isArray(content) ? (content as readonly ContentPart[]).at(-1)?.text : content;
  const hash = mix(seed, message.role.charCodeAt(0));
  return mixTip(hash, typeof text === "string" ? text : "", isUndecoded(message));
}

/** Calls and results count by their ids, which hosts give to one call only. */
function mixContent(message: ChatMessage): number {
  const { content, tool_calls: calls, tool_call_id: id } = message;
  const isBytes = isUndecoded(message);
  let hash = OFFSET;
  if (Array.isArray(content)) {
    for (const part of content as readonly ContentPart[]) {
      hash = typeof part.text === "string" ? mixEnds(hash, part.text, isBytes) : mixText(hash, part.type);
    }
  } else hash = mixEnds(hash, typeof content === "string" ? content : "", isBytes);
  if (typeof id === "string") hash = mixEnds(hash, id, isBytes);
  // Some clients send null.
  if (calls) for (const call of calls) hash = mixCall(hash, call, isBytes);
  return hash;
}

function mixCall(seed: number, { id, function: made }: ToolCall, isBytes: boolean): number {
  const hash = typeof id === "string" ? mixEnds(seed, id, isBytes) : seed;
  return mixEnds(hash, made?.arguments ?? "", isBytes);
}

function charsOf({ content, tool_calls: calls }: ChatMessage): number {
  let chars = 1;
  if (typeof content === "string") chars += content.length;
  else if (Array.isArray(content)) {
    for (const part of content as readonly ContentPart[]) chars += part.text?.length ?? ATTACHMENT_CHARS;
  }
  if (calls) for (const { function: made } of calls) chars += made?.arguments?.length ?? 0;
  return chars;
}

/** About a thousand tokens, as elsewhere. */
const ATTACHMENT_CHARS = 4_000;

const OFFSET = 0x811c9dc5;
const PRIME = 0x01000193;

/** FNV-1a, with the high bits folded down: they alone tell apart what came early. */
function mix(hash: number, value: number): number {
  const mixed = Math.imul(hash ^ value, PRIME);
  return mixed ^ (mixed >>> 15);
}

function mixText(seed: number, text: string): number {
  let hash = seed;
  for (let at = 0; at < text.length; at++) hash = mix(hash, text.charCodeAt(at));
  return hash;
}

/** Bytes at each end of a text. */
const END_BYTES = 12;

/** The bytes of UTF-8 at both ends, four at a time. `isBytes`: each character is a byte already. */
export function mixEnds(seed: number, given: string, isBytes: boolean): number {
  const text = isBytes || isPlain(given, END_BYTES) ? given : endBytes(given);
  const { length } = text;
  if (length < 2 * END_BYTES) return mixText(mix(seed, length), text);
  let hash = seed;
  for (let at = 0; at < END_BYTES; at += 4) hash = mix(mix(hash, wordAt(text, at)), wordAt(text, length - 4 - at));
  return hash;
}

/** Four bytes at both ends. */
function mixTip(seed: number, given: string, isBytes: boolean): number {
  const text = isBytes || isPlain(given, 4) ? given : endBytes(given);
  // Reading beyond the ends of a text would make every other reading ten times as slow.
  if (text.length < 4) return mixText(mix(seed, text.length), text);
  return mix(mix(seed, wordAt(text, 0)), wordAt(text, text.length - 4));
}

/** Whether a text has one byte for each character, as far as its ends are read. */
function isPlain(text: string, count: number): boolean {
  const { length } = text;
  let bits = 0;
  for (let at = Math.min(count, length) - 1; at >= 0; at--) {
    bits |= text.charCodeAt(at) | text.charCodeAt(length - 1 - at);
  }
  return bits < 0x80;
}

/** A text that has the same ends in UTF-8, one character for each byte. */
function endBytes(text: string): string {
  if (text.length <= 2 * END_BYTES) return bytesOf(text);
  // One more on each side: a pair of surrogates may be cut there.
  const head = bytesOf(text.slice(0, END_BYTES + 1)).slice(0, END_BYTES);
  return head + bytesOf(text.slice(-END_BYTES - 1)).slice(-END_BYTES);
}

function bytesOf(text: string): string {
  return Buffer.from(text, "utf8").toString("latin1");
}

function wordAt(text: string, at: number): number {
  const low = text.charCodeAt(at) | (text.charCodeAt(at + 1) << 8);
  return low ^ (text.charCodeAt(at + 2) << 16) ^ (text.charCodeAt(at + 3) << 24);
}
