// Prefixes: the beginnings of a prompt, hashed at message boundaries. Two prompts with the same beginning have the same
// hashes up to there. Instructions count with every byte. Of later messages the lengths count, of the newest the ends as
// well: a wrong match costs no more than a wrong estimate.

import { type ChatMessage, type ChatRequest, type ContentPart, type Tool, UNDECODED } from "../../core/chat.ts";

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
  for (let at = first; at < messages.length; at++) {
    const message = messages[at] as ChatMessage;
    const length = charsOf(message);
    chars += length;
    hash = mix(hash, length ^ (message.role.charCodeAt(0) << 24));
    const isRead = at > firstEnd - READ_MESSAGES;
    const content = isRead || at === first ? mixContent(message) : 0;
    if (at === first) hash = mix(hash, content);
    if (isRead) read.push(content);
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
  for (const { name, description } of tools) hash = mixEnds(mixText(hash, name), description);
  return hash;
}

function mixWhole(seed: number, message: ChatMessage, hashText: TextHash): number {
  const { content } = message;
  const isBytes = message[UNDECODED] === true;
  let hash = mix(seed, message.role.charCodeAt(0));
  if (typeof content === "string") return mix(hash, hashText(content, isBytes));
  for (const part of (content ?? []) as readonly ContentPart[]) {
    hash = mix(hash, hashText(typeof part.text === "string" ? part.text : part.type, isBytes));
  }
  return hash;
}

function mixContent({ content, tool_calls: calls }: ChatMessage): number {
  let hash = OFFSET;
  if (typeof content === "string") hash = mixEnds(hash, content);
  else if (Array.isArray(content)) {
    for (const part of content as readonly ContentPart[]) {
      hash = typeof part.text === "string" ? mixEnds(hash, part.text) : mixText(hash, part.type);
    }
  }
  // Some clients send null.
  if (calls) for (const { function: made } of calls) hash = mixEnds(hash, made?.arguments ?? "");
  return hash;
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

/** Characters at each end of a text that is one of hundreds. */
const END_CHARS = 8;

/** The length, and four characters at a time of both ends. */
export function mixEnds(seed: number, text: string): number {
  const { length } = text;
  let hash = mix(seed, length);
  if (length < 2 * END_CHARS) return mixText(hash, text);
  for (let at = 0; at < END_CHARS; at += 4) hash = mix(mix(hash, wordAt(text, at)), wordAt(text, length - 4 - at));
  return hash;
}

function wordAt(text: string, at: number): number {
  const low = text.charCodeAt(at) | (text.charCodeAt(at + 1) << 8);
  return low ^ (text.charCodeAt(at + 2) << 16) ^ (text.charCodeAt(at + 3) << 24);
}
