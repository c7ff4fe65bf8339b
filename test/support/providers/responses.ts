// A Responses client made of fetch. It reads a stream as strictly as the strictest library: each event in its place,
// nothing twice, and at the end exactly what was streamed.

import { expect } from "vitest";
import type { Json } from "./streams.ts";

export const QUESTION = { model: "auto", input: "What is the capital of France?" };

export interface ResponseEvent extends Json {
  readonly type: string;
  readonly sequence_number: number;
}

export interface ResponseItem extends Json {
  readonly id: string;
  readonly type: string;
}

export interface ResponseObject extends Json {
  readonly id: string;
  readonly status: string;
  readonly output: readonly ResponseItem[];
}

/** The events of a stream, checked: each is named by its type, numbered without gaps, and no `[DONE]` follows. */
export function responseEventsIn(stream: string): readonly ResponseEvent[] {
  const events = stream.split("\n\n").filter((event) => event !== "" && !event.startsWith(":"));
  return events.map((event, index) => {
    const [name = "", data = ""] = event.split("\n");
    const json = JSON.parse(data.slice("data: ".length)) as ResponseEvent;
    expect(name).toBe(`event: ${json.type}`);
    expect(json.sequence_number).toBe(index);
    return json;
  });
}

export async function readResponseEvents(answer: Response): Promise<readonly ResponseEvent[]> {
  expect(answer.headers.get("content-type")).toContain("text/event-stream");
  return responseEventsIn(await answer.text());
}

const LAST = ["response.completed", "response.incomplete"];

/** Checks the order of all events and returns the response that the last one carries. */
export function finalResponse(events: readonly ResponseEvent[]): ResponseObject {
  const [created, inProgress, ...rest] = events;
  const last = rest.pop();
  expect([created?.type, inProgress?.type]).toEqual(["response.created", "response.in_progress"]);
  expect(LAST).toContain(last?.type);
  const response = last?.response as ResponseObject;
  for (const event of [created, inProgress]) {
    expect(event?.response).toMatchObject({ id: response.id, status: "in_progress", output: [], usage: null });
  }
  expect(itemsOf(rest)).toEqual(response.output);
  expect(new Set(response.output.map(({ id }) => id)).size).toBe(response.output.length);
  return response;
}

/** The items that the events spell out. Each must be opened, filled and closed before the next begins. */
function itemsOf(events: readonly ResponseEvent[]): readonly ResponseItem[] {
  const items: ResponseItem[] = [];
  const left = [...events];
  while (left.length > 0) {
    const added = left.shift() as ResponseEvent;
    expect(added).toMatchObject({ type: "response.output_item.added", output_index: items.length });
    const end = left.findIndex(({ type }) => type === "response.output_item.done");
    const inner = left.splice(0, end);
    const done = left.shift() as ResponseEvent;
    expect(done.output_index).toBe(items.length);
    const item = done.item as ResponseItem;
    const { id, type, status } = added.item as ResponseItem;
    expect({ id, type }).toEqual({ id: item.id, type: item.type });
    expect(status).toBe(item.type === "reasoning" ? undefined : "in_progress");
    expect(inner.every((event) => event.item_id === id && event.output_index === items.length)).toBe(true);
    checkContent(item, inner);
    items.push(item);
  }
  return items;
}

/** How an item of a type is filled: opening, deltas and closing events, and what they must add up to. */
function checkContent(item: ResponseItem, events: readonly ResponseEvent[]): void {
  const types = [...new Set(events.map(({ type }) => type))];
  const spelled = events.map(({ delta }) => (typeof delta === "string" ? delta : "")).join("");
  if (item.type === "function_call") {
    expect(types.at(-1)).toBe("response.function_call_arguments.done");
    expect([item.arguments, events.at(-1)?.arguments, events.at(-1)?.name]).toEqual([spelled, spelled, item.name]);
  } else if (item.type === "custom_tool_call") {
    expect(types.at(-1)).toBe("response.custom_tool_call_input.done");
    expect([item.input, events.at(-1)?.input]).toEqual([spelled, spelled]);
  } else if (item.type === "reasoning") {
    checkSummary(item, types, spelled);
  } else if (item.type === "message") {
    checkMessage(item, events, spelled);
  } else {
    // Calls of the client's own tools come whole.
    const stages = STAGES[item.type] ?? [];
    const partials = types.filter((type) => type.endsWith(".partial_image"));
    expect(types.filter((type) => !partials.includes(type))).toEqual(
      stages.map((stage) => `response.${item.type}.${stage}`),
    );
    if (partials.length > 0) expect(item.type).toBe("image_generation_call");
  }
}

/** What the events of a call say that the gateway answers, in order. */
const STAGES: Readonly<Record<string, readonly string[]>> = {
  web_search_call: ["in_progress", "searching", "completed"],
  image_generation_call: ["in_progress", "generating", "completed"],
};

function checkSummary({ summary }: ResponseItem, types: readonly string[], spelled: string): void {
  const part = "response.reasoning_summary_part";
  const text = "response.reasoning_summary_text";
  if (spelled === "") expect([types, summary]).toEqual([[], []]);
  else {
    expect(types).toEqual([`${part}.added`, `${text}.delta`, `${text}.done`, `${part}.done`]);
    expect(summary).toEqual([{ type: "summary_text", text: spelled }]);
  }
}

function checkMessage({ content }: ResponseItem, events: readonly ResponseEvent[], spelled: string): void {
  const [part] = content as readonly Json[];
  const kind = part?.type === "refusal" ? "refusal" : "output_text";
  expect([...new Set(events.map(({ type }) => type))]).toEqual([
    "response.content_part.added",
    `response.${kind}.delta`,
    ...(((part?.annotations ?? []) as readonly Json[]).length === 0 ? [] : ["response.output_text.annotation.added"]),
    `response.${kind}.done`,
    "response.content_part.done",
  ]);
  expect(events.at(-1)?.part).toEqual(part);
  expect(part?.text ?? part?.refusal).toBe(spelled);
}

/** All text of a response. */
export function outputText({ output }: ResponseObject): string {
  return output
    .flatMap(({ content }) => (Array.isArray(content) ? (content as readonly Json[]) : []))
    .map(({ text }) => (typeof text === "string" ? text : ""))
    .join("");
}
