// Labels of a request: its end user and its tags, as headers and the body name them. Budgets count by them, and the request
// log keeps them.

import { isUtf8 } from "node:buffer";
import { NO_TAGS, type RequestLabels, type Tags } from "../core/requests/records.ts";
import type { ClientHeaders } from "../formats/format.ts";
import { isObject, type JsonObject } from "../formats/json/fields.ts";
import { maskKeys, withoutControls } from "../providers/redact.ts";

const TAG_HEADER = "x-tag-";
/** Limit of tags, the same as for OpenAI's `metadata`; further ones are left out. */
const TAGS_MAX = 16;
const NAME_CHARS_MAX = 64;
/** Longer values are cut: labels are for grouping. */
const VALUE_CHARS_MAX = 256;
const USER_CHARS_MAX = 128;

/** `endUserHeaders` are names of headers in lower case. The first one that is there wins over the body. */
export function labelsOf(
  headers: ClientHeaders,
  body: JsonObject,
  endUserHeaders: readonly string[] = [],
): RequestLabels {
  return { user: userIn(headers, endUserHeaders) ?? userOf(body), tags: tagsOf(headers, body.metadata) };
}

function userIn(headers: ClientHeaders, names: readonly string[]): string | null {
  for (const name of names) {
    const given = headers[name];
    const user = given === undefined ? "" : clean(decoded(given), USER_CHARS_MAX);
    if (user !== "") return user;
  }
  return null;
}

/** OpenAI's `safety_identifier` and older `user`, or Anthropic's `metadata.user_id`. */
function userOf({ safety_identifier: identifier, user, metadata }: JsonObject): string | null {
  const given = named(identifier) ?? named(user) ?? (isObject(metadata) ? metadata.user_id : null);
  if (typeof given !== "string") return null;
  return clean(personOf(given), USER_CHARS_MAX) || null;
}

function named(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

/** Claude Code puts its session behind the user, or writes a JSON object; every session would be a user of its own. */
function personOf(userId: string): string {
  const written = /"(?:account_uuid|device_id)"\s*:\s*"([^"]+)"/.exec(userId);
  return written?.[1] ?? userId.replace(/_session_[\w-]*$/, "");
}

/** Headers before `metadata`: not every client lets its user change bodies. */
function tagsOf(headers: ClientHeaders, metadata: unknown): Tags {
  let found: Map<string, string> | null = null;
  for (const name in headers) {
    if (!name.startsWith(TAG_HEADER)) continue;
    found ??= new Map();
    addTag(found, name.slice(TAG_HEADER.length), decoded(headers[name] ?? ""));
  }
  if (isObject(metadata)) {
    found ??= new Map();
    for (const name in metadata) if (name !== "user_id") addTag(found, name, metadata[name]);
  }
  return found === null || found.size === 0 ? NO_TAGS : Object.fromEntries(found);
}

function addTag(found: Map<string, string>, name: string, value: unknown): void {
  const text = typeof value === "string" ? clean(value, VALUE_CHARS_MAX) : "";
  const isNamed = name !== "" && name.length <= NAME_CHARS_MAX && clean(name, NAME_CHARS_MAX) === name;
  if (text !== "" && isNamed && found.size < TAGS_MAX && !found.has(name)) found.set(name, text);
}

/** Node reads a header as Latin-1; clients that write other letters send UTF-8. */
function decoded(value: string): string {
  const bytes = Buffer.from(value, "latin1");
  return isUtf8(bytes) ? bytes.toString("utf8") : value;
}

/** Masks keys, removes control characters and cuts a text. A character that is cut in half is left out. */
function clean(text: string, maxChars: number): string {
  const whole = maskKeys(withoutControls(text.slice(0, 4 * maxChars))).trim();
  return whole.slice(0, maxChars).replace(/\p{Surrogate}/gu, "");
}
