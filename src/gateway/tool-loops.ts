// Which model made which tool call, so that the result can go back to it: a conversation stays with one model while its
// tool loop is open. In memory and bounded; what is forgotten is simply routed anew.

import type { ChatMessage } from "../core/chat.ts";
import { toolIdFor } from "../formats/tool-ids.ts";

const CALLS_MAX = 20_000;

export interface ToolLoops {
  note(accountId: string, toolCallIds: readonly string[], modelId: string): void;
  /** The model that made the calls whose results end these messages; null when none is known. */
  modelOf(accountId: string, messages: readonly ChatMessage[]): string | null;
}

export function createToolLoops(): ToolLoops {
  // Two generations: the older one is let go when the newer is full.
  let recent = new Map<string, string>();
  let older = new Map<string, string>();
  return {
    note(accountId, toolCallIds, modelId) {
      for (const id of toolCallIds) recent.set(nameOf(accountId, id), modelId);
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

/** Ids are compared as every format writes them, so that a call made in one is found in the other. */
function nameOf(accountId: string, toolCallId: string): string {
  return `${accountId}\n${toolIdFor(toolCallId, "safe-40")}`;
}

function openCallIds(messages: readonly ChatMessage[]): readonly string[] {
  if (messages.at(-1)?.role !== "tool") return [];
  const caller = messages.findLast(({ role }) => role === "assistant");
  return (caller?.tool_calls ?? []).flatMap(({ id }) => (typeof id === "string" ? [id] : []));
}
