// A whole chat-completions answer: read from a provider's bytes, and written for a client with the same bytes
// apart from the model name, the usage where it was missing, and the added `service` object.

import type { Usage } from "../../core/chat.ts";
import type { AnswerContext, AnswerReading, ProviderFault, ServiceObject, WholeAnswer } from "../format.ts";
import { isObject, type JsonObject } from "../wire/fields.ts";
import { scanObject, spliceFields } from "../wire/json-source.ts";
import { clientToolId, withTextArguments } from "../wire/tool-calls.ts";
import { readUsage } from "./usage.ts";

const ANSWER_DEPTH_MAX = 200;
/** Of an answer that came whole and does not say how it ended. A stream that does not is broken. */
const WHOLE = "stop";

export function readOpenaiAnswer(bytes: Buffer): AnswerReading {
  const scan = scanObject(bytes, ANSWER_DEPTH_MAX);
  const completion = scan.state === "object" ? parseObject(bytes) : null;
  if (scan.state !== "object" || completion === null) return unreadable("the answer is not a JSON object");
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
  const outputText = choices.map(choiceText).join("");
  if (outputText === "" && (usage?.completion_tokens ?? 0) === 0) return unreadable("the answer is empty");
  return { ok: true, answer: { completion, source: scan.source, usage, outputText } };
}

export function writeOpenaiAnswer(
  answer: WholeAnswer,
  context: AnswerContext,
  additions: { service: ServiceObject; usage: Usage | null },
): Buffer {
  const { completion } = answer;
  const changes = new Map<string, string>();
  if (typeof completion.id !== "string") changes.set("id", JSON.stringify(`chatcmpl-${context.requestId}`));
  if (completion.object !== "chat.completion") changes.set("object", '"chat.completion"');
  if (!Number.isInteger(completion.created)) changes.set("created", String(context.createdAtSeconds));
  changes.set("model", JSON.stringify(context.modelId));
  const choices = completeChoices(completion.choices as readonly unknown[], context);
  if (choices !== null) changes.set("choices", JSON.stringify(choices));
  const usage = additions.usage ?? correctedUsage(answer);
  if (usage !== null) changes.set("usage", JSON.stringify(usage));
  changes.set("service", JSON.stringify(additions.service));
  return spliceFields(answer.source, changes);
}

/** Null when the counts stand where clients look for them, as they are charged. */
function correctedUsage({ completion: { usage: given }, usage }: WholeAnswer): Usage | null {
  if (usage === null || !isObject(given)) return usage;
  return COUNTS.every((name) => given[name] === usage[name]) ? null : usage;
}

const COUNTS = ["prompt_tokens", "completion_tokens", "total_tokens"] as const;

/** A provider's error body in any of its usual shapes. */
export function readOpenaiError(bytes: Buffer): ProviderFault {
  const body = parseObject(bytes);
  return body === null ? { message: bytes.toString("utf8", 0, 300), code: "", param: "" } : readFault(body);
}

export function readFault(body: JsonObject): ProviderFault {
  const error = isObject(body.error) ? body.error : body;
  const message = typeof body.error === "string" ? body.error : error.message;
  return {
    message: typeof message === "string" ? message : "",
    code: String(error.code ?? error.type ?? ""),
    param: typeof error.param === "string" ? error.param : "",
  };
}

function unreadable(message: string): AnswerReading {
  return { ok: false, fault: { message, code: "unreadable_answer", param: "" } };
}

function parseObject(bytes: Buffer): JsonObject | null {
  try {
    const value: unknown = JSON.parse(bytes.toString("utf8"));
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

function hasMessage(choice: unknown): choice is Choice {
  return isObject(choice) && isObject(choice.message);
}

type Choice = JsonObject & { readonly message: JsonObject };

function choiceText({ message }: Choice): string {
  const { content, refusal, tool_calls: calls, function_call: call, audio } = message;
  const texts = [typeof content === "string" ? content : "", typeof refusal === "string" ? refusal : ""];
  if (Array.isArray(content) && content.length > 0) texts.push(JSON.stringify(content));
  if (Array.isArray(calls) && calls.length > 0) texts.push(JSON.stringify(calls));
  if (isObject(call)) texts.push(JSON.stringify(call));
  if (isObject(audio)) texts.push(String(audio.transcript ?? "audio"));
  return texts.join("");
}

/** Choices with what some hosts leave out or name otherwise, or null when they are fine as they are. */
function completeChoices(choices: readonly unknown[], context: AnswerContext): readonly unknown[] | null {
  let isChanged = false;
  const completed = choices.map((choice, index) => {
    if (!hasMessage(choice)) return choice;
    const calls = choice.message.tool_calls;
    const finish = normalFinish(choice.finish_reason ?? WHOLE, Array.isArray(calls) && calls.length > 0);
    const hasIndex = Number.isInteger(choice.index);
    const hasRole = typeof choice.message.role === "string";
    const completed = completeCalls(calls, context);
    if (finish === choice.finish_reason && hasIndex && hasRole && completed === calls) return choice;
    isChanged = true;
    const said = completed === calls ? choice.message : { ...choice.message, tool_calls: completed };
    const message = hasRole ? said : { role: "assistant", ...said };
    return { ...choice, index: hasIndex ? choice.index : index, message, finish_reason: finish };
  });
  return isChanged ? completed : null;
}

/** The same calls when each has an id, a type and arguments as text, which clients need to answer them. */
function completeCalls(calls: unknown, context: AnswerContext): unknown {
  const isWhole = (call: unknown): boolean =>
    !isObject(call) ||
    (typeof call.id === "string" &&
      call.id !== "" &&
      typeof call.type === "string" &&
      withTextArguments(call) === call);
  if (!Array.isArray(calls) || calls.every(isWhole)) return calls;
  return calls.map((call: unknown, index) => {
    if (!isObject(call) || isWhole(call)) return call;
    const id = typeof call.id === "string" && call.id !== "" ? call.id : clientToolId("", index, context);
    return { ...withTextArguments(call), id, type: call.type ?? "function" };
  });
}

// Finish reasons of all hosts in the words of chat-completions.

const NAMES: Readonly<Record<string, string>> = {
  eos: "stop",
  end_turn: "stop",
  stop_sequence: "stop",
  STOP: "stop",
  max_tokens: "length",
  model_length: "length",
  MAX_TOKENS: "length",
  tool_use: "tool_calls",
  SAFETY: "content_filter",
  RECITATION: "content_filter",
};

/** Some hosts say `stop` although they called a tool; clients wait for `tool_calls`. */
export function normalFinish(reason: unknown, hasToolCalls: boolean): unknown {
  if (typeof reason !== "string") return reason;
  const named = NAMES[reason] ?? reason;
  return named === "stop" && hasToolCalls ? "tool_calls" : named;
}
