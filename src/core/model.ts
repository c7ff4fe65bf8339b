// Models and providers, as the catalogue describes them.

import type { PriceSchedule, RateCard } from "./price.ts";
import type { Effort } from "./requests/effort.ts";
import type { Tier } from "./tiers.ts";

export const CAPABILITIES = ["tools", "vision", "json", "reasoning", "audio", "files"] as const;
export type Capability = (typeof CAPABILITIES)[number];

export const PROVIDER_ID = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

/**
 * Endpoints other than chat. A model that has one of these among its capabilities serves that endpoint alone: it is asked
 * for by name and never routed to.
 */
export const ENDPOINTS = [
  "embeddings",
  "rerank",
  "moderation",
  "images",
  "speech",
  "transcription",
  "realtime",
] as const;
export type Endpoint = (typeof ENDPOINTS)[number];

/** Endpoints whose models write tokens, so that the most of them counts. */
const WRITING: ReadonlySet<Endpoint> = new Set(["images", "speech", "transcription", "realtime"]);

/** Says that answers of the endpoint have output tokens, as those of chat do. */
export function writesTokens(endpoint: Endpoint | null): boolean {
  return endpoint === null || WRITING.has(endpoint);
}

export const TOOL_SCENARIOS = ["single", "parallel", "multi_turn", "web_search", "memory", "optional"] as const;
export type ToolScenario = (typeof TOOL_SCENARIOS)[number];

/** Function-calling scores in percent, overall and by scenario; a scenario never measured is absent. */
export type ToolScores = Readonly<{ overall: number } & Partial<Record<ToolScenario, number>>>;

/** Differences between a host and plain chat-completions. Data of the catalogue, merged from provider and model. */
export interface Dialect extends Partial<CrossFormatDialect> {
  /** The name under which an output cap is sent; `as-sent` leaves what the client wrote. */
  readonly outputCap: "as-sent" | "max_tokens" | "max_completion_tokens";
  /** Top-level fields the host refuses; dropped before sending. */
  readonly refuses: readonly string[];
  /** Top-level fields the host knows by another name. */
  readonly renames: Readonly<Record<string, string>>;
  /** Form of the tool-call ids that the host takes. */
  readonly toolIds: "any" | "alphanumeric-9" | "safe-40";
  /** Says that the host knows the role `developer`; for other hosts that role becomes `system`. */
  readonly hasDeveloperRole: boolean;
  /** Says that the host takes `name` on messages. */
  readonly takesMessageNames: boolean;
  /** Says that the host takes `stream_options`, which ask a stream for its usage. */
  readonly takesStreamOptions: boolean;
}

/** Differences that matter when a request or history of another format or model is written for this model. */
interface CrossFormatDialect {
  /** The values of `reasoning_effort` or `output_config.effort` the model takes; low, medium and high when left out. */
  readonly efforts: readonly Effort[];
  /** Treatment of `reasoning_content` and similar fields in history: `tool-turns` keeps them where tools are called. */
  readonly reasoningHistory: "keep" | "drop" | "tool-turns";
  /** Says that tool calls in history must carry a thought signature, at least the placeholder that the host accepts. */
  readonly needsThoughtSignatures: boolean;
  readonly takesTopK: boolean;
  readonly takesCacheControl: boolean;
  /** The form in which thinking is asked for: in Messages adaptive or by a budget, in Gemini by a level or a budget. */
  readonly thinking: "adaptive" | "level" | "budget" | "none";
  /** Messages format: the type of `thinking` that switches it off; `disabled` when left out. */
  readonly thinkingOff: "disabled" | "between_tools";
  /** Says whether a tool can be forced, by name or any; true when left out. */
  readonly takesForcedTools: boolean;
  /** Chat-completions: whether the host searches the web where a request has `web_search_options`. */
  readonly takesSearchOptions: boolean;
  /** Messages format: whether thinking is taken back only by the model and the account that wrote it. */
  readonly bindsThinking: boolean;
  /** Messages and Gemini: whether the last message may be the beginning of the answer. */
  readonly takesPrefill: boolean;
  /** Messages format: whether `role: "system"` may stand among the messages. */
  readonly takesSystemInMiddle: boolean;
  /** Messages format: whether `output_config.format` is known. */
  readonly takesOutputFormat: boolean;
  /** Messages format: the version that stands in the body where the model stands in the path, as Google has it. */
  readonly versionInBody: string;
  /** Messages format: values of `anthropic-beta` that the host refuses. */
  readonly refusesBetas: readonly string[];
  /** Gemini format: whether a form of the answer can be asked for together with tools. */
  readonly takesFormatWithTools: boolean;
}

