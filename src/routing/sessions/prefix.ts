// Prefixes: the beginnings of a prompt, hashed at message boundaries. Two prompts with the same beginning have the same
// hashes up to there, decoded or not: all is hashed as UTF-8. Instructions and the first human message count with every
// byte, the last messages with a few at both ends, and a sample of those between. A wrong match costs no more than a wrong
// estimate, which the host's own count corrects.

import {
  type ChatMessage,
  type ChatRequest,
  type ContentPart,
  isUnread,
  parseLiteral,
  partsOf,
  type Tool,
  type ToolCall,
  UNREAD,
  type UnreadMessage,
  type UnreadText,
} from "../../core/chat.ts";
import { readableText } from "../ask.ts";

/** Hashes a whole text by its bytes in UTF-8. */
export type TextHash = (text: string | UnreadMessage) => number;

/** The instructions at the beginning of a conversation, and the first thing that a human said. */
export interface Opening {
  readonly instructions: number;
  /** The number of messages that the instructions take. */
  readonly count: number;
  readonly human: number;
  /** The place of the first human message; -1 where there is none. */
  readonly humanAt: number;
}

export function readOpening(messages: readonly ChatMessage[], hashText: TextHash): Opening {
  let count = 0;
  let instructions = OFFSET;
  for (; count < messages.length; count++) {
    const message = messages[count] as ChatMessage;
    if (message.role !== "system" && message.role !== "developer") break;
    instructions = mixWhole(instructions, message, hashText);
  }
  const humanAt = firstHuman(messages, count);
  const human = humanAt < 0 ? 0 : mixWhole(OFFSET, messages[humanAt] as ChatMessage, hashText);
  return { instructions, count, human, humanAt };
}

/** A history without a human in so many messages has lost its beginning, and is not walked to its end. */
const SEARCHED_MESSAGES = 32;

function firstHuman(messages: readonly ChatMessage[], from: number): number {
  const end = Math.min(messages.length, from + SEARCHED_MESSAGES);
  for (let at = from; at < end; at++) if (messages[at]?.role === "user") return at;
  return -1;
}

/** The first answer and what followed it: two conversations that begin alike part there. Undefined before that. */
export function threadOf(messages: readonly ChatMessage[], hashText: TextHash): number | undefined {
  const at = messages.findIndex(({ role }) => role === "assistant");
  if (at < 0) return undefined;
  const next = messages[at + 1];
  const answer = mixContent(messages[at] as ChatMessage);
  return (next === undefined ? answer : mix(answer, hashLasting(next, hashText))) >>> 0;
}

/**
 * A message by what lasts of it. Clients take their notes out of it later, and clear a result once it is old, but leave
 * what the human wrote and the id of the call.
 */
export function hashLasting(message: ChatMessage, hashText: TextHash): number {
  const { role, tool_call_id: id } = message;
  if (typeof id === "string") return mixEnds(OFFSET, id);
  const written = role === "user" ? readableText(message) : "";
  return written === "" ? mixWhole(mixContent(message), message, hashText) : hashText(written);
}

/** The last message of which something lasts; the last of all where there is none. */
export function hashEnd(messages: readonly ChatMessage[], hashText: TextHash): number {
  const end = messages.findLast((message) => {
    return typeof message.tool_call_id === "string" || (message.role === "user" && readableText(message) !== "");
  });
  return hashLasting(end ?? (messages.at(-1) as ChatMessage), hashText);
}

/** The beginnings of a prompt, each hashed when it is asked for. */
export interface Prefixes {
  /** The number of messages of the instructions, and of all messages. */
  readonly first: number;
  readonly length: number;
  /** Tools and instructions, where a message follows; null where there are none. */
  readonly instructions: number | null;
  /** The prompt up to its message at this place, which comes after the instructions. */
  hashAt(place: number): number;
}

/** The parts of a prompt that were read so far. */
export interface ReadPrompt {
  readonly opening: Opening;
  prefixes: Prefixes | null;
}

/** Before the end of a prefix, so many messages are read. */
const READ_MESSAGES = 6;

