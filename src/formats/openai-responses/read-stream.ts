// Reads a Responses stream from a provider: each event becomes a chat chunk, and clients of the same format get the
// event itself. Text that a host sends only with the finished item is not lost. It never invents an end.

import type { ChatChunk, StreamReader } from "../format.ts";
import { isObject, type JsonObject, objectsIn, toText } from "../json/fields.ts";
import type { OutputMeter } from "../provider/output-meter.ts";
import { DONE, onlyChoice, parseEvent, StreamState } from "../provider/stream-state.ts";
import type { SseEvent, SseReader } from "../sse/reader.ts";
import { failureOf, readResponsesFault } from "./faults.ts";
import { RESPONSES } from "./items.ts";
import {
  callId,
  callText,
  detailOf,
  type Item,
  isCall,
  isClientCall,
  PARAGRAPH,
  partText,
  reasoningText,
} from "./output-items.ts";
import { finishReasonFor } from "./read-response.ts";
import { isSearch, readResponsesUsage } from "./usage.ts";

export function createResponsesStreamReader(events: SseReader): StreamReader {
  return new ResponsesStreamReader(events);
}

class ResponsesStreamReader extends StreamState {
  readonly #items = new ItemReader(this.output);
  #hasRole = false;

  toolCallIds(): readonly string[] {
    return [...this.#items.callIds, ...this.#items.clientCallIds];
  }

  protected readEvent({ event, data }: SseEvent): ChatChunk | null {
    if (data === DONE) return null;
    const json = parseEvent(data);
    const type = typeof json.type === "string" ? json.type : (event ?? "");
    if (type === "error" || (isObject(json.error) && event === "error")) return this.failed(readResponsesFault(json));
    if (type === "response.failed" || type === "response.cancelled") return this.failed(failureOf(json.response, type));
    const choice = this.#withRole(this.#readChoice(type, json));
    this.isBetweenParts = this.#items.isBetweenItems;
    return this.chunk(onlyChoice(choice), { format: RESPONSES, event: type, data });
  }

  /** The event as a choice of a chat chunk; null when it says nothing there. */
  #readChoice(type: string, json: JsonObject): JsonObject | null {
    switch (type) {
      case "response.created":
        return this.#readStart(isObject(json.response) ? json.response : {});
      case "response.completed":
      case "response.incomplete":
        return this.#readEnd(type, isObject(json.response) ? json.response : {});
      default:
        return this.#items.read(type, json);
    }
  }

  /** Clients expect it first, also from hosts that leave out how a stream begins. */
  #withRole(choice: JsonObject | null): JsonObject | null {
    if (choice === null || this.#hasRole) return choice;
    this.#hasRole = true;
    return { ...choice, delta: { role: "assistant", ...(choice.delta as JsonObject) } };
  }

  #readStart({ id, created_at: created, model }: JsonObject): JsonObject {
    this.head = { id, object: "chat.completion.chunk", created, model };
    return { delta: { content: "" } };
  }

  #readEnd(type: string, response: JsonObject): JsonObject {
    const delta = this.#items.readRest(response.output);
    this.isFinished = true;
    this.isDone = true;
    this.usage = readResponsesUsage(response, this.#items.searches);
    this.isCounted = this.usage !== null;
    const status = type === "response.incomplete" ? "incomplete" : response.status;
    // An answer that the output cap or a filter ended is one, also when it has no words.
    this.hasContent ||= status === "incomplete";
    const finish = finishReasonFor({ ...response, status }, this.#items.callIds.length > 0);
    return { delta, finish_reason: finish };
  }
}

// Items on their way: how much of each has been passed on, so that what a host repeats at the end is not said twice.

interface ItemState {
  /** Characters of text, or of a call's arguments, that have been passed on. */
  textLength: number;
  refusalLength: number;
  /** The event that brings its reasoning, once there is any: hosts may send a summary beside the whole. */
  thoughtBy: string | null;
  /** The place among the tool calls; null until the call's name is known. */
  callIndex: number | null;
  isCustom: boolean;
  /** Arguments that came before the name. */
  pending: string;
  isDone: boolean;
}

