// What stands between two assistant turns, in the order chat-completions wants: first one tool message for each call,
// then what the results showed besides text, then everything else as it came.

import type { ChatMessage, ContentPart } from "../../../core/chat.ts";
import { type Block, blocksOf, reminder, type Turn } from "../blocks.ts";
import { convertBlock, type PartOptions } from "./parts.ts";

const NO_RESULT = "[no result]";

export function convertStretch(
  stretch: readonly Turn[],
  callIds: readonly string[],
  options: PartOptions,
): readonly ChatMessage[] {
  const results = latestResults(stretch);
  const answered = callIds.map((id) => convertResult(id, results.get(id), options));
  const attachments = answered.flatMap((result) => result.attachments);
  const known = new Set(callIds);
  return [
    ...answered.map((result) => result.message),
    ...(attachments.length === 0 ? [] : [{ role: "user", content: attachments } as const]),
    ...stretch.flatMap((turn) => convertTurn(turn, known, options)),
  ];
}

/** Clients that repeat a result mean the later one. */
function latestResults(stretch: readonly Turn[]): ReadonlyMap<string, Block> {
  const results = new Map<string, Block>();
  for (const turn of stretch) {
    for (const block of blocksOf(turn.content)) {
      if (block.type === "tool_result") results.set(String(block.tool_use_id), block);
    }
  }
  return results;
}

interface Result {
  readonly message: ChatMessage;
  readonly attachments: readonly ContentPart[];
}

function convertResult(id: string, block: Block | undefined, options: PartOptions): Result {
  if (block === undefined) {
    options.conversion.note("added an empty result for a tool call that had none");
    return { message: { role: "tool", tool_call_id: id, content: NO_RESULT }, attachments: [] };
  }
  const { text, attachments } = readResult(block, options);
  return {
    message: { role: "tool", tool_call_id: id, content: text },
    attachments: attachments.length === 0 ? [] : [shownBy(id), ...attachments],
  };
}

function shownBy(id: string): ContentPart {
  return { type: "text", text: reminder(`What the tool call ${id} returned besides text:`) };
}

function readResult(block: Block, options: PartOptions): { text: string; attachments: readonly ContentPart[] } {
  const texts: string[] = [];
  const attachments: ContentPart[] = [];
  for (const inner of contentOf(block)) {
    if (inner.type === "tool_reference") {
      texts.push(`Tool ${String(inner.tool_name)} loaded.`);
      continue;
    }
    for (const part of convertBlock(inner, { ...options, keepsCacheControl: false })) {
      if (part.type === "text") {
        texts.push(part.text ?? "");
        continue;
      }
      options.conversion.note(
        "moved images and files of tool results into a user message: tool messages take text only",
      );
      attachments.push(part);
      texts.push(`[${part.type === "image_url" ? "image" : "file"} in the next user message]`);
    }
  }
  const text = texts.join("\n");
  return { text: block.is_error === true ? asError(text) : text, attachments };
}

function contentOf({ content }: Block): readonly Block[] {
  if (content === undefined || content === null || content === "") return [];
  return blocksOf(content as Turn["content"]);
}

// Chat-completions has no field for a failed call.
function asError(text: string): string {
  return /^error/i.test(text) ? text : `Error: ${text}`;
}

function convertTurn(turn: Turn, known: ReadonlySet<string>, options: PartOptions): readonly ChatMessage[] {
  const parts = blocksOf(turn.content).flatMap((block) => {
    if (block.type !== "tool_result") return convertBlock(block, options);
    return known.has(String(block.tool_use_id)) ? [] : orphan(block, options);
  });
  if (parts.length === 0) return [];
  return [{ role: turn.role, content: joinParts(parts, "\n\n") }];
}

/** A result whose call is not in the history any more: hosts refuse it as a tool message. */
function orphan(block: Block, options: PartOptions): readonly ContentPart[] {
  options.conversion.note("turned a tool result without its call into text");
  const { text, attachments } = readResult(block, options);
  return [{ type: "text", text: reminder(`Result of an earlier tool call:\n${text}`) }, ...attachments];
}

/** Plain text as a string, which every host takes; anything else as parts. */
export function joinParts(parts: readonly ContentPart[], separator: string): string | readonly ContentPart[] {
  const isPlain = parts.every((part) => part.type === "text" && part.cache_control === undefined);
  return isPlain ? parts.map((part) => part.text).join(separator) : parts;
}
