// The one internal shape of a chat request: chat-completions, with what the gateway reads given types.
// Everything else a client sent stays in the original bytes and travels untouched.

import { isAscii, isUtf8, transcode } from "node:buffer";
import type { AskedServiceTier, ChargedLine, ServiceTier, TokenBuckets, Unit } from "./money.ts";
import type { Effort } from "./requests/effort.ts";
import type { SearchBounds } from "./search/web-search.ts";

export const ROLES = ["system", "developer", "user", "assistant", "tool", "function"] as const;

/** Far above any model; keeps arithmetic with it exact. */
export const OUTPUT_TOKENS_MAX = 1e9;

export type Role = (typeof ROLES)[number];

export interface ContentPart {
  readonly type: string;
  readonly text?: string;
  readonly [field: string]: unknown;
}

export interface ToolCall {
  readonly id?: string;
  readonly type?: string;
  readonly function?: { readonly name?: string; readonly arguments?: string };
}

/**
 * The long text of a message, or of a part of one, that was left in the body: parsing all texts of a long history takes
 * longer than everything else. The field is there as ever, but parses the text when it is read; code that looks at every
 * message of a history looks at this instead.
 */
export const UNREAD: unique symbol = Symbol("unread");
const READ: unique symbol = Symbol("read");

/** A text as JSON has it: in UTF-8, with its quotes and with escapes of two bytes. */
export interface UnreadText {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
  /** The field that it is the value of: `content` of a message in the internal shape. */
  readonly name: string;
  /** Says that JSON.stringify would write the name exactly as it was sent. */
  readonly isUsual: boolean;
}

export interface ChatMessage {
  readonly [UNREAD]?: UnreadText;
  readonly role: Role;
  readonly content?: string | readonly ContentPart[] | null;
  readonly name?: string;
  readonly tool_calls?: readonly ToolCall[];
  readonly tool_call_id?: string;
}

/** A tool a model may call; a deprecated `functions` entry has the same inner shape. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>> | null;
}

/** Parts of a request that routing, filtering and pricing need. */
export interface ChatRequest {
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly Tool[];
  readonly toolChoice: unknown;
  readonly isStream: boolean;
  readonly wantsUsage: boolean;
  /** The larger of the two output caps a client may send; null when it sent none. */
  readonly maxOutputTokens: number | null;
  readonly choiceCount: number;
  /** The thinking that the client asks for: an effort, or `own` for another wish. Absent where it leaves it to us. */
  readonly effort?: Effort | "own";
  /** The service tier to ask providers for. Absent where nobody wants a certain one. */
  readonly serviceTier?: AskedServiceTier;
  /** The service tier is that of the profile or the configuration. A host without it is no change for the client. */
  readonly isTierByDefault?: true;
  /** The most searches that the hold covers, where the provider may search by itself; absent for none. */
  readonly searches?: number;
  /** Set where the gateway searches for hosts that do not. */
  readonly ownSearches?: SearchBounds;
  /** Pictures that the hold covers, made by the gateway or by the provider, in pico-USD for each. Absent for none. */
  readonly pictures?: { readonly count: number; readonly rate: number };
}

/** Tells whether the model must call a tool, one of several or a certain one, as clients of any format say it. */
export function forcesTool(toolChoice: unknown): boolean {
  if (typeof toolChoice === "string") return toolChoice === "required" || toolChoice === "any";
  if (typeof toolChoice !== "object" || toolChoice === null) return false;
  const { type, mode, allowed_tools: allowed } = toolChoice as Readonly<Record<string, unknown>>;
  if (type === "auto" || type === "none") return false;
  if (type !== "allowed_tools") return true;
  return ((allowed as { readonly mode?: unknown } | undefined)?.mode ?? mode) === "required";
}

/** Searches that a hold covers for a request that sets no limit of its own. Models rarely run more for one answer. */
const SEARCHES_HELD = 8;
/** A limit above this asks for more than any answer takes. */
const SEARCHES_HELD_MAX = 100;

/** The searches that a hold covers, by the limit that the request sets for them. */
export function searchesHeld(limit: unknown): number {
  const isLimit = typeof limit === "number" && Number.isInteger(limit) && limit > 0;
  return isLimit ? Math.min(limit, SEARCHES_HELD_MAX) : SEARCHES_HELD;
}

export interface OwnSearches {
  readonly count: number;
  readonly rate: number;
  readonly rounds: number;
  /** Pages that the gateway fetched; absent for none. */
  readonly fetched?: { readonly count: number; readonly rate: number };
}

/** The tokens an answer used, as its provider counted them. Every format's counts are read into this shape. */
export interface Usage {
  readonly buckets: TokenBuckets;
  /** Tokens of `cacheWrite` that the provider keeps for an hour, at a higher price. */
  readonly longCacheWrite: number;
  /** Tokens of `output` that the model spent on thinking; 0 where the provider does not say. */
  readonly reasoning: number;
  /** Counts that may have a rate of their own: tokens among them are part of a bucket. */
  readonly parts?: UsageParts;
  /** Images that were made, by size and quality. */
  readonly images?: Readonly<Record<string, number>>;
  /** Searches that the gateway ran, and the calls of the model around them; absent where it ran none. */
  readonly ownSearches?: OwnSearches;
  /** Pictures that a tool of the model made, each at what it cost. */
  readonly pictures?: readonly ChargedLine[];
  /** Counts of pictures that the provider made for its model. They have the price of an image model. */
  readonly imageTool?: Usage;
  /** The longest prompt of several calls, which says which band counts. */
  readonly longestPrompt?: number;
  /** The service tier that the provider says it answered with; absent for the usual one. */
  readonly serviceTier?: ServiceTier;
  /** Says that the provider named its tier, be it the usual one. */
  readonly isTierTold?: true;
  /** The counts in the internal shape, with whatever else the provider counted; absent where the buckets are all. */
  readonly reported?: Readonly<Record<string, unknown>>;
}

