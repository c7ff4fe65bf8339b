// The contract of a wire format. A format is a codec with two ends: clients (read a request, write a response) and
// providers (write a request, read a response). Between them is chat-completions. `bridge.ts` joins the ends.

import type { Catalog } from "../catalog/catalog.ts";
import type { ChatRequest, Usage } from "../core/chat.ts";
import type { Controls } from "../core/decision.ts";
import type { GatewayError } from "../core/errors.ts";
import type { Endpoint, FormatName, HostedModel, Model } from "../core/model.ts";
import type { AskedServiceTier, ServiceTier } from "../core/money.ts";
import type { Effort } from "../core/requests/effort.ts";
import type { Note } from "../core/requests/notes.ts";
import type { OwnEndpoint } from "./endpoints/own-endpoint.ts";
import type { FileReferences } from "./file-references.ts";
import type { BytePieces } from "./json/byte-pieces.ts";
import type { JsonObject } from "./json/fields.ts";
import type { UnreadPart } from "./json/parse.ts";
import type { ModelListing } from "./listing.ts";
import type { FormBody, Upload } from "./media/upload.ts";
import type { InputBatch, MediaUse, StreamedAnswer } from "./media-use.ts";
import type { NativeBatches } from "./native-batches.ts";
import type { ClientPaths } from "./paths.ts";
import type { RateLimitHeaders } from "./provider/retry-after.ts";
import type { JsonSource } from "./scan/scan.ts";
import type { RepeatedChunk } from "./sse/event-pattern.ts";
import type { SseReader } from "./sse/reader.ts";
import type { CachedForm, CompletionForm, StoredForm } from "./stored-form.ts";
import type { SearchFields } from "./tools/searches.ts";

/** A codec for both ends. */
export type Format = ClientFormat & ProviderFormat;

/** A request as a client sent it: the parsed body with the bytes it came in, and what routing reads of it. */
export interface ClientRequest extends RequestBody, SearchFields<ClientRequest> {
  /** The format of `body` and `source`; a provider of the same format gets them as they are. */
  readonly format: FormatName;
  readonly controls: Controls;
  /** Reasons why only a provider of the client's own format can serve this; empty or absent when any can. */
  readonly nativeNeeds?: readonly string[];
  /** Reasons why a provider of the client's own format does more of it, such as tools that only it runs. */
  readonly nativeWishes?: readonly string[];
  /** Notes about parts that reading for routing has left out. */
  readonly notes?: readonly Note[];
  /** Absent where the body says everything. */
  readonly target?: RequestTarget;
  /** Set for a request of many inputs, each of which may fill the context window. */
  readonly batch?: InputBatch;
  /** Set for images and sound, which may be paid for by other units than tokens. */
  readonly media?: MediaUse;
  /** Set for a form with files. The body has its other fields. */
  readonly upload?: Upload | undefined;
}

/** The parts of a request beside its body. */
export interface RequestHead {
  readonly headers?: ClientHeaders | undefined;
  readonly target?: RequestTarget | undefined;
  readonly upload?: Upload | undefined;
}

/** Facts that some formats have in path and query instead of the body. */
export interface RequestTarget {
  readonly model: string;
  readonly isStream: boolean;
  /** The form of a stream: server-sent events, or one JSON array that arrives piece by piece. */
  readonly framing: "sse" | "json-array";
}

/** A request body, in whichever shape a codec is asked to write from. */
export interface RequestBody {
  readonly body: JsonObject;
  readonly source: JsonSource;
  readonly chat: ChatRequest;
  /** Headers that belong to the request, for a provider of the same format. */
  readonly headers?: ClientHeaders;
}

export type ClientHeaders = Readonly<Record<string, string | undefined>>;

/** A request in the internal shape, and what was changed or left out on the way to it. */
export interface ChatBody extends RequestBody {
  readonly conversions: readonly Note[];
}

/** The routing metadata as it appears in a response. Behaviour 6. */
export type ServiceObject = JsonObject;

/** Facts of the request that its response needs. */
export interface ResponseContext {
  readonly requestId: string;
  readonly modelId: string;
  readonly createdAtSeconds: number;
  /** The time at which it is asked, for formats that name the end of a response; it ends at once where left out. */
  readonly nowSeconds?: () => number;
  /** No other answer has it, unlike the request's id, which may be the client's own. */
  readonly answerId?: string;
  /** Set where later turns may continue the response: it is stored, or held by its connection. */
  readonly kept?: "stored" | "held";
  /** The input as estimated by routing, for formats that name it before the provider has counted. */
  readonly inputTokens?: number;
  /** The request that is answered; it restores names that had to be shortened for a provider. */
  readonly request?: ClientRequest;
}

