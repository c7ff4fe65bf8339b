// Reads a whole chat-completions response from a provider's bytes, and maps the finish reasons of all hosts to one set.

import type { ResponseReading } from "../format.ts";
import { isObject, type JsonObject, toText } from "../json/fields.ts";
import { parseResponse } from "../json/parse.ts";
import { unreadable } from "../provider/faults.ts";
import { readFault } from "./errors.ts";
import { readUsage } from "./usage.ts";

/** The name in the registry; `bridge.ts` and native responses compare it. */
export const OPENAI_CHAT = "openai-chat";

/** A success without an answer in it counts as a failed attempt. */
export function readOpenaiResponse(bytes: Buffer): ResponseReading {
  const parsed = parseResponse(bytes);
  if (parsed === null) return unreadable("the answer is not a JSON object");
  const { body: completion, source } = parsed;
  if (isObject(completion.error) || typeof completion.error === "string") {
    return { ok: false, fault: readFault(completion) };
  }
  const choices = completion.choices;
  if (!Array.isArray(choices) || choices.length === 0) return unreadable("the answer has no choices");
  if (!choices.every(hasMessage)) return unreadable("a choice of the answer has no message");
  if (choices.some((choice) => choice.finish_reason === "error")) {
    return unreadable("the provider ended the answer with an error");
  }
  const usage = readUsage(completion);
  let said = "";
  let reasoned = "";
  for (const choice of choices) {
    said += choiceText(choice);
    reasoned += reasoningText(choice);
  }
  const isEmpty = said === "" && (usage?.buckets.output ?? 0) === 0 && !choices.some(isFiltered);
  if (isEmpty) return unreadable("the answer is empty");
  const native = { format: OPENAI_CHAT, source };
  return {
    ok: true,
    response: { completion, usage, outputText: said + reasoned, native, toolCallIds: () => callIds(choices) },
  };
}

export function hasMessage(choice: unknown): choice is Choice {
  return isObject(choice) && isObject(choice.message);
}

type Choice = JsonObject & { readonly message: JsonObject };

/** Tells whether a filter ended the answer. One that a filter left out whole is an answer all the same. Behaviour 6.14. */
function isFiltered({ finish_reason: reason }: Choice): boolean {
  return normalFinish(reason, false) === FILTERED;
}

function choiceText({ message }: Choice): string {
  const { content, refusal, tool_calls: calls, function_call: call, audio } = message;
  let text = typeof content === "string" ? content : "";
  if (typeof refusal === "string") text += refusal;
  if (Array.isArray(content) && content.length > 0) text += JSON.stringify(content);
  if (Array.isArray(calls) && calls.length > 0) text += JSON.stringify(calls);
  if (isObject(call)) text += JSON.stringify(call);
  if (isObject(audio)) text += toText(audio.transcript ?? "audio");
  return text;
}

/** Hosts name it in two ways, some in both. */
function reasoningText({ message }: Choice): string {
  const reasoning = message.reasoning_content ?? message.reasoning;
  return typeof reasoning === "string" ? reasoning : "";
}

function callIds(choices: readonly Choice[]): readonly string[] {
  const ids: string[] = [];
  for (const { message } of choices) {
    if (!Array.isArray(message.tool_calls)) continue;
    for (const call of message.tool_calls) ids.push(isObject(call) && typeof call.id === "string" ? call.id : "");
  }
  return ids;
}

export const FILTERED = "content_filter";

/** Hosts behind this format use the words of their own APIs. */
const FINISH_REASONS: Readonly<Record<string, string>> = {
  eos: "stop",
  end_turn: "stop",
  stop_sequence: "stop",
  STOP: "stop",
  max_tokens: "length",
  model_length: "length",
  MAX_TOKENS: "length",
  tool_use: "tool_calls",
  SAFETY: FILTERED,
  RECITATION: FILTERED,
};

/** Some hosts say `stop` although they called a tool; clients wait for `tool_calls`. */
export function normalFinish(reason: unknown, hasToolCalls: boolean): unknown {
  if (typeof reason !== "string") return reason;
  const named = FINISH_REASONS[reason] ?? reason;
  return named === "stop" && hasToolCalls ? "tool_calls" : named;
}
