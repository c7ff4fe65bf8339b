// The choices of stream chunks, with what hosts leave out filled in: role on the first delta, and index, id and type
// of tool calls. Keeps count of which choices have content and which have finished.

import { isObject, type JsonObject } from "../wire/fields.ts";
import { withTextArguments } from "../wire/tool-arguments.ts";
import { normalFinish } from "./finish-reason.ts";

interface ChoiceState {
  readonly toolCallIds: string[];
  hasRole: boolean;
  isFinished: boolean;
}

interface ChoicesRead {
  readonly choices: readonly JsonObject[];
  readonly hasContent: boolean;
  readonly isFinish: boolean;
  readonly isError: boolean;
}

export interface ChoiceNormaliser {
  read(choices: readonly unknown[]): ChoicesRead;
  readonly hasContent: boolean;
  readonly isFinished: boolean;
  readonly outputLength: number;
  readonly toolCallIds: readonly string[];
}

const CONTENT_FIELDS = ["content", "refusal", "reasoning_content", "reasoning"] as const;

export function createChoiceNormaliser(): ChoiceNormaliser {
  const states = new Map<number, ChoiceState>();
  let hasContent = false;
  let outputLength = 0;

  function readChoice(choice: JsonObject, position: number): JsonObject {
    const index = Number.isInteger(choice.index) ? (choice.index as number) : position;
    const state = states.get(index) ?? { toolCallIds: [], hasRole: false, isFinished: false };
    states.set(index, state);
    const delta = completeDelta(isObject(choice.delta) ? choice.delta : {}, state);
    const length = deltaLength(delta);
    outputLength += length;
    hasContent ||= length > 0 || isObject(delta.audio);
    const finish = normalFinish(choice.finish_reason ?? null, state.toolCallIds.length > 0);
    state.isFinished ||= finish !== null;
    return { ...choice, index, delta, finish_reason: finish };
  }

  return {
    read(rawChoices) {
      const hadContent = hasContent;
      const lengthBefore = outputLength;
      const choices = rawChoices.filter(isObject).map(readChoice);
      return {
        choices,
        hasContent: outputLength > lengthBefore || (hasContent && !hadContent),
        isFinish: choices.some((choice) => choice.finish_reason !== null),
        isError: choices.some((choice) => choice.finish_reason === "error"),
      };
    },
    get hasContent() {
      return hasContent;
    },
    get isFinished() {
      return states.size > 0 && [...states.values()].every((state) => state.isFinished);
    },
    get toolCallIds() {
      return [...states.values()].flatMap((state) => state.toolCallIds);
    },
    get outputLength() {
      return outputLength;
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

function deltaLength(delta: JsonObject): number {
  let length = 0;
  for (const name of CONTENT_FIELDS) {
    const value = delta[name];
    if (typeof value === "string") length += value.length;
  }
  const calls = delta.tool_calls;
  if (Array.isArray(calls)) for (const call of calls) length += toolCallLength(call);
  if (isObject(delta.function_call)) length += functionLength(delta.function_call);
  return length;
}

function toolCallLength(call: unknown): number {
  if (!isObject(call)) return 0;
  if (isObject(call.function)) return functionLength(call.function);
  return isObject(call.custom) ? 1 + String(call.custom.input ?? "").length : 0;
}

function functionLength(call: JsonObject): number {
  const name = call.name;
  const text = call.arguments;
  return (typeof name === "string" ? name.length : 0) + (typeof text === "string" ? text.length : 0);
}
