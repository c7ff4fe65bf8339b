// The one internal shape of a chat request: chat-completions, with what the gateway reads given types.
// Everything else a client sent stays in the original bytes and travels untouched.

import { isAscii, isUtf8, transcode } from "node:buffer";
import type { TokenBuckets } from "./money.ts";

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
 * Marks a message of a long history that is read as it came, and the body that it stands in: its texts have one character for each byte of UTF-8, and
 * `textIn` decodes the few that are read. Decoding all of them takes longer than everything else.
 */
export const UNDECODED: unique symbol = Symbol("undecoded");

export interface ChatMessage {
  readonly [UNDECODED]?: true;
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

/** What routing, filtering and pricing need to know of a request. */
export interface ChatRequest {
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly Tool[];
  readonly toolChoice: unknown;
  readonly isStream: boolean;
  readonly wantsUsage: boolean;
  /** The larger of the two output caps a client may send; null when it sent none. */
  readonly maxOutputTokens: number | null;
  readonly choiceCount: number;
}

/** The tokens an answer used, as its provider counted them. Every format's counts are read into this shape. */
export interface Usage {
  readonly buckets: TokenBuckets;
  /** Of `cacheWrite`, the entries that are kept for an hour and cost more. */
  readonly longCacheWrite: number;
  /** Of `output`, what the model thought; 0 where the provider does not say. */
  readonly reasoning: number;
  /** The counts in the internal shape, with whatever else the provider counted; absent where the buckets are all. */
  readonly reported?: Readonly<Record<string, unknown>>;
}

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
  /** Null where nothing usable was counted. */
  readonly counted: { readonly inputTokens: number; readonly outputTokens: number } | null;
  /** What the request can use at most. */
  readonly bounds: { readonly inputTokens: number; readonly outputTokens: number };
}

/** All that was read, from the cache or not, or written to it. */
export function promptTokens({ input, cacheRead, cacheWrite }: TokenBuckets): number {
  return input + cacheRead + cacheWrite;
}

/** Whether the texts of a message, or of a whole body, still have to be decoded. */
export function isUndecoded(value: { readonly [UNDECODED]?: true }): boolean {
  return value[UNDECODED] === true;
}

/** Marks what stands in an undecoded body. */
export function markUndecoded(messages: readonly { [UNDECODED]?: true }[]): void {
  for (const message of messages) message[UNDECODED] = true;
}

/** A shorter text is decoded faster in one step. */
const LONG_TEXT_BYTES = 512;

/** What a text of the message says. */
export function textIn(message: ChatMessage, text: string): string {
  if (!isUndecoded(message)) return text;
  const bytes = Buffer.from(text, "latin1");
  if (bytes.length < LONG_TEXT_BYTES || !isUtf8(bytes)) return bytes.toString("utf8");
  // Node 20 takes up to eight times as long for this in one step.
  return isAscii(bytes) ? text : transcode(bytes, "utf8", "utf16le").toString("utf16le");
}

/** The ids of the tool calls a message makes. */
export function toolCallIds(message: ChatMessage): readonly string[] {
  return (message.tool_calls ?? []).flatMap(({ id }) => (typeof id === "string" ? [textIn(message, id)] : []));
}

export function messageText(message: ChatMessage): string {
  return textIn(message, contentText(message.content));
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

export function hasImages(messages: readonly ChatMessage[]): boolean {
  return messages.some(
    (message) =>
      Array.isArray(message.content) && message.content.some((part: ContentPart) => part.type === "image_url"),
  );
}