class ItemReader {
  readonly callIds: string[] = [];
  /** Calls that only clients of the same format are given. */
  readonly clientCallIds: string[] = [];
  /** Searches that the provider ran. Hosts may leave the output out of the last event. */
  searches = 0;
  readonly #output: OutputMeter;
  readonly #states = new Map<unknown, ItemState>();
  readonly #open = new Set<ItemState>();
  #details = 0;
  /** The item whose text came last, and the part whose reasoning did: the next one is set apart from these. */
  #lastSaid: ItemState | null = null;
  #lastThought: { readonly state: ItemState; readonly part: unknown } | null = null;
  isBetweenItems = false;

  constructor(output: OutputMeter) {
    this.#output = output;
  }

  /** An event as a choice; null when it says nothing to a client of another format. */
  read(type: string, json: JsonObject): JsonObject | null {
    switch (type) {
      case "response.output_item.added":
        return choiceOf(this.#begin(json));
      case "response.output_item.done":
        return choiceOf(this.#finish(json));
      case "response.output_text.delta":
        return this.#text(json);
      case "response.refusal.delta":
        return choiceOf(this.#refusal(json.delta, this.#stateOf(json)));
      case "response.reasoning_summary_text.delta":
      case "response.reasoning_text.delta":
        return choiceOf(this.#thought(json.delta, this.#stateOf(json), { event: type, part: partOf(json) }));
      case "response.function_call_arguments.delta":
      case "response.custom_tool_call_input.delta":
        return choiceOf(this.#arguments(json.delta, this.#stateOf(json)));
      default:
        return null;
    }
  }

  /** Reads from the whole response the output that no event has brought. */
  readRest(output: unknown): JsonObject {
    const deltas = objectsIn(output).map((item, index) => this.#finish({ output_index: index, item }));
    return deltas.reduce<JsonObject>((all, delta) => merged(all, delta ?? {}), {});
  }

  /** By the place in the output; some hosts name only the item. */
  #stateOf({ output_index: index, item_id: id, item }: JsonObject): ItemState {
    const itemId = isObject(item) ? item.id : id;
    const known = this.#states.get(index) ?? this.#states.get(itemId);
    const state = known ?? {
      textLength: 0,
      refusalLength: 0,
      thoughtBy: null,
      callIndex: null,
      isCustom: false,
      pending: "",
      isDone: false,
    };
    if (typeof index === "number") this.#states.set(index, state);
    if (typeof itemId === "string") this.#states.set(itemId, state);
    return state;
  }

  #begin(json: JsonObject): JsonObject | null {
    const item: Item = isObject(json.item) ? json.item : {};
    const state = this.#stateOf(json);
    this.#open.add(state);
    this.isBetweenItems = false;
    if (isCall(item)) return this.#openCall(item, state);
    // A tool that the provider runs is part of the answer: no other model takes over from here.
    if (item.type !== "message" && item.type !== "reasoning") this.#output.add(toText(item.type));
    return null;
  }

  #finish(json: JsonObject): JsonObject | null {
    const item: Item = isObject(json.item) ? json.item : {};
    const state = this.#stateOf(json);
    if (state.isDone) return null;
    state.isDone = true;
    this.#open.delete(state);
    this.isBetweenItems = this.#open.size === 0 && item.type !== "reasoning";
    if (isSearch(item)) this.searches += 1;
    if (isClientCall(item)) this.clientCallIds.push(callId(item));
    if (item.type === "message") return this.#finishMessage(item, state);
    if (item.type === "reasoning") return this.#finishReasoning(item, state);
    return isCall(item) ? this.#finishCall(item, state) : null;
  }

  #finishMessage(item: Item, state: ItemState): JsonObject | null {
    const said = this.#say(partText(item, "text").slice(state.textLength), state);
    const refused = this.#refusal(partText(item, "refusal").slice(state.refusalLength), state);
    return said === null && refused === null ? null : { ...said, ...refused };
  }

  #finishReasoning(item: Item, state: ItemState): JsonObject | null {
    const thought = this.#thought(state.thoughtBy === null ? reasoningText(item) : "", state, WHOLE);
    const detail = detailOf(item);
    if (detail === null) return thought;
    this.#details += 1;
    return { ...thought, reasoning_details: [{ ...detail, index: this.#details - 1 }] };
  }

  #text(json: JsonObject): JsonObject | null {
    const delta = this.#say(json.delta, this.#stateOf(json));
    const logprobs = objectsIn(json.logprobs);
    if (delta === null) return null;
    return logprobs.length === 0 ? { delta } : { delta, logprobs: { content: logprobs, refusal: null } };
  }

  #say(text: unknown, state: ItemState): JsonObject | null {
    if (typeof text !== "string" || text === "") return null;
    const gap = this.#lastSaid === null || this.#lastSaid === state ? "" : PARAGRAPH;
    this.#lastSaid = state;
    state.textLength += text.length;
    this.#output.add(text);
    return { content: gap + text };
  }

  #refusal(text: unknown, state: ItemState): JsonObject | null {
    if (typeof text !== "string" || text === "") return null;
    state.refusalLength += text.length;
    this.#output.add(text);
    return { refusal: text };
  }

  #thought(text: unknown, state: ItemState, { event, part }: ThoughtPlace): JsonObject | null {
    if (typeof text !== "string" || text === "" || (state.thoughtBy ?? event) !== event) return null;
    state.thoughtBy = event;
    const { state: lastState = state, part: lastPart = part } = this.#lastThought ?? {};
    const gap = lastState === state && lastPart === part ? "" : PARAGRAPH;
    this.#lastThought = { state, part };
    this.#output.add(text);
    return { reasoning_content: gap + text };
  }

