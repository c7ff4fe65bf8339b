// Events of a stream as text, read again: to hide encrypted reasoning, to store the response at the end, and to go on
// after a known event.

import type { JsonItem } from "../../../core/responses/stored.ts";
import { isObject, type JsonObject, toText } from "../../json/fields.ts";
import { parseObject } from "../../json/parse.ts";
import { visibleItem, visibleResponse } from "./items.ts";

export function eventText(event: JsonObject): string {
  return `event: ${toText(event.type)}\ndata: ${JSON.stringify(event)}\n\n`;
}

/** Without encrypted reasoning. Nearly all text has none and stays as it is. */
export function visibleEvents(text: string): string {
  if (!text.includes('"encrypted_content"')) return text;
  return mapEvents(text, ({ item, response, ...event }) => ({
    ...event,
    ...(item === undefined ? {} : { item: isObject(item) ? visibleItem(item) : item }),
    ...(response === undefined ? {} : { response: isObject(response) ? visibleResponse(response) : response }),
  }));
}

/** With a response that says that it was not stored. */
export function unstoredEvents(text: string): string {
  return mapEvents(text, (event) =>
    isObject(event.response) ? { ...event, response: { ...event.response, store: false } } : event,
  );
}

/** The response that the last event carries; null where it carries none. */
export function lastResponse(text: string): JsonItem | null {
  const last = blocksOf(text).at(-1);
  const response = last === undefined ? null : readEvent(last)?.response;
  return isObject(response) ? response : null;
}

/** The number of the last event; -1 where there is none. */
export function lastNumber(text: string): number {
  const last = blocksOf(text).at(-1);
  const number = last === undefined ? null : readEvent(last)?.sequence_number;
  return typeof number === "number" ? number : -1;
}

/** The events after the one with this number. Pings have none and are left out. */
export function eventsAfter(text: string, startingAfter: number): string {
  if (startingAfter < 0) return text;
  const isLater = (block: string): boolean => {
    const number = readEvent(block)?.sequence_number;
    return typeof number === "number" && number > startingAfter;
  };
  return blocksOf(text).filter(isLater).join("");
}

function mapEvents(text: string, change: (event: JsonObject) => JsonObject): string {
  return blocksOf(text)
    .map((block) => {
      const event = readEvent(block);
      return event === null ? block : eventText(change(event));
    })
    .join("");
}

/** Each with the empty line that ends it. */
function blocksOf(text: string): readonly string[] {
  return text.split(/(?<=\n\n)/);
}

const DATA = "data: ";

/** Reads an event; null for a ping. Only a line feed ends a line here: JSON may have every other separator in its texts. */
function readEvent(block: string): JsonObject | null {
  const lines = block.split("\n").filter((line) => line.startsWith(DATA));
  return lines.length === 0 ? null : parseObject(Buffer.from(lines.map((line) => line.slice(DATA.length)).join("\n")));
}
