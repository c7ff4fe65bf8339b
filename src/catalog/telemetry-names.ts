// Names of providers in OpenTelemetry's conventions for generative AI, by the host that is called. Backends find prices and
// icons by them. A provider that the conventions do not name keeps its own name.

/** Read 2026-11-19: open-telemetry/semantic-conventions-genai, well-known values of gen_ai.provider.name. */
const BY_HOST: readonly (readonly [suffix: string, name: string])[] = [
  ["api.openai.com", "openai"],
  ["api.anthropic.com", "anthropic"],
  ["generativelanguage.googleapis.com", "gcp.gemini"],
  ["aiplatform.googleapis.com", "gcp.vertex_ai"],
  ["amazonaws.com", "aws.bedrock"],
  ["openai.azure.com", "azure.ai.openai"],
  ["services.ai.azure.com", "azure.ai.inference"],
  ["api.cohere.com", "cohere"],
  ["api.cohere.ai", "cohere"],
  ["api.deepseek.com", "deepseek"],
  ["api.groq.com", "groq"],
  ["api.mistral.ai", "mistral_ai"],
  ["api.moonshot.ai", "moonshot_ai"],
  ["api.perplexity.ai", "perplexity"],
  ["api.x.ai", "x_ai"],
];

export function telemetryName(provider: string, host: string | null): string {
  if (host === null) return provider;
  // Regions of a cloud stand before a dot or a hyphen.
  const row = BY_HOST.find(([suffix]) => host === suffix || host.endsWith(`.${suffix}`) || host.endsWith(`-${suffix}`));
  return row?.[1] ?? provider;
}
