// The stream of a response that is over: the same events as a live one has, with each text in one delta.

import type { JsonItem } from "../../../core/responses/stored.ts";
import { isObject, type JsonObject, objectsIn } from "../../json/fields.ts";
import { eventText, lastNumber } from "./events.ts";
import { outputItems } from "./items.ts";

/** The events after the one with this number; all of them for -1. */
export function replayEvents(response: JsonItem, startingAfter: number): string {
  const events: JsonObject[] = [
    ...openingEvents(response),
    ...outputItems(response).flatMap(itemEvents),
    { type: endingOf(response.status), response },
  ];
  return numbered(events, 0)
    .filter((_, number) => number > startingAfter)
    .join("");
}

/** Ends a stream that just stopped; one that broke was ended by its writer. `sent` is the stream so far. */
export function closingEvents(response: JsonItem, sent: string): string {
  const { error, status } = response;
  const opened: JsonObject[] = sent === "" ? openingEvents(response) : [];
  const told: JsonObject[] = isObject(error)
    ? [{ type: "error", error: { type: "server_error", param: null, ...error } }]
    : [];
  const events = [...opened, ...told, { type: endingOf(status), response }];
  return numbered(events, lastNumber(sent) + 1).join("");
}

function numbered(events: readonly JsonObject[], from: number): readonly string[] {
  return events.map((event, index) => eventText({ ...event, sequence_number: from + index }));
}

function openingEvents(response: JsonItem): JsonObject[] {
  const begun = { status: "in_progress", output: [], usage: null, error: null, incomplete_details: null };
  const opening = { ...response, ...begun };
  return [
    { type: "response.created", response: opening },
    { type: "response.in_progress", response: opening },
  ];
}

function endingOf(status: unknown): string {
  return ENDINGS[String(status)] ?? "response.completed";
}

/** A cancelled response has no event of its own. */
const ENDINGS: Readonly<Record<string, string>> = {
  incomplete: "response.incomplete",
  failed: "response.failed",
  cancelled: "response.failed",
};

function itemEvents(item: JsonItem, outputIndex: number): readonly JsonObject[] {
  const place = { output_index: outputIndex, item_id: item.id };
  return [
    { type: "response.output_item.added", output_index: outputIndex, item: emptied(item) },
    ...contentEvents(item, place),
    { type: "response.output_item.done", output_index: outputIndex, item },
  ];
}

/** The item as it is before its content comes. */
function emptied(item: JsonItem): JsonItem {
  const begun = { ...item, ...("status" in item ? { status: "in_progress" } : {}) };
  if (item.type === "message") return { ...begun, content: [] };
  if (item.type === "reasoning") return { ...begun, summary: [] };
  if (item.type === "function_call") return { ...begun, arguments: "" };
  return item.type === "custom_tool_call" ? { ...begun, input: "" } : begun;
}

type Place = JsonObject;

function contentEvents(item: JsonItem, place: Place): readonly JsonObject[] {
  if (item.type === "message")
    return objectsIn(item.content).flatMap((part, index) => partEvents(part, { ...place, content_index: index }));
  if (item.type === "reasoning")
    return objectsIn(item.summary).flatMap((part, index) => summaryEvents(part, { ...place, summary_index: index }));
  if (item.type === "function_call")
    return textEvents("response.function_call_arguments", "arguments", item.arguments, { ...place, name: item.name });
  if (item.type === "custom_tool_call")
    return textEvents("response.custom_tool_call_input", "input", item.input, place);
  return [];
}

function partEvents(part: JsonObject, place: Place): readonly JsonObject[] {
  const [name, field] = part.type === "refusal" ? ["response.refusal", "refusal"] : ["response.output_text", "text"];
  const extra = field === "text" ? { logprobs: part.logprobs ?? [] } : {};
  return [
    { type: "response.content_part.added", ...place, part: { ...part, [field]: "" } },
    ...textEvents(name, field, part[field], { ...place, ...extra }),
    { type: "response.content_part.done", ...place, part },
  ];
}

function summaryEvents(part: JsonObject, place: Place): readonly JsonObject[] {
  return [
    { type: "response.reasoning_summary_part.added", ...place, part: { ...part, text: "" } },
    ...textEvents("response.reasoning_summary_text", "text", part.text, place),
    { type: "response.reasoning_summary_part.done", ...place, part },
  ];
}

/** One delta with all of it, and the end. */
function textEvents(name: string, field: string, text: unknown, place: Place): readonly JsonObject[] {
  const { name: tool, ...where } = place;
  return [
    { type: `${name}.delta`, ...where, delta: text },
    { type: `${name}.done`, ...where, ...(tool === undefined ? {} : { name: tool }), [field]: text },
  ];
}
