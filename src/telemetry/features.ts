// Features of a request: numbers from which it can be learnt later which tier was right. No text, and nothing that reveals
// text.

import { type ChatMessage, type ChatRequest, type ContentPart, UNREAD, type UnreadText } from "../core/chat.ts";
import type { Decision } from "../core/decision.ts";

/** Longer conversations are counted in full but measured by their newest messages. */
const MESSAGES_MAX = 200;

/** `measures` are what routing saw in the newest ask. */
export function featuresOf(chat: ChatRequest, decision: Decision | null): object {
  const { messages } = chat;
  return {
    messages: messages.length,
    tools: chat.tools.length,
    outputCap: chat.maxOutputTokens ?? 0,
    choices: chat.choiceCount,
    inputTokens: decision?.estimatedTokens.input ?? 0,
    score: decision?.score ?? 0,
    weakModelFails: decision?.weakModelFails ?? 0,
    ...countRoles(messages),
    measures: decision?.measures ?? null,
  };
}

/** Counts the messages of each role. */
function countRoles(messages: readonly ChatMessage[]): object {
  let userTurns = 0;
  let toolResults = 0;
  let toolCalls = 0;
  let systemChars = 0;
  let userChars = 0;
  let otherChars = 0;
  let attachments = 0;
  const slices = slicesFor(messages.length);
  for (let at = Math.max(0, messages.length - MESSAGES_MAX); at < messages.length; at++) {
    const { role, tool_calls: calls } = messages[at] as ChatMessage;
    const { chars, others } = sizeOf(messages[at] as ChatMessage, slices);
    attachments += others;
    toolCalls += calls?.length ?? 0;
    if (role === "user") {
      userTurns += 1;
      userChars += chars;
    } else if (role === "system" || role === "developer") systemChars += chars;
    else otherChars += chars;
    if (role === "tool" || role === "function") toolResults += 1;
  }
  return { userTurns, toolResults, toolCalls, systemChars, userChars, otherChars, attachments };
}

/** Characters of text, and how many parts are something else. */
function sizeOf(message: ChatMessage, slices: number): { readonly chars: number; readonly others: number } {
  const { [UNREAD]: unread } = message;
  if (unread !== undefined) return { chars: charsInUnread(unread, slices), others: 0 };
  const { content } = message;
  if (typeof content === "string") return { chars: content.length, others: 0 };
  let chars = 0;
  let others = 0;
  for (const { text } of (content ?? []) as readonly ContentPart[]) {
    if (typeof text === "string") chars += text.length;
    else others += 1;
  }
  return { chars, others };
}

/**
 * So many bytes in so many places of a text are looked at: enough for a number that is only learnt from. Characters of any
 * size fill 24 bytes evenly.
 */
const SLICES = 8;
const SLICE_BYTES = 24;
/** Limit for all messages together: in the sum of many texts, the errors of each weigh less. */
const SLICES_MAX = 96;

function slicesFor(messages: number): number {
  return Math.max(2, Math.min(SLICES, Math.floor(SLICES_MAX / messages)));
}

const BACKSLASH = 0x5c;

/** Without its quotes. */
function charsInUnread(text: UnreadText, slices: number): number {
  return charsBySample({ text, length: text.end - text.start - 2, begins: beginsInBody, slices });
}

function beginsInBody({ bytes, start }: UnreadText, at: number): boolean {
  const byte = bytes[start + 1 + at] as number;
  // An escape is one character, which its second byte counts.
  return byte !== BACKSLASH && (byte & 0xc0) !== 0x80;
}

interface Sampled<Text> {
  readonly text: Text;
  readonly length: number;
  readonly slices: number;
  /** True if a character begins there. */
  begins(text: Text, at: number): boolean;
}

function charsBySample<Text>({ text, length, slices, begins }: Sampled<Text>): number {
  const stride = Math.max(SLICE_BYTES, Math.floor(length / slices));
  let looked = 0;
  let begun = 0;
  for (let from = 0; from < length; from += stride) {
    const to = Math.min(length, from + SLICE_BYTES);
    looked += to - from;
    for (let at = from; at < to; at++) if (begins(text, at)) begun += 1;
  }
  return looked === 0 ? 0 : Math.round((length * begun) / looked);
}
