// Model servers that people run themselves: one row for each, with its usual port and how it tells what it has. A server
// is recognised by what only it answers, since any program may sit on its port.

import { CAPABILITIES, type Capability, type Endpoint } from "../../core/model.ts";
import { isObject, type JsonObject } from "../../formats/json/fields.ts";

/** A model as its server describes it. */
export interface FoundModel {
  /** The server's own name for it. */
  readonly upstream: string;
  /** Context window; null if the server does not say. */
  readonly context: number | null;
  readonly capabilities: readonly (Capability | Endpoint)[];
  /** Capabilities that the server says nothing of, neither yes nor no. */
  readonly untold: readonly Capability[];
  /** Advice before the server is used; null when there is none. */
  readonly note: string | null;
}

/** The status and JSON of an answer; null when there was none in time. */
export type AskServer = (
  path: string,
  body?: object,
) => Promise<{ readonly status: number; readonly json: unknown } | null>;

/** Facts that a server gave about itself. Details cost a call for each model. */
export interface ServerReport {
  readonly needsKey: boolean;
  readonly models: readonly FoundModel[];
}

export interface LocalServer {
  readonly id: string;
  readonly name: string;
  /** Kind of the provider that the server becomes. */
  readonly kind: string;
  readonly port: number;
  /** Returns null for another kind of server. */
  find(ask: AskServer, hasDetails: boolean): Promise<ServerReport | null>;
}

/** In this order at an address that may be any of them: all of them answer what vLLM is known by, or nearly. */
export const LOCAL_SERVERS: readonly LocalServer[] = [
  { id: "ollama", name: "Ollama", kind: "ollama", port: 11434, find: findOllama },
  { id: "lmstudio", name: "LM Studio", kind: "openai", port: 1234, find: findLmStudio },
  { id: "llamacpp", name: "llama.cpp", kind: "openai", port: 8080, find: findLlamaCpp },
  { id: "vllm", name: "vLLM", kind: "openai", port: 8000, find: findVllm },
];

/** Nobody has more models on one machine; a hostile server might list more. */
const MODELS_MAX = 500;
/** Calls at once to one server. */
const DETAILS_AT_ONCE = 8;

async function findOllama(ask: AskServer, hasDetails: boolean): Promise<ServerReport | null> {
  const tags = await ask("/api/tags");
  const rows = listIn(tags?.json, "models");
  if (tags?.status !== 200 || rows === null) return null;
  const names = rows
    .map(({ model, name }) => ({ id: model ?? name }))
    .filter(isNamed)
    .map(({ id }) => id);
  if (!hasDetails) return { needsKey: false, models: names.map((name) => plain(name)) };
  const running = await ask("/api/ps");
  const loaded = new Map((listIn(running?.json, "models") ?? []).map((row) => [row.model, count(row.context_length)]));
  const models: FoundModel[] = [];
  for (let at = 0; at < names.length; at += DETAILS_AT_ONCE) {
    const part = names.slice(at, at + DETAILS_AT_ONCE);
    const shown = await Promise.all(part.map((model) => ask("/api/show", { model })));
    models.push(...part.map((name, index) => ollamaModel(name, shown[index]?.json, loaded.get(name) ?? null)));
  }
  return { needsKey: false, models };
}

/** Ollama cuts prompts to this unless model, server or memory say otherwise, and does not tell which. */
const OLLAMA_CONTEXT = 4096;
const OLLAMA_CAPABILITIES: Readonly<Record<string, Capability>> = {
  tools: "tools",
  vision: "vision",
  thinking: "reasoning",
};

function ollamaModel(upstream: string, shown: unknown, loadedContext: number | null): FoundModel {
  if (!isObject(shown)) return plain(upstream, "Ollama did not describe it.");
  const info = isObject(shown.model_info) ? shown.model_info : {};
  const most = count(Object.entries(info).find(([name]) => name.endsWith(".context_length"))?.[1]);
  const told = Array.isArray(shown.capabilities) ? shown.capabilities.map(String) : [];
  if (told.includes("embedding"))
    return { upstream, context: most, capabilities: ["embeddings"], untold: [], note: null };
  const written = /^num_ctx\s+(\d+)/m.exec(typeof shown.parameters === "string" ? shown.parameters : "")?.[1];
  const used = count(Number(written)) ?? loadedContext;
  const context = used ?? Math.min(OLLAMA_CONTEXT, most ?? OLLAMA_CONTEXT);
  const capabilities = [...told.flatMap((name) => OLLAMA_CAPABILITIES[name] ?? []), "json" as const];
  const note =
    used === null && (most ?? 0) > context
      ? `Ollama cuts prompts to ${context} tokens unless num_ctx or OLLAMA_CONTEXT_LENGTH says more; the model takes ${most}.`
      : null;
  return { upstream, context, capabilities, untold: [], note };
}

