// What an assistant said and called, from chat-completions messages into the blocks of one turn.

import type { ChatMessage, ContentPart } from "../../../core/chat.ts";
import type { Conversion } from "../../wire/conversion.ts";
import { isObject, type JsonObject } from "../../wire/fields.ts";
import { toolIdFor } from "../../wire/tool-ids.ts";
import { type Block, cacheMark, textBlock } from "../blocks.ts";

const SAFE_ID = /^[A-Za-z0-9_-]+$/;

export interface AssistantOptions {
  readonly conversion: Conversion;
  /** Tells calls of different turns apart that hosts gave one and the same id. */
  readonly turnIndex: number;
  /** The ids of the calls so far; those of this turn are added. */
  readonly takenIds: Set<string>;
}

interface WrittenAssistant {
  readonly blocks: readonly Block[];
  /** The id each call goes by in this turn, under the key its result will have. */
  readonly callIds: ReadonlyMap<string, string>;
}

export function writeAssistant(messages: readonly ChatMessage[], options: AssistantOptions): WrittenAssistant {
  const texts: Block[] = [];
  const calls: Block[] = [];
  const callIds = new Map<string, string>();
  for (const message of messages) {
    texts.push(...writeTexts(message));
    for (const call of readCalls(message)) {
      const id = callId(call.id, options);
      callIds.set(call.key, id);
      calls.push({ type: "tool_use", id, name: call.name, input: parseInput(call.text, options.conversion) });
    }
  }
  return { blocks: [...texts, ...calls], callIds };
}

// Hosts that give no ids of their own get the same made-up one in every turn, and Anthropic refuses repeats. An id that
// is the first of its kind stays as it is.
function callId(id: string, { turnIndex, takenIds }: AssistantOptions): string {
  const plain = SAFE_ID.test(id) ? id : toolIdFor(id, "safe-40");
  const unique = id === "" ? `call_turn_${turnIndex}` : takenIds.has(plain) ? `${plain}_turn_${turnIndex}` : plain;
  takenIds.add(unique);
  return unique;
}

function writeTexts({ content, ...message }: ChatMessage): readonly Block[] {
  const refusal = (message as JsonObject).refusal;
  const parts: readonly ContentPart[] = Array.isArray(content) ? content : [];
  const said = typeof content === "string" ? [textBlock(content)] : parts.map(writeText);
  const all = typeof refusal === "string" ? [...said, textBlock(refusal)] : said;
  return all.filter((block) => String(block.text).trim() !== "");
}

function writeText(part: ContentPart): Block {
  const text = part.text ?? (typeof part.refusal === "string" ? part.refusal : "");
  return { ...textBlock(text), ...cacheMark(part) };
}

interface Call {
  readonly key: string;
  readonly id: string;
  readonly name: string;
  readonly text: string;
}

function readCalls(message: ChatMessage): readonly Call[] {
  const calls = (message.tool_calls ?? []).map((call) => {
    const id = call.id ?? "";
    const custom = (call as JsonObject).custom;
    if (!isObject(custom))
      return { key: id, id, name: call.function?.name ?? "", text: call.function?.arguments ?? "" };
    return { key: id, id, name: String(custom.name), text: JSON.stringify({ input: custom.input }) };
  });
  const old = (message as unknown as JsonObject).function_call;
  if (!isObject(old)) return calls;
  const name = String(old.name);
  return [...calls, { key: `function:${name}`, id: "", name, text: String(old.arguments ?? "") }];
}

function parseInput(text: string, conversion: Conversion): JsonObject {
  if (text.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch {
    // Models do write broken arguments; what they wrote must stay visible to the next one.
  }
  conversion.note("wrapped tool arguments that are not a JSON object");
  return { raw_arguments: text };
}