/** Rules by which a host caches the beginnings of prompts, which makes repeated ones cheaper. Data of the catalogue. */
export interface PromptCache {
  /** Time that a beginning stays cached after its last use. */
  readonly seconds: number;
  /** Shorter beginnings are not kept. */
  readonly tokensMin: number;
  /** Says that the host caches only the parts that a request marks, at the price of a cache write. */
  readonly isExplicit?: boolean;
  /** Says that the host takes `prompt_cache_key`, which brings requests of one session together. */
  readonly takesKey?: boolean;
  /** Says that messages cached with one effort are not found with another. */
  readonly dependsOnEffort?: boolean;
}

/** Offer of a host for a model: its provider, upstream name, price and limits. */
export interface ModelHost {
  readonly provider: string;
  readonly upstream: string;
  /** The rates of the moment for which the catalogue was made. */
  readonly price: RateCard | null;
  /** Rates by date and hour; absent where the price has none. */
  readonly schedule?: PriceSchedule;
  readonly priceAsOf: string;
  readonly priceSource: string;
  readonly context: number;
  readonly maxOutput: number;
  readonly capabilities: ReadonlySet<Capability>;
  readonly dialect: Dialect;
  /** Absent where nothing is known to be cached, or cached input costs the same. */
  readonly cache?: PromptCache;
  /** The formats in which its provider has it, the usual one first; absent where that is all that the provider speaks. */
  readonly formats?: readonly FormatName[];
  /** The first day on which the host does not have the model any more, in UTC; absent where none is known. */
  readonly retires?: string;
  /** Says that nobody has proven the model, or this host of it, yet: its provider lists it and a feed prices it. */
  readonly isProvisional?: boolean;
  /** Set from that day on. Such a host is tried only where the model has no other. */
  readonly isRetired?: true;
  /** Place where requests are answered, and the treatment of their content. Only shown; absent where unknown. */
  readonly region?: string;
  readonly dataPolicy?: string;
  /** All places where requests may be answered, as a filter reads them; absent where unknown. */
  readonly regions?: readonly string[];
  /** Says that the host keeps no content at all. */
  readonly zeroRetention?: boolean;
  /** The two as the host's own row has them, which outweighs its provider. */
  readonly ownResidency?: Pick<ModelHost, "regions" | "zeroRetention">;
  /** Date and source of region and data policy; absent where the operator wrote them. */
  readonly policyAsOf?: string;
  readonly policySource?: string;
}

/** A model as one of its hosts serves it. Once a host is chosen, this is all that a request needs. */
export interface HostedModel extends ModelHost {
  readonly id: string;
  readonly name: string;
  /** Maker of the model: `owned_by` in the models list. */
  readonly vendor: string;
  /** Endpoint that the model serves instead of chat; null for a chat model. */
  readonly endpoint: Endpoint | null;
  readonly scores: ToolScores | null;
  /** The tier it belongs to when it is asked for directly. */
  readonly tier: Tier;
  /** Tokens of its tokenizer for each one of the estimate, which is made for OpenAI's; absent for as many. */
  readonly tokenFactor?: number;
  /** The host's name among those of the model: its provider, with the upstream name where that serves it twice. */
  readonly host: string;
  /** Names the model at this host, uniquely in the catalogue: the model's id for the first host, else id and host. */
  readonly hostKey: string;
}

/** A model of the catalogue. Its own fields are those of its first host. */
export interface Model extends HostedModel {
  /** Never empty. Those that can be called come first, in the order in which they were written. */
  readonly hosts: readonly HostedModel[];
}

/** The name of a wire format, as the format registry has it. Not a provider's kind: several kinds may share a format. */
export type FormatName = string;

/** Sign-in of a provider: a row of the table of schemes, and the name of the header where the key has its own. */
interface AuthScheme {
  readonly scheme: string;
  readonly name?: string;
  /** The service that a token is asked for, where the scheme has several. */
  readonly resource?: string;
}

