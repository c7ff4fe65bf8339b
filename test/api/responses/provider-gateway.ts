// A gateway in front of providers that speak Responses alone, chat-completions alone, or both.

import { startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { type FakeProvider, startFakeProvider } from "../../support/providers/fake-provider.ts";
import { startFakeResponses } from "../../support/providers/fake-responses.ts";

export interface ResponsesGateway {
  readonly gateway: TestGateway;
  /** Speaks Responses alone and has `pro`. */
  readonly responses: FakeProvider;
  /** Speaks both: `duo` in each format, `only` in Responses. */
  readonly both: FakeProvider;
  /** Speaks chat-completions and has `alpha`. */
  readonly chat: FakeProvider;
  reset(): void;
  close(): Promise<void>;
}

export async function startResponsesGateway(tier: readonly string[] = ["pro", "alpha"]): Promise<ResponsesGateway> {
  const [responses, both, chat] = [await startFakeResponses(), await startFakeResponses(), await startFakeProvider()];
  const gateway = await startGateway({ yaml: yamlOf({ responses, both, chat }, tier) });
  return {
    gateway,
    responses,
    both,
    chat,
    reset() {
      for (const provider of [responses, both, chat]) provider.reset();
    },
    async close() {
      await gateway.stop();
      for (const provider of [responses, both, chat]) await provider.close();
    },
  };
}

function yamlOf(
  { responses, both, chat }: Pick<ResponsesGateway, "responses" | "both" | "chat">,
  tier: readonly string[],
): string {
  const timeouts = "timeouts: { connectMs: 30000, firstByteMs: 60000, idleMs: 60000, totalMs: 120000 }";
  const model = (id: string, provider: string, more = ""): string =>
    `  - { id: ${id}, provider: ${provider}, upstream: ${id}-real, price: { input: 2, output: 8, cacheRead: 0.5 }, context: 200000, maxOutput: 16384, capabilities: [tools, vision, json, reasoning, files]${more} }`;
  return [
    "catalog: none",
    "limits: { requestsPerMinute: 100000 }",
    "providers:",
    `  responses: { kind: responses, baseUrl: "${responses.url}", apiKey: responses-secret, ${timeouts} }`,
    `  both: { kind: openai, baseUrl: "${both.url}", apiKey: both-secret, formats: [openai-chat, openai-responses], ${timeouts} }`,
    `  chat: { kind: openai, baseUrl: "${chat.url}", apiKey: chat-secret, ${timeouts} }`,
    "models:",
    model("pro", "responses"),
    model("duo", "both"),
    model("only", "both", ", formats: [openai-responses]"),
    model("alpha", "chat"),
    "tiers:",
    ...["NANO", "SIMPLE", "LIGHT", "STANDARD", "COMPLEX"].map((name) => `  ${name}: [${tier.join(", ")}]`),
  ].join("\n");
}

export const direct = (model: string): object => ({ model, service_profile: "direct" });
