// Reads the content of a response or a chunk in the internal shape: texts, tool calls, finish reasons and the model it
// names. The gateway therefore needs no field names of any format.

import type { ChatChunk, WholeResponse } from "./format.ts";
import { isObject, type JsonObject, objectsIn, textOrEmpty } from "./wire/fields.ts";

/** Told piece by piece what a response says. A call-back instead of a list, so that a chunk costs nothing to read. */
export interface ContentListener {
  /** A whole choice begins; streams do not tell. */
  onChoice(position: number): void;
  onText(text: string): void;
  /** A call, or the next piece of one: pieces of one call have the same place. */
  onToolCall(place: ToolCallPlace, piece: ToolCallPiece): void;
  /** A choice whose answer the output cap or a filter cut short: what is missing is not the model's fault. */
  onCutShort(choice: unknown): void;
}

/** Which call of which choice. */
export interface ToolCallPlace {
  readonly choice: unknown;
  readonly position: unknown;
}

export interface ToolCallPiece {
  readonly name: unknown;
  readonly arguments: unknown;
}

/** Finish reasons of an answer that is not whole. */
const CUT_FINISHES: ReadonlySet<unknown> = new Set(["length", "content_filter"]);

/** All choices of a whole response. */
export function readResponseContent({ completion }: WholeResponse, listener: ContentListener): void {
  for (const [position, choice] of objectsIn(completion.choices).entries()) {
    listener.onChoice(position);
    if (isObject(choice.message)) readSaid(choice.message, position, listener);
    if (CUT_FINISHES.has(choice.finish_reason)) listener.onCutShort(position);
  }
}

/** What one chunk adds. */
export function readChunkContent({ json }: ChatChunk, listener: ContentListener): void {
  for (const choice of objectsIn(json.choices)) {
    if (isObject(choice.delta)) readSaid(choice.delta, choice.index, listener);
    if (CUT_FINISHES.has(choice.finish_reason)) listener.onCutShort(choice.index);
  }
}

/** A message, or a piece of one. */
function readSaid(said: JsonObject, choice: unknown, listener: ContentListener): void {
  if (typeof said.content === "string") listener.onText(said.content);
  if (typeof said.refusal === "string") listener.onText(said.refusal);
  for (const [position, call] of objectsIn(said.tool_calls).entries()) {
    const isNumbered = Number.isInteger(call.index);
    readCall(call.function, { choice, position: isNumbered ? call.index : position }, listener);
  }
  readCall(said.function_call, { choice, position: "function" }, listener);
}

function readCall(call: unknown, place: ToolCallPlace, listener: ContentListener): void {
  if (isObject(call)) listener.onToolCall(place, { name: call.name, arguments: call.arguments });
}

/** The model a response or chunk names, and why its choices finished, as they stand there. */
export function readModelAndFinishes({ model, choices }: JsonObject): { model: unknown; finishes: readonly unknown[] } {
  return { model, finishes: objectsIn(choices).map((choice) => choice.finish_reason) };
}

/** What a message or a piece of one says, by kind. Empty texts where it says nothing. */
interface SaidParts {
  readonly reasoning: string;
  readonly text: string;
  readonly refusal: string;
}

/** Some hosts put reasoning into the content, as a part of its own. */
export function splitContent(said: JsonObject): SaidParts {
  const { content } = said;
  const reasoning = textOrEmpty(said.reasoning_content) || textOrEmpty(said.reasoning);
  const refusal = textOrEmpty(said.refusal);
  if (!Array.isArray(content)) return { reasoning, text: textOrEmpty(content), refusal };
  const parts = content.filter(isObject);
  const thought = parts.map(({ thinking }) =>
    Array.isArray(thinking) ? objectsIn(thinking).map(textOf).join("") : textOrEmpty(thinking),
  );
  return { reasoning: reasoning + thought.join(""), text: parts.map(textOf).join(""), refusal };
}

function textOf({ text }: JsonObject): string {
  return textOrEmpty(text);
}
