// The choices of stream chunks, with what hosts leave out filled in: role on the first delta, and index, id and type
// of tool calls. Keeps count of which choices have content and which have finished.

import { isObject, type JsonObject } from "../wire/fields.ts";
import { OutputMeter } from "../wire/output-meter.ts";
import { withTextArguments } from "../wire/tool-calls.ts";
import { FILTERED, normalFinish } from "./read-response.ts";

/** What one choice has begun with, and whether it has ended. */
interface ChoiceState {
  readonly toolCallIds: string[];
  hasRole: boolean;
  isFinished: boolean;
}

type CompleteChoice = JsonObject & { readonly delta: JsonObject };

/** What one chunk brought. */
interface ChoicesRead {
  readonly choices: readonly JsonObject[];
  readonly hasContent: boolean;
  readonly isFinish: boolean;
  readonly isError: boolean;
}

export interface ChoiceNormaliser {
  read(choices: readonly unknown[]): ChoicesRead;
  /** The output of a chunk that brings nothing else. */
  add(text: string): void;
  /** A choice of a chunk that has been read, as it would be read again; nothing is counted. */
  complete(choice: JsonObject): JsonObject;
  readonly hasContent: boolean;
  readonly isFinished: boolean;
  readonly outputTokens: number;
  readonly toolCallIds: readonly string[];
}

/** Text of any kind: it is output, and it is billed. */
export const CONTENT_FIELDS = ["content", "refusal", "reasoning_content", "reasoning"] as const;

export function createChoiceNormaliser(): ChoiceNormaliser {
  const states = new Map<number, ChoiceState>();
  const output = new OutputMeter();
  let hasContent = false;

  function complete(choice: JsonObject, position = 0): CompleteChoice {
    const index = Number.isInteger(choice.index) ? (choice.index as number) : position;
    const state = states.get(index) ?? { toolCallIds: [], hasRole: false, isFinished: false };
    states.set(index, state);
    const delta = completeDelta(isObject(choice.delta) ? choice.delta : {}, state);
    const finish = normalFinish(choice.finish_reason ?? null, state.toolCallIds.length > 0);
    state.isFinished ||= finish !== null;
    return { ...choice, index, delta, finish_reason: finish };
  }

  function readChoice(choice: JsonObject, position: number): CompleteChoice {
    const completed = complete(choice, position);
    const text = deltaText(completed.delta);
    output.add(text);
    hasContent ||= text !== "" || isObject(completed.delta.audio) || completed.finish_reason === FILTERED;
    return completed;
  }

  return {
    complete,
    add(text) {
      output.add(text);
      hasContent ||= text !== "";
    },
    read(rawChoices) {
      const hadContent = hasContent;
      const deltasBefore = output.deltas;
      const choices = rawChoices.filter(isObject).map(readChoice);
      return {
        choices,
        hasContent: output.deltas > deltasBefore || (hasContent && !hadContent),
        isFinish: choices.some((choice) => choice.finish_reason !== null),
        isError: choices.some((choice) => choice.finish_reason === "error"),
      };
    },
    get hasContent() {
      return hasContent;
    },
    get isFinished() {
      for (const state of states.values()) if (!state.isFinished) return false;
      return states.size > 0;
    },
    get toolCallIds() {
      return [...states.values()].flatMap((state) => state.toolCallIds);
    },
    get outputTokens() {
      return output.tokens;
    },
  };
}

function completeDelta(delta: JsonObject, state: ChoiceState): JsonObject {
  const calls = delta.tool_calls;
  const role = state.hasRole ? {} : { role: "assistant" };
  state.hasRole = true;
  if (!Array.isArray(calls)) return { ...role, ...delta };
  return {
    ...role,
    ...delta,
    tool_calls: calls.filter(isObject).map((call) => completeToolCall(withTextArguments(call), state.toolCallIds)),
  };
}

/** A host may leave out the index (then the id tells, or the order), the id or the type. */
function completeToolCall(call: JsonObject, ids: string[]): JsonObject {
  const given = typeof call.id === "string" ? call.id : "";
  const index = Number.isInteger(call.index) ? ownIndex(call, given, ids) : indexById(call, given, ids);
  if (ids[index] !== undefined) return { ...call, index };
  const id = given === "" ? `call_${index}` : given;
  ids[index] = id;
  return { ...call, index, id, type: call.type ?? "function" };
}

// Two whole calls under one index occur: the second, with an id and a name of its own, gets an index of its own.
function ownIndex(call: JsonObject, id: string, ids: readonly string[]): number {
  const index = call.index as number;
  const isSecondCall = ids[index] !== undefined && id !== "" && id !== ids[index] && hasName(call);
  return isSecondCall ? indexById(call, id, ids) : index;
}

function hasName(call: JsonObject): boolean {
  return isObject(call.function) && typeof call.function.name === "string" && call.function.name !== "";
}

function indexById(call: JsonObject, id: string, ids: readonly string[]): number {
  const known = id === "" ? -1 : ids.indexOf(id);
  if (known >= 0) return known;
  return hasName(call) || id !== "" ? ids.length : Math.max(0, ids.length - 1);
}

export function deltaText(delta: JsonObject): string {
  let text = "";
  for (const name of CONTENT_FIELDS) {
    const value = delta[name];
    if (typeof value === "string") text += value;
  }
  const calls = delta.tool_calls;
  if (Array.isArray(calls)) for (const call of calls) text += toolCallText(call);
  if (isObject(delta.function_call)) text += functionText(delta.function_call);
  return text;
}

function toolCallText(call: unknown): string {
  if (!isObject(call)) return "";
  if (isObject(call.function)) return functionText(call.function);
  return isObject(call.custom) ? ` ${String(call.custom.input ?? "")}` : "";
}

function functionText({ name, arguments: text }: JsonObject): string {
  return (typeof name === "string" ? name : "") + (typeof text === "string" ? text : "");
}

/** Usage is read apart, and some hosts repeat it under a name of their own. */
export function withoutUsage(json: JsonObject): Record<string, unknown> {
  const { usage: _usage, x_groq: _groq, ...rest } = json;
  return rest;
}
