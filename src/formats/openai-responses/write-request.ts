// A Responses request for a provider that speaks the format: the client's own with the necessary changes, or one
// converted from chat-completions. Nothing is stored there, because the gateway keeps the state of conversations.

import type { HostedModel } from "../../core/model.ts";
import { type Effort, isEffort } from "../../core/requests/effort.ts";
import { Conversion, ESSENTIAL_FIELDS, unconvertible } from "../convert/conversion.ts";
import { nearestEffort } from "../convert/effort.ts";
import { detailsOf, isSealed } from "../convert/reasoning-details.ts";
import type { Outgoing, ProviderRequest, RequestBody, SentRequest } from "../format.ts";
import { isObject, type JsonObject, objectsIn } from "../json/fields.ts";
import { spliceBody, writeJson } from "../json/splice.ts";
import { CACHE_KEY, cacheKeyFor } from "../provider/cache-key.ts";
import { rawValue } from "../scan/scan.ts";
import { isControlField } from "../service/controls.ts";
import { REASONING_HISTORY } from "./faults.ts";
import { outputCap, writeFields } from "./from-chat/fields.ts";
import { writeInput } from "./from-chat/input.ts";
import { ENCRYPTED_REASONING, RESPONSES, wantsEncrypted } from "./items.ts";
import type { Item } from "./output-items.ts";

const PATH = "/responses";

/** Fields for what the gateway does itself; a provider that stores nothing could not. */
const OWN_FIELDS = ["previous_response_id", "conversation", "background"] as const;

type Splices = Map<string, string | Buffer | null>;

/** A client's own request: its bytes, but for what this model would refuse. */
export function passResponsesRequest(outgoing: Outgoing): ProviderRequest {
  const { request, model, refusedFields } = outgoing;
  const { body, source } = request;
  const conversion = new Conversion();
  const changes: Splices = new Map([["model", JSON.stringify(model.upstream)]]);
  for (const [name, value] of Object.entries(outgoing.added ?? {})) change(name, value, changes);
  for (const name of Object.keys(body)) if (isControlField(name, body[name])) changes.set(name, null);
  for (const [name, value] of Object.entries(outgoing.tierFields ?? {})) changes.set(name, JSON.stringify(value));
  for (const name of OWN_FIELDS) if (body[name] !== undefined) changes.set(name, null);
  if (body.store !== false) changes.set("store", "false");
  const cap = outputCap(body.max_output_tokens, outgoing);
  if (cap !== null && cap !== body.max_output_tokens) changes.set("max_output_tokens", String(cap));
  change("include", adaptInclude(body, model), changes);
  const input = adaptInput(body.input, outgoing, conversion);
  if (input !== null) changes.set("input", writeJson(input));
  change("reasoning", adaptEffort(body.reasoning, model, conversion), changes);
  for (const [from, to] of Object.entries(model.dialect.renames)) {
    const value = rawValue(source, from);
    if (value !== null) changes.set(from, null).set(to, value);
  }
  const refused = [...model.dialect.refuses, ...refusedFields].filter((name) => isGiven(name, body));
  for (const name of refused) dropRefused(name, body, changes);
  change(CACHE_KEY, cacheKeyFor(outgoing), changes);
  return written({ body: spliceBody(source, changes), dropped: [], refused }, conversion);
}

function change(name: string, value: unknown, changes: Splices): void {
  if (value !== null) changes.set(name, JSON.stringify(value));
}

export function effortFields(effort: Effort, { body }: Pick<RequestBody, "body">): JsonObject {
  return { reasoning: { ...(isObject(body.reasoning) ? body.reasoning : {}), effort } };
}

/** A request in the internal shape. */
export function writeResponsesRequest(outgoing: Outgoing): ProviderRequest {
  const { request, model, refusedFields } = outgoing;
  const conversion = new Conversion();
  const given = request.body;
  // A model's rules name the fields as chat-completions does, a provider's refusal as this format does.
  const refused = model.dialect.refuses.filter((name) => given[name] !== undefined);
  const kept = refused.reduce<JsonObject>(withoutField, given);
  const { fields, dropped } = writeFields(kept, outgoing, conversion);
  const stripsReasoning = refusedFields.includes(REASONING_HISTORY);
  const input = writeInput(request.chat.messages, { dialect: model.dialect, stripsReasoning, conversion });
  const cacheKey = cacheKeyFor(outgoing);
  const added = cacheKey === null ? {} : { [CACHE_KEY]: cacheKey };
  const whole: JsonObject = { model: model.upstream, input, ...fields, ...added, ...outgoing.tierFields };
  const late = [...model.dialect.refuses, ...refusedFields].filter((name) => isGiven(name, whole));
  const body = renamed(late.reduce<JsonObject>(withoutField, whole), model);
  return written({ body: Buffer.from(JSON.stringify(body)), dropped, refused: [...refused, ...late] }, conversion);
}

