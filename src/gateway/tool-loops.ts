// Remembers which model made which tool call, so that a conversation stays with one model while its tool loop is open.
// Bounded, and in memory only. For calls that it does not know, the model is decided again from the messages before the
// loop.

import { type ChatMessage, toolCallIds } from "../core/chat.ts";
import { clientToolId, toolIdFor } from "../formats/wire/tool-calls.ts";
import { askBefore } from "../routing/ask.ts";

const CALLS_MAX = 20_000;

export interface ToolLoops {
  note(call: LoopCall, callIds: readonly string[], modelId: string): void;
  /** The model that made the calls whose results these messages bring back; null when none is known. */
  modelOf(accountId: string, messages: readonly ChatMessage[]): string | null;
}

/** Whose calls they are, and the request they were an answer to. */
interface LoopCall {
  readonly accountId: string;
  readonly requestId: string;
}

export function createToolLoops(): ToolLoops {
  // Two generations: the older one is let go when the newer is full.
  let recent = new Map<string, string>();
  let older = new Map<string, string>();
  return {
    note({ accountId, requestId }, callIds, modelId) {
      for (const [index, id] of callIds.entries()) {
        recent.set(nameOf(accountId, clientToolId(id, index, { requestId })), modelId);
      }
      if (recent.size < CALLS_MAX) return;
      older = recent;
      recent = new Map();
    },
    modelOf(accountId, messages) {
      for (const id of openCallIds(messages)) {
        const name = nameOf(accountId, id);
        const model = recent.get(name) ?? older.get(name);
        if (model !== undefined) return model;
      }
      return null;
    },
  };
}

/** The messages that an open loop was opened with: everything before its first call. Null when no loop is open. */
export function openingOf(messages: readonly ChatMessage[]): readonly ChatMessage[] | null {
  if (openCallIds(messages).length === 0) return null;
  const askedAt = askBefore(messages, messages.length)?.index ?? -1;
  const calledAt = messages.findIndex(({ role }, index) => index > askedAt && role === "assistant");
  return calledAt > 0 ? messages.slice(0, calledAt) : null;
}

/** Ids are compared as every format writes them, so that a call made in one is found in the other. */
function nameOf(accountId: string, toolCallId: string): string {
  return `${accountId}\n${toolIdFor(toolCallId, "safe-40")}`;
}

/** A loop is open while results are all that came since the call: notes of client programs may stand among them, but no new ask. */
function openCallIds(messages: readonly ChatMessage[]): readonly string[] {
  const calledAt = messages.findLastIndex(({ role }) => role === "assistant");
  const hasResult = messages.slice(calledAt + 1).some(({ role }) => role === "tool");
  const hasNewAsk = (askBefore(messages, messages.length)?.index ?? -1) > calledAt;
  if (!hasResult || hasNewAsk) return [];
  const calling = messages[calledAt];
  return calling === undefined ? [] : toolCallIds(calling);
}
