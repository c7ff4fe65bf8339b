// Features of a request: numbers from which it can be learnt later which tier was right. No text, and nothing that reveals
// text.

import type { ChatMessage, ChatRequest, ContentPart } from "../core/chat.ts";
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
    const { role, content, tool_calls: calls } = messages[at] as ChatMessage;
    const { chars, others } = sizeOf(content);
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
function sizeOf(content: ChatMessage["content"]): { readonly chars: number; readonly others: number } {
  if (typeof content === "string") return { chars: content.length, others: 0 };
  let chars = 0;
  let others = 0;
  for (const { text } of (content ?? []) as readonly ContentPart[]) {
    if (typeof text === "string") chars += text.length;
    else others += 1;
  }
  return { chars, others };
}
