// A gateway in front of three vendors: `gem` and `gem-old` speak Gemini, alpha chat-completions, claude Messages.

import { type GatewayOptions, startGateway, type TestGateway } from "../gateway/gateway.ts";
import type { PriceText } from "../stores/money.ts";
import { startFakeAnthropic } from "./fake-anthropic.ts";
import { startFakeGemini } from "./fake-gemini.ts";
import { type FakeProvider, startFakeProvider } from "./fake-provider.ts";

export const GEM_PRICE: PriceText = { input: "1.5", output: "7.5", cacheRead: "0.15" };

export interface GeminiGateway {
  readonly gateway: TestGateway;
  readonly gemini: FakeProvider;
  readonly openai: FakeProvider;
  readonly anthropic: FakeProvider;
  /** Forgets scripts and requests, and lets models that rest after failures come back. */
  reset(): Promise<void>;
  close(): Promise<void>;
}

const TIERS = {
  NANO: ["gem-old"],
  SIMPLE: ["gem"],
  LIGHT: ["gem", "alpha"],
  STANDARD: ["alpha", "gem"],
  COMPLEX: ["claude", "gem"],
};

export async function startGeminiGateway(options: GatewayOptions = {}): Promise<GeminiGateway> {
  const [gemini, openai, anthropic] = [await startFakeGemini(), await startFakeProvider(), await startFakeAnthropic()];
  const gateway = await startGateway({
    ...options,
    yaml: yaml({ gemini: gemini.url, openai: openai.url, anthropic: anthropic.url }),
  });
  const providers = [gemini, openai, anthropic];
  return {
    gateway,
    gemini,
    openai,
    anthropic,
    async reset() {
      for (const provider of providers) provider.reset();
      for (const model of ["gem", "gem-old", "alpha", "claude"]) {
        const body = { model, service_profile: "direct", messages: [{ role: "user", content: "hi" }] };
        await (await gateway.post("/v1/chat/completions", body)).arrayBuffer();
      }
      for (const provider of providers) provider.requests.length = 0;
    },
    async close() {
      await gateway.stop();
      for (const provider of providers) await provider.close();
    },
  };
}

function yaml(urls: Readonly<Record<"gemini" | "openai" | "anthropic", string>>): string {
  const timeouts = "timeouts: { connectMs: 30000, firstByteMs: 60000, idleMs: 60000, totalMs: 120000 }";
  const model = (id: string, provider: string, rest: string): string =>
    `  - { id: ${id}, provider: ${provider}, upstream: ${id}-1, context: 200000, maxOutput: 16384, capabilities: [tools, vision, json, reasoning, files, audio], ${rest} }`;
  const price = `price: { input: ${GEM_PRICE.input}, output: ${GEM_PRICE.output}, cacheRead: ${GEM_PRICE.cacheRead} }`;
  return [
    "catalog: none",
    "limits: { requestsPerMinute: 100000 }",
    "providers:",
    `  google: { kind: gemini, baseUrl: "${urls.gemini}", apiKey: google-secret, ${timeouts}, dialect: { needsThoughtSignatures: true, thinking: level } }`,
    `  lab: { kind: openai, baseUrl: "${urls.openai}", apiKey: lab-secret, ${timeouts} }`,
    `  native: { kind: anthropic, baseUrl: "${urls.anthropic}", apiKey: native-secret, ${timeouts} }`,
    "models:",
    model("gem", "google", price),
    model("gem-old", "google", `${price}, dialect: { thinking: budget, needsThoughtSignatures: false }`),
    model("alpha", "lab", "price: { input: 1, output: 3 }"),
    model("claude", "native", "price: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 }"),
    "tiers:",
    ...Object.entries(TIERS).map(([tier, models]) => `  ${tier}: [${models.join(", ")}]`),
    "routing: { baseline: claude }",
  ].join("\n");
}
