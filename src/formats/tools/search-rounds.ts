// Rounds of a model that searches, in the internal shape: what it said, the searches that it asks for, which the client is
// not shown as calls, and the turns that tell it what was found.

import type { ChatMessage, Usage } from "../../core/chat.ts";
import type { SearchStep } from "../../core/search/web-search.ts";
import { type CallDelta, callDeltas, firstChoice, firstDelta } from "../content.ts";
import type { ChatChunk, WholeResponse } from "../format.ts";
import { isObject, type JsonObject, objectsIn, textOrEmpty } from "../json/fields.ts";
import { resultText, type SearchedRound, stepDelta, withRounds } from "./searches.ts";

/** A call of the search function by the model. */
export interface SearchCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** A round in which the model searched. */
export interface EndedRound {
  /** The model's message without calls. */
  readonly message: JsonObject;
  readonly calls: readonly SearchCall[];
  readonly steps: readonly SearchStep[];
  readonly usage: Usage | null;
  readonly outputTokens: number;
  /** The usage counts the whole round. */
  readonly isCounted: boolean;
}

/** The round as turns of the conversation: the model's calls, and their results. */
export function turnsOf({ message, calls, steps }: EndedRound): readonly ChatMessage[] {
  const toolCalls = calls.map(({ id, name, arguments: text }, at) => ({
    id,
    type: "function",
    function: { name, arguments: steps[at]?.query === "" ? "{}" : text },
  }));
  const said = { ...message, role: "assistant", tool_calls: toolCalls } as ChatMessage;
  const results = steps.map((step, at): ChatMessage => {
    return { role: "tool", tool_call_id: calls[at]?.id ?? "", content: resultText(step) };
  });
  return [said, ...results];
}

interface SplitMessage {
  /** The message without the searches that it asks for. */
  readonly message: JsonObject;
  readonly calls: readonly SearchCall[];
  /** Says that tools of the client are called as well. */
  readonly hasOthers: boolean;
}

export function saidIn({ completion }: WholeResponse, names: ReadonlySet<unknown>): SplitMessage {
  const { message: said } = firstChoice(completion);
  const { tool_calls: given, ...message } = isObject(said) ? said : {};
  const all = objectsIn(given);
  const isSearch = ({ function: called }: JsonObject): boolean => isObject(called) && names.has(called.name);
  const others = all.filter((call) => !isSearch(call));
  const calls = all.filter(isSearch).map((call, at) => {
    const { name, arguments: text } = call.function as JsonObject;
    const id = textOrEmpty(call.id) || `search_${at}`;
    return { id, name: textOrEmpty(name), arguments: isObject(text) ? JSON.stringify(text) : textOrEmpty(text) };
  });
  const hasOthers = others.length > 0;
  return { message: hasOthers ? { ...message, tool_calls: others } : message, calls, hasOthers };
}

interface Composed extends Pick<WholeResponse, "outputText" | "usage"> {
  readonly message: JsonObject;
  readonly searched: readonly SearchedRound[];
}

/** One response of all rounds. Its usage is ours, so that the provider's own count of the last round is not shown. */
export function composed(whole: WholeResponse, { message, searched, outputText, usage }: Composed): WholeResponse {
  const choice = firstChoice(whole.completion);
  const finish =
    choice.finish_reason === "tool_calls" && message.tool_calls === undefined ? "stop" : choice.finish_reason;
  const shown = { ...choice, message: withRounds(message, searched), finish_reason: finish };
  return {
    completion: { ...whole.completion, choices: [shown] },
    usage,
    outputText,
    native: whole.native,
    isComposed: true,
    toolCallIds: () => objectsIn(message.tool_calls).map(({ id }) => textOrEmpty(id)),
  };
}

/** A chunk that tells of a search. */
export function stepChunk(step: SearchStep): ChatChunk {
  const choices = [{ index: 0, delta: stepDelta(step), finish_reason: null, logprobs: null }];
  return { json: { choices }, hasContent: true, isFinish: false };
}

/** Ends a stream whose model was not heard again: what came is no whole answer. */
export function cutShortChunk(): ChatChunk {
  const choices = [{ index: 0, delta: {}, finish_reason: "length", logprobs: null }];
  return { json: { choices }, hasContent: false, isFinish: true };
}

/** Reads a round: what the model said, and the searches that it asks for, which are taken out. */
export class RoundReader {
  hasOthers = false;
  #text = "";
  #reasoning = "";
  #details: JsonObject[] = [];
  readonly #calls = new Map<number, { id: string; name: string; arguments: string }>();

  get hasSearches(): boolean {
    return this.#calls.size > 0;
  }

  get calls(): readonly SearchCall[] {
    return [...this.#calls.values()].map((call, at) => ({ ...call, id: call.id || `search_${at}` }));
  }

  get message(): JsonObject {
    return {
      content: this.#text === "" ? null : this.#text,
      ...(this.#reasoning === "" ? {} : { reasoning_content: this.#reasoning }),
      ...(this.#details.length === 0 ? {} : { reasoning_details: this.#details }),
    };
  }

  read(chunk: ChatChunk, rounds: { readonly toolNames: ReadonlySet<unknown>; readonly isOver: boolean }): ChatChunk {
    const choice = firstDelta(chunk.json);
    if (choice === null) return chunk;
    const delta = isObject(choice.delta) ? choice.delta : {};
    this.#text += textOrEmpty(delta.content);
    this.#reasoning += textOrEmpty(delta.reasoning_content) || textOrEmpty(delta.reasoning);
    this.#details.push(...objectsIn(delta.reasoning_details));
    const others = callDeltas(delta).filter((call) => !this.#isSearch(call, rounds.toolNames));
    this.hasOthers ||= others.length > 0;
    const finish = choice.finish_reason ?? null;
    const isCutOut = finish !== null && this.hasSearches && !this.hasOthers;
    if (!isCutOut && (delta.tool_calls === undefined || others.length === objectsIn(delta.tool_calls).length))
      return chunk;
    const { tool_calls: _, ...rest } = delta;
    const kept = others.map(({ index, id, name, text }) => ({ index, id, function: { name, arguments: text } }));
    const changed = { ...choice, delta: kept.length === 0 ? rest : { ...rest, tool_calls: kept } };
    const ending = isCutOut
      ? { finish_reason: rounds.isOver && finish === "tool_calls" ? "stop" : rounds.isOver ? finish : null }
      : {};
    const { repeated: _repeated, ...bare } = chunk;
    return {
      ...bare,
      isFinish: chunk.isFinish && !(isCutOut && !rounds.isOver),
      json: { ...chunk.json, choices: [{ ...changed, ...ending }] },
    };
  }

  #isSearch({ index, id, name, text }: CallDelta, toolNames: ReadonlySet<unknown>): boolean {
    const known = this.#calls.get(index);
    if (known === undefined && !toolNames.has(name)) return false;
    const call = known ?? { id: "", name, arguments: "" };
    call.id ||= id;
    call.arguments += text;
    this.#calls.set(index, call);
    return true;
  }
}
