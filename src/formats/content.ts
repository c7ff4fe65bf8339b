// Reads the content of a response or a chunk in the internal shape: texts, tool calls, finish reasons and the model it
// names. The gateway therefore needs no field names of any format, and writers of other formats share what they read.

import type { ChatChunk, WholeResponse } from "./format.ts";
import { isObject, type JsonObject, objectsIn, textOrEmpty } from "./json/fields.ts";

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

/** A call and its choice. */
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

/** Passes the content of one chunk to a listener. */
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

/** The content of a message or a piece of one, by kind. Empty texts where it says nothing. */
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

/** The only choice of a whole response that formats without choices can show. */
export function firstChoice({ choices }: JsonObject): JsonObject {
  const first: unknown = Array.isArray(choices) ? choices[0] : null;
  return isObject(first) ? first : {};
}

/** The same of a chunk, whose choices come in any order; null where it adds nothing to it. */
export function firstDelta({ choices }: JsonObject): JsonObject | null {
  const all: readonly unknown[] = Array.isArray(choices) ? choices : [];
  const first = all.find((choice) => isObject(choice) && (choice.index ?? 0) === 0);
  return isObject(first) ? first : null;
}

/** The tool calls of a message or a piece of one. Older models make one `function_call`, which has no id. */
export function callsOf({ tool_calls: calls, function_call: call }: JsonObject): readonly JsonObject[] {
  if (Array.isArray(calls)) return calls.filter(isObject);
  return isObject(call) ? [{ id: "", function: call }] : [];
}

/** The addition of a chunk to the tool call with this index. */
export interface CallDelta {
  readonly index: number;
  readonly id: string;
  readonly name: string;
  /** A piece of the call's arguments. */
  readonly text: string;
}

const NO_DELTAS: readonly CallDelta[] = [];

export function callDeltas({ tool_calls: calls, function_call: call }: JsonObject): readonly CallDelta[] {
  if (calls === undefined && call === undefined) return NO_DELTAS;
  const given = objectsIn(calls);
  const all = isObject(call) ? [...given, { index: 0, function: call }] : given;
  return all.map((piece: JsonObject, position) => {
    const called = isObject(piece.function) ? piece.function : {};
    return {
      index: typeof piece.index === "number" ? piece.index : position,
      id: textOrEmpty(piece.id),
      name: textOrEmpty(called.name),
      text: textOrEmpty(called.arguments),
    };
  });
}

/** A page that the model's own host has found, and the place of the text that rests on it. */
export interface UrlCitation {
  readonly url: string;
  readonly title: string;
  readonly start: number;
  readonly end: number;
}

/** Citations of a message or a delta, as hosts of chat-completions that search write them. */
export function urlCitations({ annotations }: JsonObject): readonly UrlCitation[] {
  if (annotations === undefined) return NO_CITATIONS;
  return objectsIn(annotations).flatMap(({ type, url_citation: cited }) => {
    if (type !== "url_citation" || !isObject(cited) || typeof cited.url !== "string") return [];
    const { url, title, start_index: start, end_index: end } = cited;
    return [{ url, title: textOrEmpty(title), start: Number(start ?? 0), end: Number(end ?? 0) }];
  });
}

const NO_CITATIONS: readonly UrlCitation[] = [];