/** Facts that follow from the kind of a provider: a row of the table of kinds. */
export interface ProviderKind {
  /** Name of the kind in configurations and in the API. */
  readonly kind: string;
  /** Name in the dashboard for a server of this kind; absent where none can be connected there by hand. */
  readonly label?: string;
  readonly format: FormatName;
  /** Names that requests may have for all providers of this kind. */
  readonly otherNames?: readonly string[];
  /** Says that the format has endpoints other than chat, such as embeddings. */
  readonly hasEndpoints?: boolean;
  /** The endpoints other than chat that it has, where it does not have all that the format has. */
  readonly endpoints?: readonly Endpoint[];
  /** Formats that such a provider may speak as well, with the same sign-in and framing. */
  readonly furtherFormats?: readonly FormatName[];
  readonly auth: AuthScheme;
  /** Way in which the provider cuts a stream into events: a row of the table of framings. */
  readonly framing: string;
  /** Layout of the provider's paths; absent where a path of the format follows the base URL. */
  readonly addressing?: "azure" | "ollama";
  /** Requests name what its operator called a deployment, so its list of models does not say what can be asked for. */
  readonly hasDeployments?: boolean;
  /** Base URL where none is configured; `{region}` stands for the region. */
  readonly usualUrl?: string;
  /** Fields of `signIn` that the kind knows. */
  readonly signInFields?: readonly string[];
  /** Differences between all servers of this kind and plain chat-completions. */
  readonly dialect?: Partial<Dialect>;
  /** Prompt cache that all servers of this kind have. */
  readonly cache?: PromptCache;
  /** The sandbox answers in this process and is never called over the network. */
  readonly transport: "network" | "sandbox";
}

export interface Timeouts {
  readonly connectMs: number;
  /** Until the first event of a stream; for plain answers it counts only where it was configured. */
  readonly firstByteMs: number;
  readonly idleMs: number;
  readonly totalMs: number;
  readonly isFirstByteConfigured: boolean;
}

/** One of several keys of a provider. */
export interface ProviderKey {
  /** Made from the key, so that every process has the same, and shown in its place. */
  readonly id: string;
  readonly key: string;
  /** Share of conversations that use this key, relative to the other keys. */
  readonly weight: number;
  /** The end of the key, where its operator wrote one. */
  readonly endsAtMs?: number;
}

export interface Provider extends ProviderKind {
  readonly id: string;
  readonly baseUrl: string;
  /** Azure: sent as `api-version`; with one, the paths are those of deployments. */
  readonly apiVersion?: string;
  /** All formats it speaks, the usual one first; absent where that is the format of its kind alone. */
  readonly formats?: readonly FormatName[];
  /** The first of its keys; null where it needs none. */
  readonly apiKey: string | null;
  /** The end of the only key, where its operator wrote one. */
  readonly keyEndsAtMs?: number;
  /** All of its keys; absent where there are not several. */
  readonly apiKeys?: readonly ProviderKey[];
  /** Extra headers, sent on every call as they are. */
  readonly headers: Readonly<Record<string, string>>;
  readonly timeouts: Timeouts;
  /** All places where it answers, and its promise to keep no content, as its operator says. */
  readonly regions?: readonly string[];
  readonly zeroRetention?: boolean;
  /** Region of a cloud. */
  readonly region?: string;
  /** Settings of the sign-in to a cloud, without secrets. */
  readonly signIn?: Readonly<Record<string, string>>;
  /** Permits the name to lead to a private network; false where nobody but the catalogue named the provider. */
  readonly allowsPrivate?: boolean;
  /** Says that calls carry our `traceparent`, for a provider that takes part in the same traces. */
  readonly takesTraceparent?: boolean;
  /** Says that it runs batches itself. */
  readonly hasBatches?: boolean;
}

/** The sign-in to a provider whose credentials end or are fetched, as one process knows it. */
export interface SignInState {
  /** The identity that the provider sees, such as a role or a service account; null where the cloud has not told it. */
  readonly identity: string | null;
  /** The end of the credentials; null where they have none. */
  readonly expiresAtMs: number | null;
  /** The reason why the last fetch failed; null where it did not. */
  readonly problem: string | null;
  /** False for a key or credentials that somebody has to replace before they end. */
  readonly isRenewed: boolean;
}

/** Clouds find credentials themselves, and some servers take their key in a header of another name. */
export function hasKey({ apiKey, headers, signIn, auth }: Provider): boolean {
  const isFound = signIn !== undefined || auth.scheme === "aws" || auth.scheme === "google";
  return isFound || apiKey !== null || Object.keys(headers).length > 0;
}

/** The format that most hosts speak. Few of them search for it. */
const CHAT = "openai-chat";

/** Tells whether a host that is asked in this format searches the web itself. */
export function runsSearches({ dialect }: Pick<HostedModel, "dialect">, format: FormatName): boolean {
  return format !== CHAT || dialect.takesSearchOptions === true;
}

/**
 * The formats in which a model can be asked, the usual one first. A model of the catalogue may name a format that the
 * server at another address does not speak.
 */
export function formatsOf({ formats = [] }: Pick<ModelHost, "formats">, provider: Provider): readonly FormatName[] {
  const spoken = provider.formats ?? [provider.format];
  const own = formats.filter((format) => spoken.includes(format));
  return own.length > 0 ? own : spoken;
}

/** A key that ends sooner is worth telling somebody. */
export const KEY_ENDS_SOON_MS = 7 * 86_400_000;
