// The turns of a Messages request as chat-completions messages, with nothing lost that both formats can say.

import type { ChatMessage, ToolCall } from "../../../core/chat.ts";
import { shortToolName } from "../../wire/tool-names.ts";
import { type Block, blocksOf, isThinking, type Turn } from "../blocks.ts";
import { convertBlock, type PartOptions } from "./parts.ts";
import { convertStretch, joinParts } from "./results.ts";

export interface Prompt {
  readonly system: Turn["content"] | null | undefined;
  readonly turns: readonly Turn[];
}

export interface TurnOptions extends PartOptions {
  /** Whether readable thinking of earlier turns goes along as `reasoning_content`. */
  readonly keepsReasoning: boolean;
}

// Differs from conversation to conversation and so would spoil every cached prefix.
const BILLING_HEADER = "x-anthropic-billing-header:";

export function convertTurns({ system, turns }: Prompt, options: TurnOptions): readonly ChatMessage[] {
  const messages: ChatMessage[] = [...convertSystem(system ?? "", options)];
  for (const { assistant, stretch } of exchanges(turns)) {
    const message = assistant === null ? null : convertAssistant(assistant, options);
    if (message !== null) messages.push(message);
    const callIds = (message?.tool_calls ?? []).map((call) => call.id ?? "");
    messages.push(...convertStretch(stretch, callIds, options));
  }
  return messages;
}

interface Exchange {
  readonly assistant: readonly Block[] | null;
  readonly stretch: readonly Turn[];
}

/** An assistant turn and all that follows until the next one. Assistant turns in a row are one, as for the API. */
function exchanges(turns: readonly Turn[]): readonly Exchange[] {
  const found: { assistant: Block[] | null; stretch: Turn[] }[] = [];
  for (const turn of turns) {
    const last = found.at(-1);
    if (turn.role !== "assistant") {
      if (last === undefined) found.push({ assistant: null, stretch: [turn] });
      else last.stretch.push(turn);
    } else if (last !== undefined && last.assistant !== null && last.stretch.length === 0) {
      last.assistant.push(...blocksOf(turn.content));
    } else {
      found.push({ assistant: [...blocksOf(turn.content)], stretch: [] });
    }
  }
  return found;
}

function convertSystem(system: Turn["content"], options: TurnOptions): readonly ChatMessage[] {
  const blocks = blocksOf(system).filter((block) => !String(block.text).startsWith(BILLING_HEADER));
  const parts = blocks.flatMap((block) => convertBlock(block, options));
  return parts.length === 0 ? [] : [{ role: "system", content: joinParts(parts, "\n\n") }];
}

function convertAssistant(blocks: readonly Block[], options: TurnOptions): ChatMessage | null {
  const calls = blocks.filter((block) => block.type === "tool_use").map(convertCall);
  const content = assistantText(blocks);
  const reasoning = options.keepsReasoning ? thinkingText(blocks) : "";
  noteDropped(blocks, options);
  if (content === null && calls.length === 0) return null;
  return {
    role: "assistant",
    content,
    ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
}

function convertCall({ id, name, input }: Block): ToolCall {
  return {
    id: String(id),
    type: "function",
    function: { name: shortToolName(String(name)), arguments: JSON.stringify(input ?? {}) },
  };
}

/** Text blocks side by side are one text cut by citations; with something between them they are paragraphs. */
function assistantText(blocks: readonly Block[]): string | null {
  let text = "";
  let previous: Block | null = null;
  for (const block of blocks) {
    if (block.type === "text" && block.text !== "") {
      const isContinued = text === "" || previous?.type === "text";
      text += isContinued ? String(block.text) : `\n\n${String(block.text)}`;
    }
    previous = block;
  }
  return text === "" ? null : text;
}

function thinkingText(blocks: readonly Block[]): string {
  return blocks
    .filter((block) => block.type === "thinking" && typeof block.thinking === "string")
    .map((block) => block.thinking)
    .join("\n");
}

function noteDropped(blocks: readonly Block[], { conversion, keepsReasoning }: TurnOptions): void {
  for (const block of blocks) {
    if (block.type === "text" || block.type === "tool_use") continue;
    if (!isThinking(block)) conversion.note(`dropped '${block.type}' from an earlier turn: only Anthropic can read it`);
    else if (!keepsReasoning)
      conversion.note("dropped thinking of earlier turns: only the model that made it can read it");
  }
}