/** Each account's prompts are its own. */
export function prefixesOf(
  { messages, tools }: Pick<ChatRequest, "messages" | "tools">,
  account: string,
  { instructions, count, human, humanAt }: Opening,
): Prefixes {
  const { length } = messages;
  const base = mix(mix(mixText(OFFSET, account), hashTools(tools)), instructions);
  const hasInstructions = (count > 0 || tools.length > 0) && count < length;
  const contents: (number | undefined)[] = [];
  return {
    first: count,
    length,
    instructions: hasInstructions ? markOf(base, count) : null,
    hashAt(place) {
      const seed = humanAt >= 0 && humanAt < place ? mix(base, human) : base;
      let hash = mixSample(seed, messages, { first: count, place });
      for (let at = Math.max(count, place - READ_MESSAGES); at < place; at++) {
        contents[at] ??= mixContent(messages[at] as ChatMessage);
        hash = mix(hash, contents[at] as number);
      }
      return markOf(hash, place);
    },
  };
}

/** Lengths of instructions that differ by less than this factor are of one application: a clock in them may grow. */
const LENGTHS_ALIKE = 1.25;

/** Tells applications apart without the words of their instructions, which may have a clock or a random id in them. */
export function appOf(chat: Pick<ChatRequest, "messages" | "tools">, account: string, { count }: Opening): number {
  let chars = 1;
  for (let at = 0; at < count; at++) chars += charsOf(chat.messages[at] as ChatMessage);
  const length = Math.round(Math.log(chars) / Math.log(LENGTHS_ALIKE));
  return mix(mix(mixText(OFFSET, account), hashTools(chat.tools)), length) >>> 0;
}

/** Ever fewer of the earlier messages, odd and even ones, by the ends of their texts: clients clear many old results at once. */
function mixSample(
  seed: number,
  messages: readonly ChatMessage[],
  { first, place }: { readonly first: number; readonly place: number },
): number {
  let hash = seed;
  let [step, next] = [READ_MESSAGES + 2, READ_MESSAGES + 7];
  while (place - step >= first) {
    const message = messages[place - step] as ChatMessage;
    hash = mixEnds(hash, endsOf(message), isUnread(message), TIP_BYTES);
    [step, next] = [next, step + next];
  }
  return hash;
}

/** A text with the ends of the content, or of its last part; with one character for each byte where nobody has read it. */
function endsOf(message: ChatMessage): string {
  if (isUnread(message)) return unreadEnds(message[UNREAD], END_BYTES) ?? bytesOf(message.content);
  if (typeof message.content === "string") return message.content;
  // Only a part of type `text` is sure to have one.
  const text: unknown = partsOf(message).at(-1)?.text;
  return typeof text === "string" ? text : "";
}

/** A text with at least so many bytes of both ends, one character for each. Null where escapes stand too close to each other. */
export function unreadEnds(text: UnreadText, count: number): string | null {
  const [head, tail] = rawEnds(text, count);
  if (!head.includes("\\") && !tail.includes("\\")) return head + tail;
  // No escape is cut after two bytes that are not of one.
  const cut = /^.*[^\\]{2}/s.exec(head)?.[0] ?? "";
  const rest = tail.replace(/^.*?[^\\]{2}/s, "");
  const isEnough = cut.length > 2 * count && rest.length > 2 * count;
  return isEnough ? parseLiteral(`"${cut}${rest}"`) : null;
}

/** The ends as they stand in the body, long enough whatever escapes are in them. */
export function rawEnds({ bytes, start, end }: UnreadText, count: number): readonly [string, string] {
  const length = 2 * count + 40;
  const head = bytes.toString("latin1", start + 1, start + 1 + length);
  return [head, bytes.toString("latin1", end - 1 - length, end - 1)];
}

/** The place makes equal hashes of unlike prompts rarer still. */
function markOf(hash: number, place: number): number {
  return (hash >>> 0) * PLACES + (place % PLACES);
}

const PLACES = 2 ** 20;

