// Joins a client's format with a provider's. When both are the same, the original bytes are sent; otherwise the request
// is converted through the internal shape. Only this file decides which.

import type { FormatName, HostedModel } from "../core/model.ts";
import type { Effort } from "../core/requests/effort.ts";
import { nearestEffort } from "./convert/effort.ts";
import { writeEndpointRequest } from "./endpoints/write-request.ts";
import type {
  CallFormat,
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
  StreamWriter,
  WholeResponse,
} from "./format.ts";
import type { JsonObject } from "./json/fields.ts";
import { SERVICE_TIER, writeServiceTier } from "./provider/service-tier.ts";

/** A request with the format it came in. */
export interface FormattedRequest {
  readonly format: CallFormat;
  readonly request: ClientRequest;
}

/** The same format at both ends: bytes and events are passed on instead of converted. */
function isSame(client: CallFormat, provider: FormatName | undefined): boolean {
  return client.name === provider;
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
    return writeEndpointRequest({ request, model, refusedFields }, format.endpoint, provider);
  }
  const tier = writeServiceTier({ asked: request.chat.serviceTier, model, refusedFields }, provider);
  const written = writeChatRequest({ format, request }, provider, { ...terms, tierFields: tier.fields });
  return tier.notes.length === 0
    ? written
    : { ...written, conversions: [...(written.conversions ?? []), ...tier.notes] };
}

function writeChatRequest(
  { format, request }: { readonly format: ClientFormat; readonly request: ClientRequest },
  provider: ProviderFormat,
  terms: Terms & Pick<Outgoing, "tierFields">,
): ProviderRequest {
  const { model, outputCap = null, cacheHelp = null, dropsThinking = false, tierFields = null } = terms;
  const effort = effortAt(model, terms.effort ?? null);
  const refusedFields = terms.refusedFields.filter((name) => name !== SERVICE_TIER);
  const sent = { model, outputCap, refusedFields, cacheHelp, dropsThinking, tierFields };
  if (isSame(format, provider.name)) {
    const added = effort === null ? undefined : provider.effortFields?.(effort, { body: request.body, model });
    return provider.passRequest({ request: withFields(request, added), added, ...sent });
  }
  const chat = format.toChat(request, model);
  const added = effort === null ? undefined : { reasoning_effort: effort };
  const written = provider.writeRequest({ request: withFields(chat, added), added, ...sent });
  return chat.conversions.length === 0
    ? written
    : { ...written, conversions: [...chat.conversions, ...(written.conversions ?? [])] };
}

/** The effort as this host takes it; null where it takes none. */
function effortAt({ capabilities, dialect }: HostedModel, effort: Effort | null): Effort | null {
  if (effort === null || !capabilities.has("reasoning") || dialect.refuses.includes("reasoning_effort")) return null;
  return nearestEffort(effort, dialect);
}

function withFields<Request extends RequestBody>(request: Request, added: JsonObject | undefined): Request {
  return added === undefined ? request : { ...request, body: { ...request.body, ...added } };
}

/** Tells whether a request may go to the model once more, without a field its provider has refused by name. */
export function mayLeaveOut(
  field: string,
  { format, request }: FormattedRequest,
  { provider, model }: { readonly provider: ProviderFormat; readonly model: HostedModel },
): boolean {
  if (field === SERVICE_TIER) return request.chat.serviceTier !== undefined;
  // Anything else changes what is asked for.
  if (format.endpoint !== undefined) return field === "user" && request.body.user !== undefined;
  const isNative = isSame(format, provider.name);
  const { body, chat } = isNative ? request : format.toChat(request, model);
  return provider.mayLeaveOut(field, { body, chat, isNative });
}

/** A whole response as its provider sent it. */
export function readProviderResponse(format: CallFormat, provider: ProviderFormat, bytes: Buffer): ResponseReading {
  return format.endpoint === undefined ? provider.readResponse(bytes) : format.readResponse(bytes);
}

/** A whole response for the client. */
export function writeClientResponse(
  format: CallFormat,
  response: WholeResponse,
  { context, additions }: { readonly context: ResponseContext; readonly additions: ResponseAdditions },
): Buffer {
  return format.endpoint !== undefined || isSame(format, response.native.format)
    ? format.passResponse(response, context, additions)
    : format.writeResponse(response, context, additions);
}

/** The writer of a stream; the first chunks tell whether their events are passed on. */
export function createClientStream(format: CallFormat, context: ResponseContext, options: StreamOptions): StreamWriter {
  if (format.endpoint !== undefined) throw new Error(`${format.name} is never streamed`);
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