async function findLmStudio(ask: AskServer): Promise<ServerReport | null> {
  const listed = await ask("/api/v0/models");
  const rows = listIn(listed?.json, "data");
  if (listed?.status !== 200 || rows === null) return null;
  return { needsKey: false, models: rows.filter(isNamed).map(lmStudioModel) };
}

function lmStudioModel({ id, type, capabilities, ...row }: NamedRow): FoundModel {
  const context = count(row.loaded_context_length) ?? count(row.max_context_length);
  if (type === "embeddings") return { upstream: id, context, capabilities: ["embeddings"], untold: [], note: null };
  const isTold = Array.isArray(capabilities);
  const hasTools = isTold && capabilities.includes("tool_use");
  const own: Capability[] = [...(hasTools ? ["tools" as const] : []), ...(type === "vlm" ? ["vision" as const] : [])];
  return { upstream: id, context, capabilities: [...own, "json"], untold: isTold ? [] : ["tools"], note: null };
}

/** With a key of its own it still lists its model, and says nothing more. */
async function findLlamaCpp(ask: AskServer): Promise<ServerReport | null> {
  const [listed, props] = await Promise.all([ask("/v1/models"), ask("/props")]);
  const rows = listIn(listed?.json, "data")?.filter(isNamed) ?? [];
  if (listed?.status !== 200 || !rows.some(({ owned_by: owner }) => owner === "llamacpp")) return null;
  const told = isObject(props?.json) && props.status === 200 ? props.json : {};
  const settings = isObject(told.default_generation_settings) ? told.default_generation_settings : {};
  const modalities = isObject(told.modalities) ? told.modalities : {};
  const caps = isObject(told.chat_template_caps) ? told.chat_template_caps : {};
  const capabilities: Capability[] = [
    ...(caps.supports_tools === true || caps.supports_tool_calls === true ? ["tools" as const] : []),
    ...(modalities.vision === true ? ["vision" as const] : []),
    "json",
  ];
  const untold: readonly Capability[] = Object.keys(caps).length === 0 ? ["tools"] : [];
  const models = rows.map(({ id, meta }) => {
    const trained = isObject(meta) ? count(meta.n_ctx_train) : null;
    return { upstream: id, context: count(settings.n_ctx) ?? trained, capabilities, untold, note: null };
  });
  return { needsKey: props?.status === 401, models };
}

const VLLM_NOTE = "vLLM doesn't tell if it takes tools. Tick tools only if it was started with a tool-call parser.";

/** Finds a vLLM server. Anybody may read its version, but its models need the key that it was started with. */
async function findVllm(ask: AskServer): Promise<ServerReport | null> {
  const [listed, version] = await Promise.all([ask("/v1/models"), ask("/version")]);
  const isVersioned = isObject(version?.json) && typeof version.json.version === "string";
  if (listed?.status === 401 && isVersioned) return { needsKey: true, models: [] };
  const rows = listIn(listed?.json, "data")?.filter(isNamed) ?? [];
  if (listed?.status !== 200 || !rows.some(({ owned_by: owner }) => owner === "vllm")) return null;
  const models = rows.map(({ id, max_model_len: length }): FoundModel => {
    return { upstream: id, context: count(length), capabilities: ["json"], untold: CAPABILITIES, note: VLLM_NOTE };
  });
  return { needsKey: false, models };
}

function plain(upstream: string, note: string | null = null): FoundModel {
  return { upstream, context: null, capabilities: [], untold: CAPABILITIES, note };
}

function listIn(json: unknown, name: string): readonly JsonObject[] | null {
  const list = isObject(json) ? json[name] : null;
  return Array.isArray(list) ? list.slice(0, MODELS_MAX).filter(isObject) : null;
}

type NamedRow = JsonObject & { readonly id: string };

/** Names are shown in terminals, which obey control characters. */
function isNamed(row: JsonObject): row is NamedRow {
  return typeof row.id === "string" && /^[^\p{Cc}]{1,200}$/u.test(row.id);
}

/** A count of tokens that can be true. */
function count(value: unknown): number | null {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 && value <= 100_000_000 ? value : null;
}
