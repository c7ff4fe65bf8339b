// A Messages request for a provider that speaks the format. It is the client's own request with the necessary changes,
// or one converted from chat-completions.

import { forcesTool } from "../../core/chat.ts";
import type { AskedServiceTier } from "../../core/money.ts";
import { Conversion, ESSENTIAL_FIELDS, unconvertible } from "../convert/conversion.ts";
import type { Outgoing, ProviderRequest, RequestBody, SentRequest } from "../format.ts";
import { isObject, type JsonObject } from "../json/fields.ts";
import { spliceBody, writeJson } from "../json/splice.ts";
import type { ListRequest } from "../listing.ts";
import { SERVICE_TIER } from "../provider/service-tier.ts";
import { isControlField } from "../service/controls.ts";
import type { Turn } from "./blocks.ts";
import { CACHE_CONTROL, spliceCacheMarks, withCacheMarks } from "./cache-marks.ts";
import { BETA_HEADER, PREFILL, THINKING_HISTORY } from "./errors.ts";
import { outputCap, unforced, writeFields } from "./from-chat/fields.ts";
import { adaptThinking } from "./from-chat/thinking.ts";
import { writeTurns } from "./from-chat/turns.ts";
import { adaptTurns } from "./history.ts";

const PATH = "/v1/messages";

/** A client's own request, as it came but for what this model would refuse. */
export function passAnthropicRequest(outgoing: Outgoing): ProviderRequest {
  return written(writeNative, outgoing, nativeHeaders(outgoing));
}

/** A request in the internal shape. */
export function writeAnthropicRequest(outgoing: Outgoing): ProviderRequest {
  return written(writeConverted, outgoing, { "anthropic-version": USUAL_VERSION });
}

function written(
  write: RequestWriter,
  outgoing: Outgoing,
  headers: ProviderRequest["headers"] & object,
): ProviderRequest {
  const conversion = new Conversion();
  const { body, droppedFields } = write(outgoing, conversion);
  if (conversion.refusals.length > 0) throw unconvertible(conversion.refusals);
  const conversions = conversion.notes;
  return {
    path: PATH,
    body,
    droppedFields,
    headers,
    ...(conversions.length === 0 ? {} : { conversions }),
  };
}

type Written = Pick<ProviderRequest, "body" | "droppedFields">;
type RequestWriter = (outgoing: Outgoing, conversion: Conversion) => Written;

/** The original bytes; a field is rewritten only when this model would refuse it as it is. */
function writeNative(outgoing: Outgoing, conversion: Conversion): Written {
  const { request, model } = outgoing;
  const { body } = request;
  const changes = new Map<string, string | Buffer | null>([["model", JSON.stringify(model.upstream)]]);
  const refused = [...model.dialect.refuses, ...outgoing.refusedFields].filter((name) => body[name] !== undefined);
  for (const [name, value] of Object.entries(outgoing.added ?? {})) changes.set(name, JSON.stringify(value));
  for (const name of Object.keys(body)) if (isControlField(name) || name === "betas") changes.set(name, null);
  for (const [name, value] of Object.entries(outgoing.tierFields ?? {})) changes.set(name, JSON.stringify(value));
  for (const name of refused) changes.set(name, null);
  conversion.leaveOut(refused);
  const maxTokens = outputCap(body.max_tokens, outgoing);
  if (maxTokens !== body.max_tokens) changes.set("max_tokens", String(maxTokens));
  if (model.dialect.takesForcedTools === false && forcesTool(body.tool_choice)) {
    changes.set("tool_choice", JSON.stringify(unforced(body.tool_choice as JsonObject, conversion)));
  }
  const turns = body.messages as readonly Turn[];
  const adapted = adaptTurns(turns, { ...outgoing, isNative: true }, conversion);
  if (adapted !== turns) changes.set("messages", writeJson(adapted));
  const isHistoryStripped = outgoing.refusedFields.includes(THINKING_HISTORY);
  const wish = { body, turns: adapted, model, maxTokens, isHistoryStripped };
  for (const [name, value] of Object.entries(adaptThinking(wish, conversion))) {
    if (!refused.includes(name)) changes.set(name, value === null ? null : JSON.stringify(value));
  }
  spliceCacheMarks(outgoing, changes);
  return { body: spliceBody(request.source, changes), droppedFields: refused };
}

function writeConverted(outgoing: Outgoing, conversion: Conversion): Written {
  const { request, model, refusedFields } = outgoing;
  const { system, turns } = writeTurns(request.chat.messages, { model, conversion });
  const { fields, instructions, dropped } = writeFields({ ...outgoing, turns }, conversion);
  const blocks = [...system, ...instructions];
  const body: JsonObject = {
    model: model.upstream,
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

// The headers of the Messages format that go to a provider: the version, and the betas a client asked for.

/** A client may choose among these; another version could change the response's shape. */
const VERSIONS: ReadonlySet<unknown> = new Set(["2023-06-01", "2026-10-21"]);
/** The one that knows every field conversion may write. */
const USUAL_VERSION = "2023-06-01";
/** Betas that fit into a header: a client must not smuggle a second header in. */
const BETA = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;
/** Goes with the client's own sign-in, which is not what the provider sees. */
const SIGN_IN_BETA = /^oauth-/;

function nativeHeaders({ request, refusedFields }: Outgoing): Readonly<Record<string, string>> {
  const version = request.headers?.["anthropic-version"]?.trim();
  const betas = refusedFields.includes(BETA_HEADER) ? [] : readBetas(request);
  return {
    "anthropic-version": VERSIONS.has(version) ? (version as string) : USUAL_VERSION,
    ...(betas.length === 0 ? {} : { [BETA_HEADER]: betas.join(",") }),
  };
}

/** From the header, and from the body, where some clients put them. */
function readBetas({ headers, body }: RequestBody): readonly string[] {
  const named = (headers?.[BETA_HEADER] ?? "").split(",").map((beta) => beta.trim());
  const listed: readonly unknown[] = Array.isArray(body.betas) ? body.betas : [];
  const betas = [...named, ...listed.filter((beta) => typeof beta === "string")];
  return [...new Set(betas)].filter((beta) => BETA.test(beta) && !SIGN_IN_BETA.test(beta));
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
