// Joins a client's format with a provider's. When both are the same, the original bytes are sent; otherwise the request
// is converted through the internal shape. Only this file decides which.

import { type FormatName, type HostedModel, runsSearches } from "../core/model.ts";
import type { Effort } from "../core/requests/effort.ts";
import { nearestEffort } from "./convert/effort.ts";
import type { AnswerHeaders } from "./endpoints/own-endpoint.ts";
import { writeEndpointRequest } from "./endpoints/write-request.ts";
import type {
  CallFormat,
  ChatBody,
  ClientFormat,
  ClientRequest,
  Outgoing,
  ProviderFormat,
  ProviderRequest,
  RequestBody,
  ResponseAdditions,
  ResponseContext,
  ResponseReading,
  StreamOptions,
  StreamReader,
  StreamWriter,
  WholeResponse,
} from "./format.ts";
import { type JsonObject, objectsIn } from "./json/fields.ts";
import { sourceOf } from "./json/splice.ts";
import type { StreamedAnswer } from "./media-use.ts";
import { unreadable } from "./provider/faults.ts";
import { SERVICE_TIER, writeServiceTier } from "./provider/service-tier.ts";
import type { Searching } from "./tools/searches.ts";

/** A request with the format it came in. */
export interface FormattedRequest {
  readonly format: CallFormat;
  readonly request: ClientRequest;
}

/** The same format at both ends: bytes and events are passed on instead of converted. */
function isSame(client: CallFormat, provider: FormatName | undefined): boolean {
  return client.name === provider;
}

/** The same, unless the gateway runs a search that the host does not. */
function isPassed(
  { format, request }: FormattedRequest,
  { provider, model }: { readonly provider: ProviderFormat; readonly model: HostedModel },
): boolean {
  return isSame(format, provider.name) && (request.searching === undefined || runsSearches(model, format.name));
}

interface Terms extends Omit<Outgoing, "request" | "added" | "tierFields"> {
  /** The effort to ask for although the client asked for none; null or absent for none. */
  readonly effort?: Effort | null;
}

/** Throws `unconvertible` when the request cannot be said in the provider's format. */
export function writeProviderRequest(
  { format, request }: FormattedRequest,
  provider: ProviderFormat,
  terms: Terms,
): ProviderRequest {
  const { model, refusedFields } = terms;
  if (format.endpoint !== undefined) {
    return writeEndpointRequest({ request, model, refusedFields }, format, provider);
  }
  const tier = writeServiceTier({ chat: request.chat, model, refusedFields }, provider);
  const written = writeChatRequest({ format, request }, provider, { terms, tierFields: tier.fields });
  if (tier.asked !== undefined) return { ...written, serviceTier: tier.asked };
  return tier.notes.length === 0
    ? written
    : { ...written, conversions: [...(written.conversions ?? []), ...tier.notes] };
}

function writeChatRequest(
  { format, request }: { readonly format: ClientFormat; readonly request: ClientRequest },
  provider: ProviderFormat,
  { terms, tierFields }: { readonly terms: Terms; readonly tierFields: JsonObject | null },
): ProviderRequest {
  const { model, outputCap = null, cacheHelp = null, dropsThinking = false } = terms;
  const effort = effortAt(model, terms.effort ?? null);
  const refusedFields = terms.refusedFields.includes(SERVICE_TIER)
    ? terms.refusedFields.filter((name) => name !== SERVICE_TIER)
    : terms.refusedFields;
  const outgoing = (sent: RequestBody, added: JsonObject | undefined): Outgoing => {
    return {
      request: added === undefined ? sent : withFields(sent, added),
      added,
      model,
      outputCap,
      refusedFields,
      cacheHelp,
      dropsThinking,
      tierFields,
    };
  };
  if (isPassed({ format, request }, { provider, model })) {
    const added = effort === null ? undefined : provider.effortFields?.(effort, { body: request.body, model });
    return provider.passRequest(outgoing(request, added));
  }
  const chat = toChatOf(format, request, model);
  const written = provider.writeRequest(outgoing(chat, effort === null ? undefined : { reasoning_effort: effort }));
  return chat.conversions.length === 0
    ? written
    : { ...written, conversions: [...chat.conversions, ...(written.conversions ?? [])] };
}

/** The request in the internal shape, with the search that the gateway runs. */
export function toChatOf(format: ClientFormat, request: ClientRequest, model: HostedModel): ChatBody {
  const { searching } = request;
  if (searching === undefined) return format.toChat(request, model);
  return withSearch(format.toChat(searching.plain, model), searching);
}

