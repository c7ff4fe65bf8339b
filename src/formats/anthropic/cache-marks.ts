// Cache breakpoints of the Messages format, set where the client set none: on the tools, on the instructions, and through
// the field at the top level on the end of the conversation. Three of the four that the format allows.

import type { Outgoing } from "../format.ts";
import { isObject, type JsonObject } from "../json/fields.ts";
import { rawValue } from "../scan/scan.ts";

export const CACHE_CONTROL = "cache_control";
const MARK = { type: "ephemeral" } as const;
const MARK_FIELD = `"${CACHE_CONTROL}":${JSON.stringify(MARK)}`;
/** Bytes per token of JSON in English; a mark on less than the host keeps would be in vain. */
const BYTES_PER_TOKEN = 4;

type MarkChanges = Map<string, string | Buffer | null>;

/** Into the client's own bytes: nothing else of them changes. */
export function spliceCacheMarks(outgoing: Outgoing, changes: MarkChanges): void {
  if (!isWanted(outgoing)) return;
  const { request, cacheHelp } = outgoing;
  let bytes = 0;
  for (const name of ["tools", "system"] as const) {
    const value = changes.has(name) ? null : rawValue(request.source, name);
    if (value === null) continue;
    bytes += value.length;
    const marked = bytes < minBytes(outgoing) ? null : markLast(value, request.body[name]);
    if (marked !== null) changes.set(name, marked);
  }
  if (cacheHelp?.marks === "conversation") changes.set(CACHE_CONTROL, JSON.stringify(MARK));
}

/** Into a request that conversion has written. */
export function withCacheMarks(outgoing: Outgoing, body: JsonObject): JsonObject {
  if (!isWanted(outgoing)) return body;
  const marked: Record<string, unknown> = { ...body };
  let bytes = 0;
  for (const name of ["tools", "system"] as const) {
    const value = body[name];
    const last: unknown = Array.isArray(value) ? value.at(-1) : null;
    if (!Array.isArray(value) || !isMarkable(last)) continue;
    bytes += JSON.stringify(value).length;
    if (bytes >= minBytes(outgoing)) marked[name] = [...value.slice(0, -1), { ...last, [CACHE_CONTROL]: MARK }];
  }
  if (outgoing.cacheHelp?.marks === "conversation") marked[CACHE_CONTROL] = MARK;
  return marked;
}

/** A client that sets one breakpoint sets all of them. */
function isWanted({ request, cacheHelp, refusedFields, model }: Outgoing): boolean {
  if ((cacheHelp?.marks ?? null) === null) return false;
  const isRefused = refusedFields.includes(CACHE_CONTROL) || model.dialect.refuses.includes(CACHE_CONTROL);
  return !isRefused && !request.source.bytes.includes(CACHE_CONTROL);
}

function minBytes({ cacheHelp }: Outgoing): number {
  return (cacheHelp?.tokensMin ?? 0) * BYTES_PER_TOKEN;
}

/** A text becomes one block of it; a list keeps its bytes, with the field at the end of its last object. */
function markLast(value: Buffer, parsed: unknown): Buffer | null {
  if (typeof parsed === "string") {
    if (parsed.trim() === "") return null;
    return Buffer.concat([Buffer.from('[{"type":"text","text":'), value, Buffer.from(`,${MARK_FIELD}}]`)]);
  }
  const last: unknown = Array.isArray(parsed) ? parsed.at(-1) : null;
  if (!isMarkable(last)) return null;
  const end = value.lastIndexOf("}", value.lastIndexOf("]"));
  return Buffer.concat([value.subarray(0, end), Buffer.from(`,${MARK_FIELD}`), value.subarray(end)]);
}

/** The format refuses a mark on an empty text, and on a tool that is not loaded at once. */
function isMarkable(last: unknown): last is JsonObject {
  if (!isObject(last) || Object.keys(last).length === 0 || last.defer_loading === true) return false;
  return typeof last.text !== "string" || last.text.trim() !== "";
}
