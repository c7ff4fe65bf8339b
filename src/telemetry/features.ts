// Features of a request: numbers from which it can be learnt later which tier was right. No text, and nothing that reveals
// text.

import {
  type ChatMessage,
  type ChatRequest,
  type ContentPart,
  UNDECODED,
  UNREAD,
  type UnreadText,
} from "../core/chat.ts";
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

/** How many messages of each role the conversation has. */
function countRoles(messages: readonly ChatMessage[]): object {
  let userTurns = 0;
  let toolResults = 0;
  let toolCalls = 0;
  let systemChars = 0;
  let userChars = 0;
  let otherChars = 0;
  let attachments = 0;
  for (let at = Math.max(0, messages.length - MESSAGES_MAX); at < messages.length; at++) {
    const { role, tool_calls: calls } = messages[at] as ChatMessage;
    const { chars, others } = sizeOf(messages[at] as ChatMessage);
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
function sizeOf(message: ChatMessage): { readonly chars: number; readonly others: number } {
  const { [UNDECODED]: isUndecoded, [UNREAD]: unread } = message;
  if (unread !== undefined) return { chars: charsInUnread(unread), others: 0 };
  const { content } = message;
  const charsIn = isUndecoded === true ? charsInBytes : charsInText;
  if (typeof content === "string") return { chars: charsIn(content), others: 0 };
  let chars = 0;
  let others = 0;
  for (const { text } of (content ?? []) as readonly ContentPart[]) {
    if (typeof text === "string") chars += charsIn(text);
    else others += 1;
  }
  return { chars, others };
}

function charsInText({ length }: string): number {
  return length;
}

/** So many bytes in so many places are looked at: enough for a number that is only learnt from. */
const SLICES = 8;
const SLICE_BYTES = 32;

/** By a sample: characters that take several bytes go on in bytes from 80 to BF. */
function charsInBytes(text: string): number {
  return charsBySample(text.length, (from, to) => {
    let begun = 0;
    for (let at = from; at < to; at++) if ((text.charCodeAt(at) & 0xc0) !== 0x80) begun += 1;
    return begun;
  });
}

const BACKSLASH = 0x5c;

/** Without its quotes. */
function charsInUnread({ bytes, start, end }: UnreadText): number {
  return charsBySample(end - start - 2, (from, to) => {
    let begun = 0;
    for (let at = start + 1 + from; at < start + 1 + to; at++) {
      const byte = bytes[at] as number;
      // An escape is one character, which its second byte counts.
      if (byte !== BACKSLASH && (byte & 0xc0) !== 0x80) begun += 1;
    }
    return begun;
  });
}

function charsBySample(length: number, charsIn: (from: number, to: number) => number): number {
  const stride = Math.max(SLICE_BYTES, Math.floor(length / SLICES));
  let looked = 0;
  let begun = 0;
  for (let from = 0; from < length; from += stride) {
    const to = Math.min(length, from + SLICE_BYTES);
    looked += to - from;
    begun += charsIn(from, to);
  }
  return looked === 0 ? 0 : Math.round((length * begun) / looked);
}