/** The gateway's additions to a response. */
export interface ResponseAdditions {
  readonly service: ServiceObject;
  /** Given where the provider's own usage is missing or cannot be true. */
  readonly usage: Usage | null;
}

export interface StreamOptions {
  readonly service: ServiceObject;
  readonly wantsUsage: boolean;
}

/** The client's end of every endpoint, chat or not. */
export interface ClientEnd {
  readonly name: FormatName;
  /** Undefined for chat. */
  readonly endpoint?: Endpoint | undefined;
  /** Keeps idempotency keys of different formats apart. It goes into stored ids, so it never changes. */
  readonly idempotencyScope: string;
  /** The field that makes a request cheaper when it is smaller, for messages to the client: as a rule the output cap. */
  readonly outputCapField: string;
  readonly paths: ClientPaths;
  readonly habits: ClientHabits;
  /** The part of a long body whose texts stay unparsed until they are read; absent for none. */
  readonly unread?: UnreadPart;
  readRequest(source: JsonSource, body: JsonObject, head?: RequestHead): ClientRequest;
  /** Tells whether the prompt may go into a cache for an hour, which costs more. Says yes when in doubt. */
  mayCacheLong(request: ClientRequest): boolean;
  /** A response of this very format: the provider's bytes with only our own fields changed. */
  passResponse(response: WholeResponse, context: ResponseContext, additions: ResponseAdditions): Buffer;
  /** A response before it has begun, for formats whose responses can run without their client. */
  writeQueued?(context: ResponseContext): JsonObject;
  writeError(error: GatewayError, requestId: string): JsonObject;
  readonly models: ModelListWriter;
}

/** An endpoint other than chat: its requests go to the model that they name, and nothing is routed or converted. */
export interface PassThrough extends ClientEnd {
  readonly endpoint: Endpoint;
  /** The path at providers that have the endpoint; that of the endpoint when left out. */
  readonly providerPath?: string;
  /** Set where a form with files may be sent. */
  readonly takesUploads?: true;
  /** The content type of a whole answer; JSON when left out or null. */
  wholeType?(request: ClientRequest): string | null;
  /** Headers of its requests to providers, beside the usual ones. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Fields for a model that the client did not ask for. They may be left out where a provider refuses them. */
  added?(request: ClientRequest, model: HostedModel): JsonObject;
  readResponse(bytes: Buffer, request: ClientRequest): ResponseReading;
  /** Absent where answers are never streamed. */
  readonly streaming?: MediaStreaming;
  /** Set where an answer is not text, so that it cannot be kept for a repeated request. */
  readonly keepsNone?: true;
}

/** Answers of an endpoint other than chat that are passed on as they come. */
interface MediaStreaming {
  /** The reader of an answer, chosen by its content type; null where it is read whole. */
  reader(answer: StreamedAnswer, request: ClientRequest): StreamReader | null;
  writer(answer: Pick<StreamedAnswer, "contentType">, context: ResponseContext): StreamWriter;
}

/** The client's end of a codec for chat. */
export interface ClientFormat extends ClientEnd {
  readonly endpoint?: never;
  /** The request in the internal shape, written for this model. Throws `unconvertible` where that cannot be said. */
  toChat(request: ClientRequest, model: HostedModel): ChatBody;
  /** A response converted from the internal shape. */
  writeResponse(response: WholeResponse, context: ResponseContext, additions: ResponseAdditions): Buffer;
  streamWriter(context: ResponseContext, options: StreamOptions): StreamWriter;
  /** Passes the events of this very format on. Absent where the internal shape is the format itself. */
  passStream?(context: ResponseContext, options: StreamOptions): StreamWriter;
  /** A free count of input tokens, for formats that have one. */
  readonly counting?: {
    readRequest(body: JsonObject): Pick<ChatRequest, "messages" | "tools">;
    writeCount(inputTokens: number): JsonObject;
  };
  /** A body for the debug endpoint: `given` with the bare prompt laid over it. Absent where the endpoint's own is one. */
  withPrompt?(given: JsonObject, prompt: BarePrompt): JsonObject;
  /** For formats whose clients continue a response by its id. */
  readonly stored?: StoredForm;
  /** For formats whose clients have completions stored, to list and read them later. */
  readonly completions?: CompletionForm;
  /** For formats whose clients keep prompts to begin later requests with. */
  readonly cached?: CachedForm;
  /** For formats whose requests name files of the gateway. */
  readonly fileReferences?: FileReferences;
}

