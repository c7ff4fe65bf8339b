// Refuses a body that has one name twice in an object: the gateway would read the second value, and a provider could
// read the first. Of the body's own fields only the last is sent, so these may repeat.

import { UNREAD, type UnreadText } from "../../core/chat.ts";
import { GatewayError } from "../../core/errors.ts";
import type { JsonSource } from "../scan/scan.ts";
import type { JsonObject } from "./fields.ts";
import { onceForKnown } from "./known-lists.ts";

/** Parsing drops repeated values, so counting what it left tells in almost every body that there was none. */
export function refuseRepeats({ bytes, values }: JsonSource, body: JsonObject): void {
  if (countValues(body) === values) return;
  const name = repeatedName(bytes.toString("utf8"));
  if (name === null) return;
  const message = `The name ${JSON.stringify(name.slice(0, NAME_SHOWN))} is repeated in an object. Send each name once.`;
  throw new GatewayError("badRequest", message, { code: "repeated_name" });
}

const NAME_SHOWN = 100;

/** Objects, arrays, and the commas between their values, as the scanner of bytes counts them. */
function countValues(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return Array.isArray(value) ? countList(value) : countFields(value as UnreadObject);
}

interface UnreadObject extends JsonObject {
  readonly [UNREAD]?: UnreadText;
}

function countFields(fields: UnreadObject): number {
  const unread = fields[UNREAD]?.name;
  let size = 0;
  let inner = 0;
  for (const name in fields) {
    size += 1;
    // A text that is left in the body would be parsed here.
    if (name !== unread) inner += countValues(fields[name]);
  }
  return Math.max(1, size) + inner;
}

const countList = onceForKnown((list: readonly unknown[]): number => {
  let inner = 0;
  for (const value of list) inner += countValues(value);
  return Math.max(1, list.length) + inner;
});

/** The first name that an object below the top level has twice. For text that JSON.parse accepts. */
function repeatedName(text: string): string | null {
  const open: (Set<string> | null)[] = [];
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (char === "{") open.push(new Set());
    else if (char === "[") open.push(null);
    else if (char === "}" || char === "]") open.pop();
    else if (char === '"') {
      const end = endOfText(text, at);
      const names = open.at(-1) ?? null;
      if (names !== null && open.length > 1 && isName(text, end)) {
        const name = JSON.parse(text.slice(at, end)) as string;
        if (names.has(name)) return name;
        names.add(name);
      }
      at = end - 1;
    }
  }
  return null;
}

function endOfText(text: string, start: number): number {
  let end = start;
  let backslashes = 0;
  do {
    end = text.indexOf('"', end + 1);
    backslashes = 0;
    while (text[end - 1 - backslashes] === "\\") backslashes += 1;
  } while (backslashes % 2 === 1);
  return end + 1;
}

function isName(text: string, end: number): boolean {
  let at = end;
  while (" \t\n\r".includes(text[at] as string)) at += 1;
  return text[at] === ":";
}
