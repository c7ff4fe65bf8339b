// LiteLLM's names of providers, as ours. A name that is not here is one that no provider of ours serves.

import { readBuiltin } from "../../catalog/builtin.ts";

/** A provider of a configuration, before it has an id. */
export interface ServedAs {
  readonly id: string;
  readonly kind: string;
  /** The usual address; null where the file must name one. */
  readonly baseUrl: string | null;
  /** LiteLLM's own variable for the key; null where none is needed. */
  readonly keyVariable: string | null;
  readonly isBuiltin: boolean;
  /** True where models cost nothing where the file names no price, because they run on the user's own machines. */
  readonly isOwn: boolean;
}

/** Names that differ from the id of the built-in provider. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  gemini: "google",
  together_ai: "together",
  fireworks_ai: "fireworks",
  dashscope: "qwen",
  text: "openai",
};

type OwnRow = Partial<ServedAs> & Pick<ServedAs, "kind">;

const OWN: Readonly<Record<string, OwnRow>> = {
  azure: { kind: "azure", keyVariable: "AZURE_API_KEY", isOwn: false },
  azure_ai: { kind: "azure", keyVariable: "AZURE_AI_API_KEY", isOwn: false },
  bedrock: { kind: "bedrock", isOwn: false },
  vertex_ai: { kind: "vertex", isOwn: false },
  ollama: { kind: "ollama", baseUrl: "http://127.0.0.1:11434" },
  ollama_chat: { id: "ollama", kind: "ollama", baseUrl: "http://127.0.0.1:11434" },
  hosted_vllm: { id: "vllm", kind: "openai" },
  vllm: { kind: "openai" },
  lm_studio: { id: "lm-studio", kind: "openai", baseUrl: "http://127.0.0.1:1234/v1" },
  llamafile: { kind: "openai", baseUrl: "http://127.0.0.1:8080/v1" },
  openai_like: { id: "openai-like", kind: "openai" },
  custom_openai: { id: "custom", kind: "openai" },
  litellm_proxy: { id: "litellm", kind: "openai", keyVariable: "LITELLM_PROXY_API_KEY", isOwn: false },
};

/** Finds the provider; null for a name that nothing of ours serves. */
export function servedAs(name: string): ServedAs | null {
  const builtin = readBuiltin().providers.find(({ id }) => id === (OTHER_NAMES[name] ?? name));
  if (builtin !== undefined) {
    const { id, kind, baseUrl, keyVariable } = builtin;
    return { id, kind, baseUrl, keyVariable, isBuiltin: true, isOwn: false };
  }
  const row = Object.hasOwn(OWN, name) ? OWN[name] : undefined;
  if (row === undefined) return null;
  return { id: name.replaceAll("_", "-"), baseUrl: null, keyVariable: null, isBuiltin: false, isOwn: true, ...row };
}

/** `openai/gpt-4o` in its two parts. A name alone belongs to the vendor of the catalogue's model, else to OpenAI. */
export function partsOf(model: string): { readonly prefix: string; readonly upstream: string } {
  const slash = model.indexOf("/");
  const prefix = model.slice(0, Math.max(slash, 0));
  if (slash > 0) return { prefix, upstream: model.slice(slash + 1) };
  const { models, aliases } = readBuiltin();
  const row = models.find(({ id }) => id === model || id === aliases[model]);
  if (row?.provider !== undefined) return { prefix: row.provider, upstream: model };
  const prefixes: readonly (readonly [RegExp, string])[] = [
    [/^claude/, "anthropic"],
    [/^gemini/, "gemini"],
  ];
  return { prefix: prefixes.find(([named]) => named.test(model))?.[1] ?? "openai", upstream: model };
}