/** The format of a call. */
export type CallFormat = ClientFormat | PassThrough;

/** Habits of a format's clients beside the body. */
interface ClientHabits {
  /** The header that may carry the API key instead of `authorization`. */
  readonly keyHeader: string | null;
  /** Under which name, beside ours, they look for the request's id. */
  readonly requestIdHeader: string | null;
  /** Tells whether such a client sent a request to a path that all formats share. `body` is given once it is read. */
  isSentBy(headers: ClientHeaders, body?: JsonObject): boolean;
}

/** GET /v1/models in the client's own shape. */
export interface ModelListWriter {
  /** A second id of the router, for clients whose menu shows some names only. */
  readonly autoAlias?: string;
  list(models: readonly Model[], catalog: Catalog, query: Readonly<Record<string, string>>): JsonObject;
  one(model: Model, catalog: Catalog): JsonObject;
}

/** The debug endpoint's question as it was sent: the codec's reader checks it. */
export interface BarePrompt {
  /** Added as the newest message; null where the conversation already ends with it. */
  readonly prompt: unknown;
  readonly systemPrompt: unknown;
  readonly outputCap: unknown;
}

/** Turns chunks into the text of the client's stream. It keeps back the finishing chunk, which `end` completes. */
export interface StreamWriter {
  write(chunks: readonly ChatChunk[]): string;
  end(service: ServiceObject, usage: Usage): string;
  fail(error: GatewayError): string;
  /** Sent when the provider is silent for long; readers skip it. */
  readonly ping: string;
  /** Set where the answer is bytes, each written as one character. An error cannot be told in such an answer. */
  readonly isBinary?: true;
}

/** A request to send to a provider, and the model whose rules apply. */
export interface Outgoing {
  /** In the provider's own format for `passRequest`, in the internal shape for `writeRequest`. */
  readonly request: RequestBody;
  readonly model: HostedModel;
  /** An output cap to send although the client sent none; null or absent for none. */
  readonly outputCap?: number | null;
  /** Fields a provider has just refused by name; left out on the retry. */
  readonly refusedFields: readonly string[];
  /** Help for the host to cache the prompt; null or absent for none. */
  readonly cacheHelp?: CacheHelp | null;
  /** Leaves out the thinking of earlier turns, which this model would refuse. */
  readonly dropsThinking?: boolean;
  /** Top-level fields of `request.body` that the client did not send, and its bytes do not have. */
  readonly added?: JsonObject | undefined;
  /** Fields that ask the provider for a service tier; null or absent for none. */
  readonly tierFields?: JsonObject | null;
}

/** Changes what a prompt costs, never what the model sees. */
export interface CacheHelp {
  /** The part to mark, for hosts that keep only marked parts; null for none. */
  readonly marks: "instructions" | "conversation" | null;
  /** Shorter beginnings are not kept. */
  readonly tokensMin: number;
  /** Brings the requests of a session together, for hosts that take it; null for nothing. */
  readonly key: string | null;
}

