// The kinds of providers: one row says which format a provider speaks, how it is signed in to and how it streams.
// A vendor that differs in nothing else is a row of providers.json, not a kind of its own.

import type { ProviderKind } from "../core/model.ts";

export const PROVIDER_KINDS: readonly ProviderKind[] = [
  {
    kind: "openai",
    label: "OpenAI chat-completions",
    format: "openai-chat",
    hasEndpoints: true,
    furtherFormats: ["openai-responses"],
    auth: { scheme: "bearer" },
    framing: "sse",
    transport: "network",
  },
  {
    kind: "azure",
    otherNames: ["azure"],
    format: "openai-chat",
    hasEndpoints: true,
    furtherFormats: ["openai-responses"],
    auth: { scheme: "azure", name: "api-key" },
    framing: "sse",
    signInFields: ["method", "tenantId", "clientId"],
    addressing: "azure",
    hasDeployments: true,
    dialect: { toolIds: "safe-40", reasoningHistory: "drop" },
    transport: "network",
  },
  {
    kind: "azure-anthropic",
    otherNames: ["azure"],
    format: "anthropic",
    // Read 2026-11-19: anthropic-sdk-typescript/packages/foundry-sdk.
    auth: { scheme: "azure", name: "x-api-key", resource: "https://ai.azure.com" },
    framing: "sse",
    signInFields: ["method", "tenantId", "clientId"],
    hasDeployments: true,
    cache: { seconds: 300, tokensMin: 1024, isExplicit: true },
    transport: "network",
  },
  {
    kind: "ollama",
    label: "Ollama",
    format: "openai-chat",
    hasEndpoints: true,
    auth: { scheme: "bearer" },
    framing: "sse",
    addressing: "ollama",
    usualUrl: "http://127.0.0.1:11434",
    dialect: { outputCap: "max_tokens", hasDeveloperRole: false, reasoningHistory: "drop" },
    transport: "network",
  },
  {
    kind: "responses",
    label: "OpenAI Responses",
    format: "openai-responses",
    auth: { scheme: "bearer" },
    framing: "sse",
    transport: "network",
  },
  {
    kind: "anthropic",
    label: "Anthropic Messages",
    format: "anthropic",
    auth: { scheme: "header", name: "x-api-key" },
    framing: "sse",
    // Read 2026-11-16: platform.claude.com/docs/en/build-with-claude/prompt-caching. Models may need longer prompts.
    cache: { seconds: 300, tokensMin: 1024, isExplicit: true },
    transport: "network",
  },
  {
    kind: "bedrock",
    otherNames: ["bedrock", "amazon-bedrock"],
    format: "openai-chat",
    furtherFormats: ["openai-responses"],
    auth: { scheme: "aws", name: "bedrock" },
    framing: "sse",
    usualUrl: "https://bedrock-runtime.{region}.amazonaws.com/openai/v1",
    signInFields: ["profile", "roleArn", "externalId"],
    dialect: { reasoningHistory: "drop" },
    transport: "network",
  },
  {
    kind: "bedrock-anthropic",
    otherNames: ["bedrock", "amazon-bedrock"],
    format: "anthropic",
    auth: { scheme: "aws", name: "bedrock-mantle" },
    framing: "sse",
    usualUrl: "https://bedrock-mantle.{region}.api.aws/anthropic",
    signInFields: ["profile", "roleArn", "externalId"],
    cache: { seconds: 300, tokensMin: 1024, isExplicit: true },
    transport: "network",
  },
  {
    kind: "bedrock-converse",
    otherNames: ["bedrock", "amazon-bedrock"],
    format: "converse",
    hasEndpoints: true,
    auth: { scheme: "aws", name: "bedrock" },
    framing: "aws",
    usualUrl: "https://bedrock-runtime.{region}.amazonaws.com",
    signInFields: ["profile", "roleArn", "externalId"],
    // Read 2026-11-19: docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html. Models may need longer prompts.
    cache: { seconds: 300, tokensMin: 1024, isExplicit: true },
    transport: "network",
  },
  {
    kind: "vertex",
    otherNames: ["vertex", "google-vertex"],
    format: "gemini",
    auth: { scheme: "google" },
    framing: "sse",
    usualUrl: "https://{host}/v1/projects/{project}/locations/{region}/publishers/google",
    endpoints: ["embeddings"],
    signInFields: ["project", "credentialsFile"],
    transport: "network",
  },
  {
    kind: "vertex-anthropic",
    otherNames: ["vertex", "google-vertex"],
    format: "anthropic",
    auth: { scheme: "google" },
    framing: "sse",
    usualUrl: "https://{host}/v1/projects/{project}/locations/{region}/publishers/anthropic",
    signInFields: ["project", "credentialsFile"],
    // Read 2026-11-19: platform.claude.com/docs/en/build-with-claude/claude-on-vertex-ai for the version,
    // claude-code#21625 and vercel/ai#4431 for the betas.
    dialect: {
      versionInBody: "vertex-2023-10-16",
      refusesBetas: ["prompt-caching-2024-07-31", "prompt-caching-scope-2026-01-05"],
    },
    cache: { seconds: 300, tokensMin: 1024, isExplicit: true },
    transport: "network",
  },
  {
    kind: "gemini",
    label: "Google Gemini",
    format: "gemini",
    auth: { scheme: "header", name: "x-goog-api-key" },
    framing: "sse",
    transport: "network",
  },
  {
    kind: "sandbox",
    format: "openai-chat",
    hasEndpoints: true,
    auth: { scheme: "bearer" },
    framing: "sse",
    transport: "sandbox",
  },
];

/** The row of a kind. Asking for one that is not in the table is a fault of ours. */
export function providerKind(name: string, kinds: readonly ProviderKind[] = PROVIDER_KINDS): ProviderKind {
  const row = kinds.find(({ kind }) => kind === name);
  if (row === undefined) throw new Error(`there is no provider kind ${name}`);
  return row;
}
