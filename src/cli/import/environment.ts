// Configurations from what is set in the environment, and for OpenRouter.

import { readBuiltin } from "../../catalog/builtin.ts";
import { command } from "../../config/package.ts";
import type { Json, JsonMap } from "../../core/overlay.ts";
import { type Imported, variable } from "./imported.ts";

type SetVariables = Readonly<Record<string, string | undefined>>;

const NO_COMMENTS: Imported["comments"] = { head: [], models: new Map() };

/** Every provider whose key is set. Keys stay in the environment. */
export function fromEnvironment(env: SetVariables): Imported {
  const providers: Record<string, Json> = {};
  const mapped: string[] = [];
  for (const { id, keyVariable } of readBuiltin().providers) {
    if (!env[keyVariable]) continue;
    providers[id] = { apiKey: `\${${keyVariable}}` };
    mapped.push(`${keyVariable}: providers.${id}`);
  }
  for (const [variable, id, entry] of OTHERS) {
    if (!env[variable]) continue;
    providers[id] = entry;
    mapped.push(`${variable}: providers.${id}`);
  }
  const unmapped = Object.entries(ELSEWHERE).flatMap(([what, why]) => (env[what] ? [{ what, why }] : []));
  const config: JsonMap = mapped.length === 0 ? {} : { providers };
  return { config, mapped, unmapped, notes: [], comments: NO_COMMENTS };
}

const OTHERS: readonly (readonly [variable: string, id: string, entry: JsonMap])[] = [
  ["OLLAMA_HOST", "ollama", { kind: "ollama", baseUrl: variable("OLLAMA_HOST") }],
  [
    "AZURE_OPENAI_ENDPOINT",
    "azure-openai",
    { kind: "azure", baseUrl: variable("AZURE_OPENAI_ENDPOINT"), apiKey: variable("AZURE_OPENAI_API_KEY") },
  ],
];

/** SetVariables of clients and clouds, which name no provider for certain. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  OPENAI_BASE_URL: "a server of your own needs an id and a kind: add it under providers",
  ANTHROPIC_BASE_URL: "a server of your own needs an id and a kind: add it under providers",
  GOOGLE_API_KEY: "the key of Gemini is GEMINI_API_KEY here",
  AWS_ACCESS_KEY_ID: "Bedrock needs a provider and prices, see docs/operate/clouds.md",
  AWS_BEARER_TOKEN_BEDROCK: "Bedrock needs a provider and prices, see docs/operate/clouds.md",
  GOOGLE_APPLICATION_CREDENTIALS: "Vertex AI needs a provider and prices, see docs/operate/clouds.md",
};

/** OpenRouter as the only provider: the catalogue knows which of its models it has there. */
export function fromOpenrouter(): Imported {
  return {
    config: { providers: { openrouter: { apiKey: variable("OPENROUTER_API_KEY") } } },
    mapped: [
      `OPENROUTER_API_KEY: providers.openrouter, a host of ${hostedModels("openrouter")} models of the catalogue`,
      "names such as openai/gpt-6-luna: the same models",
      "openrouter/auto: auto",
    ],
    unmapped: [
      { what: "keys and their limits", why: `they cannot be read there: ${command("keys create --spend-limit")}` },
      { what: "models that the catalogue lacks", why: "add them under models with provider, upstream and price" },
      { what: "presets and plugins", why: "there are none; profiles hold rules for keys" },
    ],
    notes: [],
    comments: NO_COMMENTS,
  };
}

function hostedModels(provider: string): number {
  return readBuiltin().models.filter(
    (row) => row.provider === provider || row.hosts?.some((host) => host.provider === provider) === true,
  ).length;
}