function withSearch(written: ChatBody, { tools, forced, turns, state }: Searching<ClientRequest>): ChatBody {
  const given = objectsIn(written.body.tools);
  const messages = [...written.chat.messages, ...turns];
  const body: Record<string, unknown> = { ...written.body, messages };
  // Where the client has tools of its own, the search is no longer offered in the last round; else nothing may be called.
  body.tools = state === "last" && given.length > 0 ? given : [...given, ...tools.map(({ definition }) => definition)];
  if (state === "first" && forced !== null) body.tool_choice = { type: "function", function: { name: forced } };
  else if (state === "last" && given.length === 0) body.tool_choice = "none";
  else if (state !== "first" && body.tool_choice !== undefined && body.tool_choice !== "none")
    body.tool_choice = "auto";
  return { ...written, body, source: sourceOf(body), chat: { ...written.chat, messages } };
}

/** The effort as this host takes it; null where it takes none. */
function effortAt({ capabilities, dialect }: HostedModel, effort: Effort | null): Effort | null {
  if (effort === null || !capabilities.has("reasoning") || dialect.refuses.includes("reasoning_effort")) return null;
  return nearestEffort(effort, dialect);
}

function withFields({ body, source, chat, headers }: RequestBody, added: JsonObject): RequestBody {
  const request = { body: { ...body, ...added }, source, chat };
  return headers === undefined ? request : { ...request, headers };
}

/** Tells whether a request may go to the model once more, without a field its provider has refused by name. */
export function mayLeaveOut(
  field: string,
  { format, request }: FormattedRequest,
  { provider, model }: { readonly provider: ProviderFormat; readonly model: HostedModel },
): boolean {
  if (field === SERVICE_TIER) return request.chat.serviceTier !== undefined;
  // Anything else changes what is asked for.
  if (format.endpoint !== undefined) {
    return (field === "user" && request.body.user !== undefined) || format.added?.(request, model)[field] !== undefined;
  }
  const isNative = isPassed({ format, request }, { provider, model });
  const { body, chat } = isNative ? request : toChatOf(format, request, model);
  return provider.mayLeaveOut(field, { body, chat, isNative });
}

/** A whole response as its provider sent it. */
export function readProviderResponse(
  { format, request }: FormattedRequest,
  provider: ProviderFormat,
  { bytes, headers }: { readonly bytes: Buffer; readonly headers: AnswerHeaders },
): ResponseReading {
  if (format.endpoint === undefined) return provider.readResponse(bytes);
  const own = provider.endpoints?.[format.endpoint];
  if (typeof own !== "object") return format.readResponse(bytes, request);
  const usual = own.read(bytes, headers);
  return usual === null ? unreadable("the answer is not a JSON object") : format.readResponse(usual, request);
}

/** The reader of a streamed answer; null where an answer of this kind is read whole. */
export function streamReaderFor(
  { format, request }: FormattedRequest,
  provider: ProviderFormat,
  answer: StreamedAnswer,
): StreamReader | null {
  if (format.endpoint === undefined) return provider.streamReader(answer.events);
  return format.streaming?.reader(answer, request) ?? null;
}

/** A whole response for the client. */
export function writeClientResponse(
  format: CallFormat,
  response: WholeResponse,
  { context, additions }: { readonly context: ResponseContext; readonly additions: ResponseAdditions },
): Buffer {
  const isPassed = response.isComposed !== true && isSame(format, response.native.format);
  return format.endpoint !== undefined || isPassed
    ? format.passResponse(response, context, additions)
    : format.writeResponse(response, context, additions);
}

/** The writer of a stream; the first chunks tell whether their events are passed on. */
export function createClientStream(
  format: CallFormat,
  context: ResponseContext,
  { contentType = "", ...options }: StreamOptions & { readonly contentType?: string },
): StreamWriter {
  if (format.endpoint !== undefined) {
    if (format.streaming === undefined) throw new Error(`${format.name} is never streamed`);
    return format.streaming.writer({ contentType }, context);
  }
  const converting = format.streamWriter(context, options);
  if (format.passStream === undefined) return converting;
  const passing = format.passStream(context, options);
  let chosen: StreamWriter | null = null;
  return {
    ping: converting.ping,
    write(chunks) {
      if (chunks.length === 0) return "";
      chosen ??= isSame(format, chunks[0]?.native?.format) ? passing : converting;
      return chosen.write(chunks);
    },
    end: (service, usage) => (chosen ?? converting).end(service, usage),
    fail: (error) => (chosen ?? converting).fail(error),
  };
}

/** Says that a request with an Idempotency-Key can be answered twice. */
export function keepsAnswers(format: CallFormat): boolean {
  return format.endpoint === undefined || format.keepsNone === undefined;
}
