// Chat completions as they are stored and read again. A stream is put together to the completion that it would have been
// whole.

import type { Usage } from "../../core/chat.ts";
import type { Note } from "../../core/requests/notes.ts";
import type { JsonItem } from "../../core/responses/stored.ts";
import { isObject, type JsonObject, objectsIn } from "../json/fields.ts";
import { parseObject } from "../json/parse.ts";
import type { CompletionForm } from "../stored-form.ts";
import { writeUsage } from "./usage.ts";

export const COMPLETION_FORM: CompletionForm = {
  fromStream,
  stored,
  messages,
  noted: (completion, note) => ({ ...completion, service: withNote(completion.service, note) }),
  notedEvents,
};

/** Options of the request that a stored completion shows, as its vendor does. */
const SHOWN = [
  ...["tool_choice", "tools", "seed", "top_p", "temperature", "presence_penalty", "frequency_penalty"],
  "response_format",
] as const;

function stored(completion: JsonItem, { body, requestId }: { readonly body: JsonObject; readonly requestId: string }) {
  const options = SHOWN.map((name) => [name, body[name] ?? null]);
  return { ...completion, request_id: requestId, ...Object.fromEntries(options), input_user: body.user ?? null };
}

/** The messages of the request, as lists show them. */
function messages({ messages: given }: JsonObject, id: string): readonly JsonItem[] {
  return objectsIn(given).map((message, index) => {
    const { content } = message;
    const said = Array.isArray(content) ? { content: null, content_parts: content } : { content_parts: null };
    return { name: null, ...message, ...said, id: `${id}-${index}` };
  });
}

const DATA = "data: ";
const OPENING: JsonObject = { role: "assistant", content: null, refusal: null };

/** `usage` is that of the whole answer, also where the client's stream does not tell it. */
function fromStream(text: string, usage: Usage): JsonItem {
  const choices = new Map<number, JsonObject>();
  let whole: JsonObject = {};
  for (const chunk of chunksOf(text)) {
    const { choices: given, usage: _, object: __, ...rest } = chunk;
    whole = { ...whole, ...rest };
    for (const { index, delta, finish_reason, logprobs } of objectsIn(given)) {
      const place = Number(index ?? 0);
      const { message = OPENING, ...choice } = choices.get(place) ?? { index: place, finish_reason: null };
      choices.set(place, {
        ...choice,
        finish_reason: finish_reason ?? choice.finish_reason,
        logprobs: merged(choice.logprobs, logprobs) ?? null,
        message: merged(message, delta),
      });
    }
  }
  const inOrder = [...choices.values()].sort((a, b) => Number(a.index) - Number(b.index));
  return {
    ...whole,
    object: "chat.completion",
    choices: inOrder.map((choice) => ({ ...choice, message: withoutPlaces(choice.message) })),
    usage: writeUsage(usage),
  };
}

/** Fields that are sent whole; every other text comes in pieces. */
const WHOLE: ReadonlySet<string> = new Set(["role", "id", "type", "name", "format", "expires_at"]);

/** A delta laid over what came before it: texts are joined, and entries of a list are found by their index. */
function merged(before: unknown, delta: unknown, name = ""): unknown {
  if (delta === null || delta === undefined) return before;
  if (typeof delta === "string") {
    if (typeof before !== "string" || delta === "") return before ?? delta;
    return WHOLE.has(name) ? delta : before + delta;
  }
  if (Array.isArray(delta)) return mergedList(Array.isArray(before) ? before : [], delta);
  if (!isObject(delta)) return delta;
  const fields: Record<string, unknown> = isObject(before) ? { ...before } : {};
  for (const field in delta) fields[field] = merged(fields[field], delta[field], field);
  return fields;
}

function mergedList(before: readonly unknown[], delta: readonly unknown[]): readonly unknown[] {
  const list = [...before];
  for (const entry of delta) {
    const index = isObject(entry) ? entry.index : undefined;
    const place = index === undefined ? -1 : list.findIndex((each) => isObject(each) && each.index === index);
    if (place < 0) list.push(entry);
    else list[place] = merged(list[place], entry);
  }
  return list;
}

/** Tool calls of a whole message have no index. */
function withoutPlaces(message: unknown): unknown {
  if (!isObject(message) || !Array.isArray(message.tool_calls)) return message;
  return { ...message, tool_calls: objectsIn(message.tool_calls).map(({ index: _, ...call }) => call) };
}

/** The events of a stream that just ended, with a note in the last service object. */
function notedEvents(text: string, note: Note): string {
  return linesOf(text)
    .map((line) => {
      const chunk = chunkIn(line);
      if (chunk === null || chunk.service === undefined) return line;
      return `${DATA}${JSON.stringify({ ...chunk, service: withNote(chunk.service, note) })}`;
    })
    .join("\n\n");
}

function withNote(service: unknown, note: Note): JsonObject {
  const given = isObject(service) ? service : {};
  return { ...given, notes: [...objectsIn(given.notes), note] };
}

function chunksOf(text: string): readonly JsonObject[] {
  return linesOf(text)
    .map(chunkIn)
    .filter((chunk) => chunk !== null);
}

/** Our own writer ends each event with an empty line and has no line breaks in it. */
function linesOf(text: string): readonly string[] {
  return text.split("\n\n");
}

/** Returns null for the end of the stream, and for comments. */
function chunkIn(line: string): JsonObject | null {
  return line.startsWith(`${DATA}{`) ? parseObject(Buffer.from(line.slice(DATA.length))) : null;
}