/** At which message a prefix ends. */
export function placeOf(hash: number): number {
  return hash % PLACES;
}

/** An agent offers the same tools in every turn, and a long list that comes again is the same value again. */
const hashedTools = new WeakMap<readonly Tool[], number>();
const LONG_LIST = 8;

function hashTools(tools: readonly Tool[]): number {
  const known = tools.length < LONG_LIST ? undefined : hashedTools.get(tools);
  if (known !== undefined) return known;
  let hash = OFFSET;
  for (const { name, description } of tools) {
    // Tools are decoded in every request, so that their characters may count as they are.
    hash = mixEnds(mix(mixText(hash, name), description.length), description, true);
  }
  if (tools.length >= LONG_LIST) hashedTools.set(tools, hash);
  return hash;
}

/**
 * Characters that the schema of a tool adds to its name and description. Set by hand: only shares of a prompt are
 * counted with them.
 */
const SCHEMA_CHARS = 300;

/** Characters of tools and of so many messages. */
export function charsUpTo({ messages, tools }: Pick<ChatRequest, "messages" | "tools">, place: number): number {
  let chars = 0;
  for (const { name, description } of tools) chars += name.length + description.length + SCHEMA_CHARS;
  for (let at = 0; at < place; at++) chars += charsOf(messages[at] as ChatMessage);
  return chars;
}

function mixWhole(seed: number, message: ChatMessage, hashText: TextHash): number {
  if (isUnread(message)) return mix(seed, hashText(message));
  const { content } = message;
  let hash = seed;
  if (typeof content === "string") return mix(hash, hashText(content));
  for (const part of (content ?? []) as readonly ContentPart[]) {
    hash = mix(hash, hashText(typeof part.text === "string" ? part.text : part.type));
  }
  return hash;
}

/** Calls and results count by their ids, which hosts give to one call only. */
function mixContent(message: ChatMessage): number {
  const { role, tool_calls: calls, tool_call_id: id } = message;
  const parts = partsOf(message);
  let hash = mix(OFFSET, role.charCodeAt(0));
  for (const part of parts) {
    hash = typeof part.text === "string" ? mixEnds(hash, part.text) : mixText(hash, part.type);
  }
  if (parts.length === 0) hash = mixEnds(hash, endsOf(message), isUnread(message));
  if (typeof id === "string") hash = mixEnds(hash, id);
  // Some clients send null.
  if (calls) for (const call of calls) hash = mixCall(hash, call);
  return hash;
}

function mixCall(seed: number, { id, function: made }: ToolCall): number {
  const hash = typeof id === "string" ? mixEnds(seed, id) : seed;
  return mixEnds(hash, made?.arguments ?? "");
}

function charsOf(message: ChatMessage): number {
  const { tool_calls: calls, [UNREAD]: unread } = message;
  let chars = 1;
  if (unread !== undefined) chars += unread.end - unread.start;
  else if (typeof message.content === "string") chars += message.content.length;
  else for (const part of partsOf(message)) chars += part.text?.length ?? ATTACHMENT_CHARS;
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

/** Bytes that are read at each end of a text: of messages far from the end of a prefix, and of those before it. */
const TIP_BYTES = 4;
const END_BYTES = 12;

/** The bytes of UTF-8 at both ends, four at a time. `isBytes`: each character is a byte already. */
export function mixEnds(seed: number, text: string, isBytes = false, count = END_BYTES): number {
  const { length } = text;
  let hash = seed;
  let bits = 0;
  if (length < 2 * count) {
    hash = mix(hash, length);
    for (let at = 0; at < length; at++) {
      const code = text.charCodeAt(at);
      bits |= code;
      hash = mix(hash, code);
    }
  } else {
    for (let at = 0; at < count; at += 1) {
      const head = text.charCodeAt(at);
      const tail = text.charCodeAt(length - 1 - at);
      bits |= head | tail;
      hash = mix(hash, head | (tail << 16));
    }
  }
  return bits < 0x80 || isBytes ? hash : mixEnds(seed, endBytes(text), true, count);
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
