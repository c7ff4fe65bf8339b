// The choices of stream chunks, with what hosts leave out filled in: role on the first delta, and index, id and type
// of tool calls. Keeps count of which choices have content and which have finished.

import { isObject, type JsonObject, toText } from "../json/fields.ts";
import type { OutputMeter } from "../provider/output-meter.ts";
import { withTextArguments } from "../tools/calls.ts";
import { FILTERED, normalFinish } from "./read-response.ts";

/** The beginning of one choice, and whether the choice has ended. */
interface ChoiceState {
  readonly toolCallIds: string[];
  /** Calls by the host's own index: some hosts begin at 1, or leave numbers out. */
  readonly places: Map<number, number>;
  hasRole: boolean;
  isFinished: boolean;
}

type CompleteChoice = JsonObject & { readonly delta: JsonObject };

/** The content of one chunk. */
interface ChoicesRead {
  readonly choices: readonly JsonObject[];
  readonly hasContent: boolean;
  readonly isFinish: boolean;
  readonly isError: boolean;
}

/** Text of any kind: it is output, and it is billed. */
export const CONTENT_FIELDS = ["content", "refusal", "reasoning_content", "reasoning"] as const;

/** A class, not an object of closures with getters: V8 keeps each of those in its slow form, and every chunk reads them. */
export class ChoiceNormaliser {
  readonly #states = new Map<number, ChoiceState>();
  readonly #output: OutputMeter;
  #hasContent = false;

  constructor(output: OutputMeter) {
    this.#output = output;
  }

  get hasContent(): boolean {
    return this.#hasContent;
  }

  get isFinished(): boolean {
    for (const state of this.#states.values()) if (!state.isFinished) return false;
    return this.#states.size > 0;
  }

  get toolCallIds(): readonly string[] {
    return [...this.#states.values()].flatMap((state) => state.toolCallIds);
  }

  read(rawChoices: readonly unknown[]): ChoicesRead {
    const hadContent = this.#hasContent;
    const deltasBefore = this.#output.deltas;
    const choices = rawChoices.filter(isObject).map((choice, position) => this.#readChoice(choice, position));
    return {
      choices,
      hasContent: this.#output.deltas > deltasBefore || (this.#hasContent && !hadContent),
      isFinish: choices.some((choice) => choice.finish_reason !== null),
      isError: choices.some((choice) => choice.finish_reason === "error"),
    };
  }

  /** A choice of a chunk that has been read, as it would be read again; nothing is counted. */
  complete(choice: JsonObject, position = 0): CompleteChoice {
    const index = Number.isInteger(choice.index) ? (choice.index as number) : position;
    const state = this.#states.get(index) ?? { toolCallIds: [], places: new Map(), hasRole: false, isFinished: false };
    this.#states.set(index, state);
    const delta = completeDelta(isObject(choice.delta) ? choice.delta : {}, state);
    const finish = normalFinish(choice.finish_reason ?? null, state.toolCallIds.length > 0);
    state.isFinished ||= finish !== null;
    return { ...choice, index, delta, finish_reason: finish };
  }

  #readChoice(choice: JsonObject, position: number): CompleteChoice {
    const completed = this.complete(choice, position);
    const text = deltaText(completed.delta);
    this.#output.add(text);
    this.#hasContent ||= text !== "" || isObject(completed.delta.audio) || completed.finish_reason === FILTERED;
    return completed;
  }
}

function completeDelta(delta: JsonObject, state: ChoiceState): JsonObject {
  const calls = delta.tool_calls;
  const role = state.hasRole ? {} : { role: "assistant" };
  state.hasRole = true;
  if (!Array.isArray(calls)) return { ...role, ...delta };
  return {
    ...role,
    ...delta,
    tool_calls: calls.filter(isObject).map((call) => completeToolCall(withTextArguments(call), state)),
  };
}

/** A host may leave out the index (then the id tells, or the order), the id or the type. */
function completeToolCall(call: JsonObject, state: ChoiceState): JsonObject {
  const ids = state.toolCallIds;
  const given = typeof call.id === "string" ? call.id : "";
  const index = Number.isInteger(call.index) ? ownIndex(call, given, state) : indexById(call, given, ids);
  if (ids[index] !== undefined) return { ...call, index };
  const id = given === "" ? `call_${index}` : given;
  ids[index] = id;
  return { ...call, index, id, type: call.type ?? "function" };
}

// Clients build a list from the indexes, so these have no holes. Two calls under one index occur: the second, with an id
// and a name of its own, gets an index of its own.
function ownIndex(call: JsonObject, id: string, { toolCallIds: ids, places }: ChoiceState): number {
  const place = call.index as number;
  const known = places.get(place);
  const isOther = known !== undefined && id !== "" && id !== ids[known] && (hasName(call) || ids.includes(id));
  const index = known === undefined ? ids.length : isOther ? indexById(call, id, ids) : known;
  places.set(place, index);
  return index;
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
  return isObject(call.custom) ? ` ${toText(call.custom.input ?? "")}` : "";
}

function functionText({ name, arguments: text }: JsonObject): string {
  return (typeof name === "string" ? name : "") + (typeof text === "string" ? text : "");
}

/** Usage is read apart, and some hosts repeat it under a name of their own. */
export function withoutUsage(json: JsonObject): Record<string, unknown> {
  const { usage: _usage, x_groq: _groq, ...rest } = json;
  return rest;
}
