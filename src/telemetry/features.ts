// Features of a request: numbers from which it can be learnt later which tier was right. No text, and nothing that reveals
// text.

import { type ChatMessage, type ChatRequest, type ContentPart, UNDECODED } from "../core/chat.ts";
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
function sizeOf({ content, [UNDECODED]: isUndecoded }: ChatMessage): {
  readonly chars: number;
  readonly others: number;
} {
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
  const stride = Math.max(SLICE_BYTES, Math.floor(text.length / SLICES));
  let looked = 0;
  let begun = 0;
  for (let from = 0; from < text.length; from += stride) {
    const to = Math.min(text.length, from + SLICE_BYTES);
    looked += to - from;
    for (let at = from; at < to; at++) if ((text.charCodeAt(at) & 0xc0) !== 0x80) begun += 1;
  }
  return looked === 0 ? 0 : Math.round((text.length * begun) / looked);
}
