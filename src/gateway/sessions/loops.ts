// Tool loops: which calls wait for an answer, and what stood before the first of them.

import { type ChatMessage, toolCallIds } from "../../core/chat.ts";
import { clientToolId, toolIdFor } from "../../formats/tools/calls.ts";
import { askBefore, isAsk } from "../../routing/ask.ts";

/** The calls of a response, as its client will send them back. */
export function callNames(accountId: string, requestId: string, ids: readonly string[]): readonly number[] {
  return ids.map((id, index) => nameOf(accountId, clientToolId(id, index, { requestId })));
}

/** The calls whose results these messages bring; empty where no loop is open. */
export function openCallNames(accountId: string, messages: readonly ChatMessage[]): readonly number[] {
  const ids = openCallIds(messages);
  return ids.length === 0 ? NONE : ids.map((id) => nameOf(accountId, id));
}

/** The messages that an open loop was opened with: everything before its first call. Null when no loop is open. */
export function openingOf(messages: readonly ChatMessage[]): readonly ChatMessage[] | null {
  if (openCallIds(messages).length === 0) return null;
  const askedAt = askBefore(messages, messages.length)?.index ?? -1;
  const calledAt = messages.findIndex(({ role }, index) => index > askedAt && role === "assistant");
  return calledAt > 0 ? messages.slice(0, calledAt) : null;
}

const NONE: readonly never[] = [];

/** A loop is open while results are all that came since the call: notes of client programs may stand among them, but no new ask. */
function openCallIds(messages: readonly ChatMessage[]): readonly string[] {
  let hasResult = false;
  for (let at = messages.length - 1; at >= 0; at--) {
    const message = messages[at] as ChatMessage;
    if (message.role === "assistant") return hasResult ? toolCallIds(message) : NONE;
    if (isAsk(message)) return NONE;
    hasResult ||= message.role === "tool";
  }
  return NONE;
}

/** A hash of account and id. Ids are taken as every format writes them, so that a call made in one is found in the other. */
function nameOf(accountId: string, toolCallId: string): number {
  const text = `${accountId}\n${toolIdFor(toolCallId, "safe-40")}`;
  let low = 0x811c9dc5;
  let high = 0x9e3779b9;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    low = Math.imul(low ^ code, 0x01000193);
    high = Math.imul(high ^ code, 0x85ebca6b);
  }
  return (low >>> 0) * HIGH_BITS + (high >>> 11);
}

const HIGH_BITS = 2 ** 21;