interface RequestParts {
  readonly body: ProviderRequest["body"];
  /** Fields without a place in the format, and fields that the model refuses. */
  readonly dropped: readonly string[];
  readonly refused: readonly string[];
}

function written({ body, dropped, refused }: RequestParts, conversion: Conversion): ProviderRequest {
  if (conversion.refusals.length > 0) throw unconvertible(conversion.refusals);
  conversion.leaveOut(refused);
  const conversions = conversion.notes;
  const droppedFields = [...dropped, ...refused];
  return { path: PATH, body, droppedFields, ...(conversions.length === 0 ? {} : { conversions }) };
}

// Fields by their path: a provider refuses `reasoning.summary` and takes the rest of `reasoning`.

function isGiven(path: string, body: JsonObject): boolean {
  const [name = "", inner] = path.split(".", 2);
  const value = body[name];
  return inner === undefined ? value !== undefined : isObject(value) && value[inner] !== undefined;
}

function withoutField(body: JsonObject, path: string): JsonObject {
  const [name = "", inner] = path.split(".", 2);
  const { [name]: value, ...rest } = body;
  return inner === undefined || !isObject(value) ? rest : { ...rest, [name]: withoutField(value, inner) };
}

function dropRefused(path: string, body: JsonObject, changes: Splices): void {
  const [name = "", inner] = path.split(".", 2);
  const value = body[name];
  changes.set(name, inner === undefined ? null : JSON.stringify(withoutField(value as JsonObject, inner)));
}

function renamed(body: JsonObject, { dialect }: HostedModel): JsonObject {
  const entries = Object.entries(body).map(([name, value]) => [dialect.renames[name] ?? name, value]);
  return Object.fromEntries(entries) as JsonObject;
}

// Changes to a client's own request; null for a field that can go as it is.

/** Asks for sealed reasoning, so that a stored response is of use in a later turn: the provider stores nothing. */
function adaptInclude(body: JsonObject, { capabilities }: HostedModel): readonly unknown[] | null {
  if (body.store === false || !capabilities.has("reasoning") || wantsEncrypted(body)) return null;
  return [...(Array.isArray(body.include) ? body.include : []), ENCRYPTED_REASONING];
}

function adaptEffort(reasoning: unknown, { dialect }: HostedModel, conversion: Conversion): JsonObject | null {
  if (!isObject(reasoning) || !isEffort(reasoning.effort) || dialect.efforts === undefined) return null;
  const effort = nearestEffort(reasoning.effort, dialect);
  if (effort === reasoning.effort) return null;
  conversion.note("option_changed", `asked for effort '${effort ?? "as usual"}' instead of '${reasoning.effort}'`);
  return effort === null ? withoutField(reasoning, "effort") : { ...reasoning, effort };
}

function adaptInput(
  input: unknown,
  { model, refusedFields }: Outgoing,
  conversion: Conversion,
): readonly unknown[] | null {
  if (!Array.isArray(input)) return null;
  const strips = refusedFields.includes(REASONING_HISTORY);
  const takesPlain = (model.dialect.reasoningHistory ?? "drop") !== "drop";
  const kept = input.filter((item) => !isReasoning(item) || (!strips && isUsable(item, takesPlain)));
  if (kept.length === input.length) return null;
  conversion.note("reasoning_dropped", "dropped reasoning that another model left behind: this one cannot open it");
  return kept;
}

function isReasoning(item: unknown): item is Item {
  return isObject(item) && item.type === "reasoning";
}

/** Reasoning that is not sealed stands for something the provider has stored, unless its host takes it in plain words. */
function isUsable({ encrypted_content: sealed }: Item, takesPlain: boolean): boolean {
  if (typeof sealed !== "string" || sealed === "") return takesPlain;
  return !isSealed(sealed);
}

// Values that a request still asks for when the field is left out.

/** Fields that the gateway adds, or writes for a wish that can go unfulfilled. */
const WRITTEN_BY_US: ReadonlySet<string> = new Set(["include", "store", "reasoning", "max_output_tokens"]);

export function mayLeaveOut(field: string, { body, chat, isNative }: SentRequest): boolean {
  if (field === REASONING_HISTORY) {
    return isNative
      ? objectsIn(body.input).some(isReasoning)
      : chat.messages.some((message) => detailsOf(RESPONSES, message).length > 0);
  }
  const [name = "", inner] = field.split(".", 2);
  if (ESSENTIAL_FIELDS.has(name)) return false;
  if (name === CACHE_KEY) return true;
  // The form of the answer stands in the same field as its verbosity.
  if (name === "text") return inner === "verbosity";
  return WRITTEN_BY_US.has(name) || body[name] !== undefined;
}
