// Parts of a Messages request that a host may not know: betas, and fields of tools and of cache marks. `refusedFields`
// names them, and they alone are left out.

import type { Conversion } from "../convert/conversion.ts";
import type { Outgoing, RequestBody, SentRequest } from "../format.ts";
import { isObject, type JsonObject } from "../json/fields.ts";
import { CACHE_CONTROL } from "./cache-marks.ts";

/** The header; named in `refusedFields`, it is left out as a whole. */
export const BETA_HEADER = "anthropic-beta";
/** Betas that fit into a header: a client must not smuggle a second header in. */
const BETA = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;
/** Goes with the client's own sign-in, which is not what the provider sees. */
const SIGN_IN_BETA = /^oauth-/;

const BETAS = `${BETA_HEADER}:`;
const TOOL_FIELD = "tools.*.";
const MARK_FIELD = `${CACHE_CONTROL}.`;
/** Without one of these a tool or a mark is another one. */
const ESSENTIAL: ReadonlySet<string> = new Set(["name", "type", "description", "input_schema"]);

/** The part that an error names, for `refusedFields`; null where it names none that is known here. */
export function namedPart(message: string): string | null {
  const betas = /unexpected value\(s\)\s+(.{1,2000}?)\s+for the `?anthropic-beta`? header/i.exec(message)?.[1];
  const values = (betas ?? "").split(",").map((value) => value.replaceAll("`", "").trim());
  const known = values.filter((value) => BETA.test(value));
  if (known.length > 0) return BETAS + known.join(",");
  const mark = /\bcache_control\.(?:[a-z_]+\.)?([a-z_]+): extra inputs/i.exec(message)?.[1];
  if (mark !== undefined) return ESSENTIAL.has(mark) ? null : MARK_FIELD + mark;
  const field = /^tools\.\d+\.(?:[a-z_]+\.)?([a-z_]+): extra inputs/i.exec(message)?.[1];
  return field === undefined || ESSENTIAL.has(field) ? null : TOOL_FIELD + field;
}

export function isNestedPart(part: string): boolean {
  return [BETAS, TOOL_FIELD, MARK_FIELD].some((start) => part.startsWith(start));
}

/** A field may be known only together with a beta, so what one request learns of it holds for those with the same betas. */
export function refusalScope(part: string, request: Pick<SentRequest, "body"> & Pick<RequestBody, "headers">): string {
  return part.startsWith(BETAS) ? "" : readBetas(request).join(",");
}

/** The betas that this host takes. Where it refused some without naming them, none. */
export function betasFor({ request, refusedFields, model }: Outgoing, conversion: Conversion): readonly string[] {
  const named = refusedFields.flatMap((part) => (part.startsWith(BETAS) ? part.slice(BETAS.length).split(",") : []));
  const refused = new Set([...named, ...(model.dialect.refusesBetas ?? [])]);
  const isAny = refusedFields.includes(BETA_HEADER);
  return readBetas(request).filter((beta) => {
    if (!isAny && !refused.has(beta)) return true;
    conversion.note("option_dropped", `dropped '${beta}' of '${BETA_HEADER}': the host of the model refuses it`);
    return false;
  });
}

/** From the header, and from the body, where some clients put them. */
function readBetas({ headers, body }: Pick<RequestBody, "headers" | "body">): readonly string[] {
  const named = (headers?.[BETA_HEADER] ?? "").split(",").map((beta) => beta.trim());
  const listed: readonly unknown[] = [body.betas, body.anthropic_beta].flatMap((list) =>
    Array.isArray(list) ? (list as unknown[]) : [],
  );
  const betas = [...named, ...listed.filter((beta) => typeof beta === "string")];
  return [...new Set(betas)].filter((beta) => BETA.test(beta) && !SIGN_IN_BETA.test(beta));
}

/** A value without the fields that were refused in it; the same value where it has none of them. */
type Stripped = (value: unknown) => unknown;

/** Takes refused fields out of tools, blocks and turns. Null where none was refused. */
export function stripperOf({ refusedFields }: Pick<Outgoing, "refusedFields">, conversion: Conversion) {
  const ofTools = namesOf(TOOL_FIELD, refusedFields);
  const ofMarks = namesOf(MARK_FIELD, refusedFields);
  if (ofTools.length + ofMarks.length === 0) return null;
  const marks: Stripped = (value) => withoutInMarks(value, ofMarks, conversion);
  const tools: Stripped = (value) => withoutInMarks(withoutInTools(value, ofTools, conversion), ofMarks, conversion);
  return { marks, tools };
}

function namesOf(start: string, parts: readonly string[]): readonly string[] {
  return parts.flatMap((part) => (part.startsWith(start) ? [part.slice(start.length)] : []));
}

function withoutInTools(tools: unknown, names: readonly string[], conversion: Conversion): unknown {
  return Array.isArray(tools) ? changed(tools, (tool) => without(tool, names, conversion)) : tools;
}

/** In the marks of blocks, and of the blocks inside them. What a model or a tool has said is never looked into. */
function withoutInMarks(value: unknown, names: readonly string[], conversion: Conversion): unknown {
  if (names.length === 0) return value;
  if (Array.isArray(value)) return changed(value, (each) => withoutInMarks(each, names, conversion));
  if (!isObject(value)) return value;
  const mark = without(value[CACHE_CONTROL], names, conversion);
  const content = Array.isArray(value.content) ? withoutInMarks(value.content, names, conversion) : value.content;
  if (mark === value[CACHE_CONTROL] && content === value.content) return value;
  return {
    ...value,
    ...(mark === undefined ? {} : { [CACHE_CONTROL]: mark }),
    ...(content === undefined ? {} : { content }),
  };
}

function changed(list: readonly unknown[], change: (each: unknown) => unknown): unknown {
  const all = list.map(change);
  return all.some((each, at) => each !== list[at]) ? all : list;
}

function without(value: unknown, names: readonly string[], conversion: Conversion): unknown {
  if (!isObject(value)) return value;
  const found = names.filter((name) => value[name] !== undefined);
  if (found.length === 0) return value;
  conversion.leaveOut(found);
  return Object.fromEntries(Object.entries(value).filter(([name]) => !found.includes(name))) as JsonObject;
}
