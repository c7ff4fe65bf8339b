// A Messages request for a provider that speaks the format. It is the client's own request with the necessary changes,
// or one converted from chat-completions.

import { forcesTool } from "../../core/chat.ts";
import type { AskedServiceTier } from "../../core/money.ts";
import { Conversion, ESSENTIAL_FIELDS, unconvertible } from "../convert/conversion.ts";
import type { Outgoing, ProviderRequest, SentRequest } from "../format.ts";
import { isObject, type JsonObject } from "../json/fields.ts";
import { spliceBody, writeJson } from "../json/splice.ts";
import type { ListRequest } from "../listing.ts";
import { SERVICE_TIER } from "../provider/service-tier.ts";
import { isControlField } from "../service/controls.ts";
import { CLOUD_FIELDS, type Turn } from "./blocks.ts";
import { CACHE_CONTROL, spliceCacheMarks, withCacheMarks } from "./cache-marks.ts";
import { PREFILL, THINKING_HISTORY } from "./errors.ts";
import { outputCap, unforced, writeFields } from "./from-chat/fields.ts";
import { adaptThinking } from "./from-chat/thinking.ts";
import { writeTurns } from "./from-chat/turns.ts";
import { adaptTurns } from "./history.ts";
import { BETA_HEADER, betasFor, isNestedPart, stripperOf } from "./refusals.ts";

/** A client's own request, as it came but for what this model would refuse. */
export function passAnthropicRequest(outgoing: Outgoing): ProviderRequest {
  return written(writeNative, outgoing, nativeHeaders);
}

/** A request in the internal shape. */
export function writeAnthropicRequest(outgoing: Outgoing): ProviderRequest {
  return written(writeConverted, outgoing, () => ({ "anthropic-version": USUAL_VERSION }));
}

function written(
  write: RequestWriter,
  outgoing: Outgoing,
  headersOf: (outgoing: Outgoing, conversion: Conversion) => ProviderRequest["headers"] & object,
): ProviderRequest {
  const conversion = new Conversion();
  const { body, droppedFields } = write(outgoing, conversion);
  const headers = headersOf(outgoing, conversion);
  if (conversion.refusals.length > 0) throw unconvertible(conversion.refusals);
  const conversions = conversion.notes;
  return {
    path: pathOf(outgoing),
    body,
    droppedFields,
    headers,
    ...(conversions.length === 0 ? {} : { conversions }),
  };
}

/** Google's host names the model in the path, and takes its `@` as it is. */
function pathOf({ model: { dialect, upstream }, request }: Outgoing): string {
  if (dialect.versionInBody === undefined) return "/v1/messages";
  const name = encodeURIComponent(upstream).replaceAll("%40", "@");
  return `/models/${name}:${request.chat.isStream ? "streamRawPredict" : "rawPredict"}`;
}

/** The fields that name the model, or the version in its place. Null leaves a field out. */
function named({ model: { dialect, upstream } }: Outgoing): Readonly<Record<string, string | null>> {
  const { versionInBody: version } = dialect;
  return version === undefined ? { model: upstream } : { model: null, anthropic_version: version };
}

type Written = Pick<ProviderRequest, "body" | "droppedFields">;
type RequestWriter = (outgoing: Outgoing, conversion: Conversion) => Written;

/** The original bytes; a field is rewritten only when this model would refuse it as it is. */
function writeNative(outgoing: Outgoing, conversion: Conversion): Written {
  const { request, model } = outgoing;
  const { body } = request;
  const changes = new Map<string, string | Buffer | null>();
  for (const [name, value] of Object.entries(named(outgoing)))
    changes.set(name, value === null ? null : JSON.stringify(value));
  const refused = [...model.dialect.refuses, ...outgoing.refusedFields].filter((name) => body[name] !== undefined);
  for (const [name, value] of Object.entries(outgoing.added ?? {})) changes.set(name, JSON.stringify(value));
  for (const name of Object.keys(body)) {
    const isCloudField = name === "betas" || (CLOUD_FIELDS.includes(name) && !changes.has(name));
    if (isControlField(name, body[name]) || isCloudField) changes.set(name, null);
  }
  // Some clients name it in the path alone.
  if ((body.stream === true) !== request.chat.isStream) changes.set("stream", String(request.chat.isStream));
  for (const [name, value] of Object.entries(outgoing.tierFields ?? {})) changes.set(name, JSON.stringify(value));
  for (const name of refused) changes.set(name, null);
  conversion.leaveOut(refused);
  const maxTokens = outputCap(body.max_tokens, outgoing);
  if (maxTokens !== body.max_tokens) changes.set("max_tokens", String(maxTokens));
  if (model.dialect.takesForcedTools === false && forcesTool(body.tool_choice)) {
    changes.set("tool_choice", JSON.stringify(unforced(body.tool_choice as JsonObject, conversion)));
  }
  const turns = body.messages as readonly Turn[];
  const stripper = stripperOf(outgoing, conversion);
  const own = adaptTurns(turns, { ...outgoing, isNative: true }, conversion);
  const adapted = stripper === null ? own : (stripper.marks(own) as readonly Turn[]);
  if (stripper !== null) stripFields(body, stripper, changes);
  if (adapted !== turns) changes.set("messages", writeJson(adapted));
  const isHistoryStripped = outgoing.refusedFields.includes(THINKING_HISTORY);
  const wish = { body, turns: adapted, model, maxTokens, isHistoryStripped };
  for (const [name, value] of Object.entries(adaptThinking(wish, conversion))) {
    if (!refused.includes(name)) changes.set(name, value === null ? null : JSON.stringify(value));
  }
  spliceCacheMarks(outgoing, changes);
  return { body: spliceBody(request.source, changes), droppedFields: refused };
}