/** A request as it goes over the wire. */
export interface ProviderRequest {
  readonly path: string;
  readonly body: Buffer | BytePieces | FormBody;
  /** Client fields that this model's host does not take. */
  readonly droppedFields: readonly string[];
  /** Everything that was changed or left out, in words without a capital: "dropped X: because Y". */
  readonly conversions?: readonly Note[];
  /** The service tier with a price of its own that the provider is asked for; absent for the usual one. */
  readonly serviceTier?: ServiceTier;
  /** Headers of the format itself, to be sent beside the provider's own. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The provider's end of a codec. */
export interface ProviderFormat {
  readonly name: FormatName;
  /** The paths of endpoints other than chat, or their own forms, where providers of the format have them. */
  readonly endpoints?: Readonly<Partial<Record<Endpoint, string | OwnEndpoint<ClientRequest, ProviderRequest>>>>;
  /** Tells whether the format has a way to say a part of this type of the internal shape. Absent where it has for any. */
  takesPart?(type: string): boolean;
  /** The client's own request: its bytes with only those fields changed that this model cannot take. */
  passRequest(outgoing: Outgoing): ProviderRequest;
  /** Fields that ask for an effort, for a request of the format itself. Absent where the format has no such thing. */
  effortFields?(effort: Effort, given: Pick<RequestBody, "body"> & { readonly model: HostedModel }): JsonObject;
  /** Fields that ask for a service tier; null where the format cannot. Absent where it has no tiers. */
  tierFields?(tier: AskedServiceTier): JsonObject | null;
  /** A request in the internal shape. Throws `unconvertible` when this format has no way to say it; another may have. */
  writeRequest(outgoing: Outgoing): ProviderRequest;
  /** Tells whether a request still asks for the same without a field that the provider has refused by name. */
  mayLeaveOut(field: string, sent: SentRequest): boolean;
  /** Requests of the same scope are refused the part as well. Absent where all are. */
  refusalScope?(part: string, request: ClientRequest): string;
  readResponse(bytes: Buffer): ResponseReading;
  /** `events` cuts the stream into events, by the provider's framing. */
  streamReader(events: SseReader): StreamReader;
  readError(bytes: Buffer): ProviderFault;
  /** Headers that say when a limit is full again, beside those every provider may send. */
  readonly rateLimitHeaders?: readonly RateLimitHeaders[];
  readonly listing: ModelListing;
  /** Absent where providers of the format run no batches. */
  readonly batches?: NativeBatches;
}

/** The request that a refused field was part of. */
export interface SentRequest extends Pick<RequestBody, "body" | "chat"> {
  /** Set where the client wrote the request in the provider's own format. */
  readonly isNative: boolean;
}

/** A provider's error, and what it means in our own words. Empty strings where the provider said nothing. */
export interface ProviderFault {
  readonly message: string;
  readonly code: string;
  readonly param: string;
  /** The prompt does not fit into the model's context window. */
  readonly isTooLong: boolean;
  /** The operator has not paid the provider. */
  readonly isUnpaid: boolean;
  /** The provider does not take the field that `param` names. */
  readonly isFieldRefused: boolean;
  /** The host refuses that part of any request, not of this one alone. */
  readonly isUnknown?: boolean;
  /** The code speaks of money: enough for advice to the operator, too little to judge by. */
  readonly mentionsBilling: boolean;
  /** The key or the region of the gateway is refused, whatever the status says. */
  readonly isGatewayRefused?: boolean;
  /** The wait that the body asks for; null or absent where it names none. */
  readonly retryAfterMs?: number | null;
}

/** A response that did not stream. Codecs convert it only when `completion` is read. */
export interface WholeResponse {
  /** In the internal shape. */
  readonly completion: JsonObject;
  readonly usage: Usage | null;
  /** Text, reasoning and tool-call arguments that were delivered, for estimating where usage is missing. */
  readonly outputText: string;
  /** The provider's own words. */
  readonly native: { readonly format: FormatName; readonly source: JsonSource };
  /** Set where `completion` says more than the provider's last words. */
  readonly isComposed?: true;
  toolCallIds(): readonly string[];
}

/** A failure is a value: the next model is tried. */
export type ResponseReading =
  | { readonly ok: true; readonly response: WholeResponse }
  | { readonly ok: false; readonly fault: ProviderFault };

/** One chunk of a stream in the internal shape, normalised. Without choices it says nothing in that shape. */
export interface ChatChunk {
  readonly json: Record<string, unknown>;
  readonly hasContent: boolean;
  readonly isFinish: boolean;
  /** The event it was read from; absent where the internal shape is the provider's own. */
  readonly native?: NativeEvent;
  /** A piece of an answer that is bytes. */
  readonly bytes?: Uint8Array;
  /** Set when it is like an earlier chunk but for some texts. A writer may use that instead of `json`. */
  readonly repeated?: RepeatedChunk;
}

/** An event as it came, to be passed on. */
export interface NativeEvent {
  readonly format: FormatName;
  readonly event: string;
  readonly data: string;
}

/** Reads one stream, however its bytes are cut. */
export interface StreamReader {
  push(bytes: Uint8Array): readonly ChatChunk[];
  /** To be called once at the end of the body. */
  end(): readonly ChatChunk[];
  readonly progress: StreamProgress;
  /** The ids of the tool calls begun so far. */
  toolCallIds(): readonly string[];
  /** The type of what the client gets; absent where that is the provider's. */
  readonly contentType?: string;
}

/** The part of a stream that has been seen. Never claims an end that did not come. */
export interface StreamProgress {
  readonly hasContent: boolean;
  /** Every choice that was begun has said how it ended. */
  readonly isFinished: boolean;
  readonly isDone: boolean;
  readonly usage: Usage | null;
  /** The usage came with the end or after it, so it counts the whole answer. */
  readonly isCounted: boolean;
  readonly fault: ProviderFault | null;
  /** An estimate of the output so far, for where usage is missing. */
  readonly outputTokens: number;
  /** Nothing but the end and the usage seems to be left. */
  readonly isEndInSight: boolean;
}