  #openCall(item: Item, state: ItemState): JsonObject | null {
    if (typeof item.name !== "string" || state.callIndex !== null) return null;
    const index = this.callIds.length;
    const id = callId(item) || `call_${index}`;
    this.callIds.push(id);
    state.callIndex = index;
    state.isCustom = item.type === "custom_tool_call";
    const text = state.pending;
    state.pending = "";
    state.textLength = text.length;
    this.#output.add(item.name + text);
    const called = state.isCustom
      ? { type: "custom", custom: { name: item.name, input: text } }
      : { type: "function", function: { name: item.name, arguments: text } };
    return { tool_calls: [{ index, id, ...called }] };
  }

  #arguments(text: unknown, state: ItemState): JsonObject | null {
    if (typeof text !== "string" || text === "") return null;
    if (state.callIndex === null) {
      state.pending += text;
      return null;
    }
    state.textLength += text.length;
    this.#output.add(text);
    const called = state.isCustom ? { custom: { input: text } } : { function: { arguments: text } };
    return { tool_calls: [{ index: state.callIndex, ...called }] };
  }

  /** Clients parse the arguments of a function, also where there are none. */
  #finishCall(item: Item, state: ItemState): JsonObject | null {
    const opened = this.#openCall(item, state);
    const whole = callText(item);
    const isWithout = whole === "" && state.textLength === 0 && !state.isCustom;
    const rest = this.#arguments(isWithout ? "{}" : whole.slice(state.textLength), state);
    return opened === null ? rest : merged(opened, rest ?? {});
  }
}

/** The event that brought a piece of reasoning, and the part of the item that it belongs to. */
interface ThoughtPlace {
  readonly event: string;
  readonly part: unknown;
}

/** Reasoning that came with the finished item. */
const WHOLE: ThoughtPlace = { event: "done", part: null };

function partOf({ summary_index: summary, content_index: content }: JsonObject): unknown {
  return summary ?? content ?? null;
}

function choiceOf(delta: JsonObject | null): JsonObject | null {
  return delta === null ? null : { delta };
}

/** Two deltas as one. */
function merged(one: JsonObject, other: JsonObject): JsonObject {
  const all: Record<string, unknown> = { ...one };
  for (const [name, value] of Object.entries(other)) {
    const before = all[name];
    if (typeof before === "string") all[name] = before + toText(value);
    else all[name] = Array.isArray(before) ? [...before, ...(value as readonly unknown[])] : value;
  }
  return all;
}
