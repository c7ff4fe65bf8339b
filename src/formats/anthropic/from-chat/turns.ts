// Chat-completions messages as turns of the Messages format: instructions first and apart, tool results first in the turn
// that answers the calls, user and assistant in alternation.

import type { ChatMessage, ContentPart } from "../../../core/chat.ts";
import type { Model } from "../../../core/model.ts";
import type { Conversion } from "../../wire/conversion.ts";
import { type Block, cacheMark, reminder, type Turn, textBlock } from "../blocks.ts";
import { writeAssistant } from "./assistant.ts";
import { writePart } from "./user-parts.ts";

const NO_RESULT = "[no result]";
const OPENING = "(The conversation begins with the next message.)";

export interface TurnsOptions {
  readonly model: Model;
  readonly conversion: Conversion;
}

export interface WrittenTurns {
  readonly system: readonly Block[];
  readonly turns: readonly Turn[];
}

export function writeTurns(messages: readonly ChatMessage[], options: TurnsOptions): WrittenTurns {
  const firstOther = messages.findIndex((message) => !isInstruction(message));
  const leading = firstOther < 0 ? messages : messages.slice(0, firstOther);
  const system = leading.flatMap(instructionBlocks);
  const turns: Turn[] = [];
  const takenIds = new Set<string>();
  for (const { assistant, stretch } of exchanges(messages.slice(leading.length))) {
    const written = writeAssistant(assistant, { ...options, turnIndex: turns.length, takenIds });
    if (written.blocks.length > 0) turns.push({ role: "assistant", content: written.blocks });
    turns.push(...writeStretch(stretch, written.callIds, options));
  }
  // The format needs a user turn to begin with, also when all was said in the instructions.
  if (turns.length === 0) return { system: system.slice(0, -1), turns: [{ role: "user", content: system.slice(-1) }] };
  if (turns[0]?.role !== "user") turns.unshift({ role: "user", content: OPENING });
  return { system, turns };
}

interface Exchange {
  readonly assistant: ChatMessage[];
  readonly stretch: ChatMessage[];
}

/** Assistant messages in a row, and all that follows until the next one. */
function exchanges(messages: readonly ChatMessage[]): readonly Exchange[] {
  const found: Exchange[] = [];
  for (const message of messages) {
    const last = found.at(-1);
    const isAssistant = message.role === "assistant";
    const belongs = last !== undefined && (!isAssistant || last.stretch.length === 0);
    const exchange = belongs ? last : { assistant: [], stretch: [] };
    if (!belongs) found.push(exchange);
    (isAssistant ? exchange.assistant : exchange.stretch).push(message);
  }
  return found;
}

function isInstruction({ role }: ChatMessage): boolean {
  return role === "system" || role === "developer";
}

function instructionBlocks({ content }: ChatMessage): readonly Block[] {
  if (typeof content === "string") return content === "" ? [] : [textBlock(content)];
  const parts: readonly ContentPart[] = content ?? [];
  return parts
    .filter((part) => typeof part.text === "string" && part.text !== "")
    .map((part) => ({ ...textBlock(part.text ?? ""), ...cacheMark(part) }));
}

/** The user turn of a stretch, and a system turn after it when the last message is an instruction the model takes there. */
function writeStretch(
  stretch: readonly ChatMessage[],
  callIds: ReadonlyMap<string, string>,
  options: TurnsOptions,
): readonly Turn[] {
  const last = stretch.at(-1);
  const hasSystemTurn = last !== undefined && isInstruction(last) && options.model.dialect.takesSystemInMiddle === true;
  const rest = hasSystemTurn ? stretch.slice(0, -1) : stretch;
  const blocks = [
    ...writeResults(rest, callIds, options),
    ...rest.flatMap((message) => writeOther(message, callIds, options)),
  ];
  const user: readonly Turn[] = blocks.length === 0 ? [] : [{ role: "user", content: blocks }];
  if (!hasSystemTurn) return user;
  const texts = instructionBlocks(last);
  if (texts.length === 0) return user;
  if (user.length > 0) return [...user, { role: "system", content: texts }];
  return [{ role: "user", content: texts.map(asReminder) }];
}

/** One result for each call, in the order of the calls: what was repeated counts once, what is missing is said. */
function writeResults(
  stretch: readonly ChatMessage[],
  callIds: ReadonlyMap<string, string>,
  options: TurnsOptions,
): readonly Block[] {
  if (callIds.size === 0) return [];
  const results = new Map<string, ChatMessage>();
  for (const message of stretch) {
    const key = resultKey(message);
    if (key !== null) results.set(key, message);
  }
  return [...callIds].map(([key, id]) => {
    const message = results.get(key);
    if (message === undefined) options.conversion.note("added an empty result for a tool call that had none");
    const content = message === undefined ? NO_RESULT : resultContent(message, options);
    return { type: "tool_result", tool_use_id: id, content };
  });
}

/** What a result answers: the id of the call, or for the deprecated `function` role the name. */
function resultKey({ role, tool_call_id: id, name }: ChatMessage): string | null {
  if (role === "tool") return String(id ?? "");
  return role === "function" ? `function:${name ?? ""}` : null;
}

function resultContent({ content }: ChatMessage, options: TurnsOptions): string | readonly Block[] {
  if (typeof content === "string") return content;
  return ((content ?? []) as readonly ContentPart[]).flatMap((part) => writePart(part, options.conversion));
}

function writeOther(
  message: ChatMessage,
  callIds: ReadonlyMap<string, string>,
  options: TurnsOptions,
): readonly Block[] {
  if (isInstruction(message)) {
    options.conversion.note("turned a system message among the messages into a reminder");
    return instructionBlocks(message).map(asReminder);
  }
  const key = resultKey(message);
  if (key !== null) return callIds.has(key) ? [] : orphan(message, options);
  if (message.name !== undefined) options.conversion.note("dropped names of messages: the Messages format has none");
  if (typeof message.content === "string") return message.content.trim() === "" ? [] : [textBlock(message.content)];
  const parts = (message.content ?? []) as readonly ContentPart[];
  return parts.flatMap((part) => writePart(part, options.conversion));
}

/** A result whose call is not in the history any more. */
function orphan(message: ChatMessage, options: TurnsOptions): readonly Block[] {
  options.conversion.note("turned a tool result without its call into text");
  const content = resultContent(message, options);
  const blocks = typeof content === "string" ? [textBlock(content)] : content;
  return blocks.map((block) =>
    block.type === "text" ? textBlock(reminder(`Result of an earlier tool call:\n${String(block.text)}`)) : block,
  );
}

function asReminder(block: Block): Block {
  return { ...block, text: reminder(String(block.text)) };
}