function stripFields(
  body: JsonObject,
  { marks, tools }: NonNullable<ReturnType<typeof stripperOf>>,
  changes: Map<string, string | Buffer | null>,
): void {
  for (const [name, strip] of [
    ["system", marks],
    ["tools", tools],
    [CACHE_CONTROL, marks],
  ] as const) {
    const value = name === CACHE_CONTROL ? { [CACHE_CONTROL]: body[name] } : body[name];
    const left = strip(value);
    if (left === value) continue;
    changes.set(name, JSON.stringify(name === CACHE_CONTROL ? (left as JsonObject)[CACHE_CONTROL] : left));
  }
}

function writeConverted(outgoing: Outgoing, conversion: Conversion): Written {
  const { request, model, refusedFields } = outgoing;
  const { system, turns } = writeTurns(request.chat.messages, { model, conversion });
  const { fields, instructions, dropped } = writeFields({ ...outgoing, turns }, conversion);
  const blocks = [...system, ...instructions];
  const body: JsonObject = {
    ...withoutNull(named(outgoing)),
    ...(blocks.length === 0 ? {} : { system: blocks }),
    ...fields,
    ...outgoing.tierFields,
    messages: adaptTurns(turns, { ...outgoing, request: { ...request, body: fields }, isNative: false }, conversion),
  };
  const names = [...model.dialect.refuses, ...refusedFields].filter((name) => body[name] !== undefined);
  conversion.leaveOut(names);
  const sent = withCacheMarks(
    outgoing,
    Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name))),
  );
  return { body: Buffer.from(JSON.stringify(sent)), droppedFields: [...dropped, ...names] };
}

function withoutNull(fields: Readonly<Record<string, string | null>>): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}

// The headers of the Messages format that go to a provider: the version, and the betas a client asked for.

/** A client may choose among these; another version could change the response's shape. */
const VERSIONS: ReadonlySet<unknown> = new Set(["2023-06-01", "2026-10-21"]);
/** The one that knows every field conversion may write. */
const USUAL_VERSION = "2023-06-01";
function nativeHeaders(outgoing: Outgoing, conversion: Conversion): Readonly<Record<string, string>> {
  const version = outgoing.request.headers?.["anthropic-version"]?.trim();
  const betas = betasFor(outgoing, conversion);
  return {
    "anthropic-version": VERSIONS.has(version) ? (version as string) : USUAL_VERSION,
    ...(betas.length === 0 ? {} : { [BETA_HEADER]: betas.join(",") }),
  };
}

/** The format knows no tier but the usual one; others come with a contract. */
export function tierFields(tier: AskedServiceTier): JsonObject | null {
  return tier === "default" ? { [SERVICE_TIER]: "standard_only" } : null;
}

/** Parts of a request that no top-level field names but that a provider may refuse by themselves. */
const SEPARABLE: ReadonlySet<string> = new Set([THINKING_HISTORY, PREFILL, BETA_HEADER, CACHE_CONTROL]);

/** Fields that conversion writes for a wish that can go unfulfilled: thinking, effort, the name of a user. */
const WRITTEN_BY_US: ReadonlySet<string> = new Set(["thinking", "output_config", "metadata"]);

/** Native requests lose only what the client sent; converted ones also what conversion added. */
export function mayLeaveOut(field: string, { body, isNative }: SentRequest): boolean {
  if (SEPARABLE.has(field)) return true;
  if (isNestedPart(field)) return isNative;
  if (field === "output_config" && hasAnswerForm(body)) return false;
  if (WRITTEN_BY_US.has(field) && (!isNative || body[field] === undefined)) return true;
  return body[field] !== undefined && !ESSENTIAL_FIELDS.has(field);
}

/** Effort can be done without; the form of the answer, which stands in the same field, cannot. */
function hasAnswerForm({ output_config: output, response_format: format }: JsonObject): boolean {
  return format !== undefined || (isObject(output) && output.format !== undefined);
}

/** One page holds them all: no vendor has a thousand. */
const MODELS_PAGE = 1_000;

/** An address with a query of its own gets no second one. */
export function listRequest({ hasQuery }: { readonly hasQuery: boolean }): ListRequest {
  const page = hasQuery ? "" : `?limit=${MODELS_PAGE}`;
  return { path: `/v1/models${page}`, headers: { "anthropic-version": USUAL_VERSION } };
}