export type UsageParts = Readonly<Partial<Record<Exclude<Unit, "cacheWriteLong" | "reasoning">, number>>>;

/**
 * `missing`: none in a complete response, or such that cannot be true. `output_missing`: no output was counted although
 * some was delivered. `excessive`: more than the request can explain.
 */
export type UsageProblemReason = "missing" | "output_missing" | "excessive";

export interface UsageProblem {
  readonly requestId: string;
  readonly provider: string;
  readonly model: string;
  readonly reason: UsageProblemReason;
  /** Counts that could be used; null where there were none. */
  readonly counted: { readonly inputTokens: number; readonly outputTokens: number } | null;
  /** Most tokens that the request can use. */
  readonly bounds: { readonly inputTokens: number; readonly outputTokens: number };
}

/** All that was read, from the cache or not, or written to it. */
export function promptTokens({ input, cacheRead, cacheWrite }: TokenBuckets): number {
  return input + cacheRead + cacheWrite;
}

/** Message whose text was left in the body. */
export interface UnreadMessage extends ChatMessage {
  readonly [UNREAD]: UnreadText;
  readonly content: string;
}

export function isUnread(message: ChatMessage): message is UnreadMessage {
  return message[UNREAD] !== undefined;
}

/** The text that was left in the body, where it is the value of this field. */
export function unreadIn(value: object, name: string): UnreadText | null {
  const text = (value as Pick<ChatMessage, typeof UNREAD>)[UNREAD];
  return text?.name === name ? text : null;
}

/** The text in the body that the object would be written with; null where it has none, or not any more. */
export function writtenLiteral(value: object): UnreadText | null {
  const text = (value as Pick<ChatMessage, typeof UNREAD>)[UNREAD];
  if (text?.isUsual !== true) return null;
  // A copy of the object has a text of its own.
  return Object.getOwnPropertyDescriptor(value, text.name)?.get === PARSED_WHEN_READ.get ? text : null;
}

/** The message with a text in the body as its content. */
export function withUnreadContent<Message extends ChatMessage>(message: Message, text: UnreadText): Message {
  return withUnread(message, { ...text, name: "content" });
}

/** The message with other values for some of its fields. A text that was left in the body stays there. */
export function withChanges<Message extends object>(
  message: Message,
  changes: Readonly<Record<string, unknown>>,
): Message {
  const text = (message as Pick<ChatMessage, typeof UNREAD>)[UNREAD];
  if (text !== undefined) return withUnread(message, text, changes);
  return { ...message, ...changes };
}

/** The object with a text that was left in the body, and with other values for some fields. */
export function withUnread<Message extends object>(
  message: Message,
  text: UnreadText,
  changes: Readonly<Record<string, unknown>> = NO_CHANGES,
): Message {
  // A copy, and one getter for all: changing a property into a getter makes an object slow and large.
  const made: Record<string, unknown> & Pick<ChatMessage, typeof UNREAD> = {};
  for (const name in message) {
    if (Object.hasOwn(changes, name)) made[name] = changes[name];
    else if (name === text.name) Object.defineProperty(made, name, PARSED_WHEN_READ);
    else if (name === "__proto__") Object.defineProperty(made, name, { value: message[name], enumerable: true });
    else made[name] = message[name];
  }
  return Object.assign(made, { [UNREAD]: text }) as object as Message;
}

const NO_CHANGES: Readonly<Record<string, unknown>> = {};

const PARSED_WHEN_READ: PropertyDescriptor & ThisType<{ readonly [UNREAD]: UnreadText; [READ]?: string }> = {
  enumerable: true,
  get() {
    const { bytes, start, end } = this[UNREAD];
    this[READ] ??= parseLiteral(decoded(bytes.subarray(start, end)));
    return this[READ];
  },
};

/** A text as JSON has it, quotes included. One that JSON does not allow stays as it is. */
export function parseLiteral(literal: string): string {
  try {
    return JSON.parse(literal) as string;
  } catch {
    return literal.slice(1, -1);
  }
}

function decoded(bytes: Buffer): string {
  if (isAscii(bytes)) return bytes.toString("latin1");
  // Node 20 takes up to eight times as long for this in one step.
  return isUtf8(bytes) ? transcode(bytes, "utf8", "utf16le").toString("utf16le") : bytes.toString("utf8");
}

/** The ids of the tool calls a message makes. */
export function toolCallIds(message: ChatMessage): readonly string[] {
  return (message.tool_calls ?? []).flatMap(({ id }) => (typeof id === "string" ? [id] : []));
}

export function messageText(message: ChatMessage): string {
  return contentText(message.content);
}

/** The text of a message's content: strings as they are, text parts joined by a line break. */
export function contentText(content: ChatMessage["content"]): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  const texts: string[] = [];
  for (const part of content as readonly ContentPart[]) {
    if (typeof part.text === "string") texts.push(part.text);
  }
  return texts.join("\n");
}

/** None where the content is a text. */
export function partsOf(message: ChatMessage): readonly ContentPart[] {
  if (message[UNREAD] !== undefined) return NO_PARTS;
  return Array.isArray(message.content) ? message.content : NO_PARTS;
}

const NO_PARTS: readonly ContentPart[] = [];
