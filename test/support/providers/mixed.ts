// A gateway in front of two vendors, one for each wire format: alpha speaks chat-completions, claude Messages.

import { type GatewayOptions, startGateway, type TestGateway } from "../gateway/gateway.ts";
import { startFakeAnthropic } from "./fake-anthropic.ts";
import { type FakeProvider, startFakeProvider } from "./fake-provider.ts";

export interface Mixed {
  readonly gateway: TestGateway;
  readonly openai: FakeProvider;
  readonly anthropic: FakeProvider;
  /** Forgets scripts and requests, and lets models that rest after failures come back. */
  reset(): Promise<void>;
  close(): Promise<void>;
}

export interface MixedOptions extends Pick<GatewayOptions, "env" | "creditsUsd" | "database"> {
  readonly tiers?: Readonly<Record<string, readonly string[]>>;
  /** Further models, as lines of the file. */
  readonly models?: readonly string[];
  readonly lines?: readonly string[];
}

// From NANO to COMPLEX the vendors take turns, so that a tier also names who is asked first.
const TIERS = {
  NANO: ["alpha", "claude"],
  SIMPLE: ["alpha", "claude"],
  LIGHT: ["alpha", "claude"],
  STANDARD: ["claude", "alpha"],
  COMPLEX: ["claude", "alpha"],
};

export async function startMixed(options: MixedOptions = {}): Promise<Mixed> {
  const openai = await startFakeProvider();
  const anthropic = await startFakeAnthropic();
  const gateway = await startGateway({ ...options, yaml: mixedYaml(openai.url, anthropic.url, options) });
  return {
    gateway,
    openai,
    anthropic,
    async reset() {
      openai.reset();
      anthropic.reset();
      for (const model of ["alpha", "claude"]) {
        const body = { model, service_profile: "direct", max_tokens: 10, messages: [{ role: "user", content: "hi" }] };
        await (await gateway.post("/v1/messages", body)).arrayBuffer();
      }
      openai.requests.length = 0;
      anthropic.requests.length = 0;
    },
    async close() {
      await gateway.stop();
      await openai.close();
      await anthropic.close();
    },
  };
}

function mixedYaml(openaiUrl: string, anthropicUrl: string, options: MixedOptions): string {
  const timeouts = "timeouts: { connectMs: 30000, firstByteMs: 60000, idleMs: 60000, totalMs: 120000 }";
  const can = "capabilities: [tools, vision, json, reasoning]";
  return [
    "catalog: none",
    "limits: { requestsPerMinute: 100000 }",
    "providers:",
    `  lab: { kind: openai, baseUrl: "${openaiUrl}", apiKey: lab-secret, ${timeouts} }`,
    `  native: { kind: anthropic, baseUrl: "${anthropicUrl}", apiKey: native-secret, ${timeouts} }`,
    "models:",
    `  - { id: alpha, provider: lab, upstream: alpha-1, tier: LIGHT, price: { input: 1, output: 3 }, context: 200000, maxOutput: 16384, ${can} }`,
    `  - { id: claude, provider: native, upstream: claude-real-1, tier: COMPLEX, price: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 }, context: 200000, maxOutput: 64000, ${can} }`,
    ...(options.models ?? []),
    "tiers:",
    ...Object.entries(options.tiers ?? TIERS).map(([tier, models]) => `  ${tier}: [${models.join(", ")}]`),
    "routing: { baseline: claude }",
    ...(options.lines ?? []),
  ].join("\n");
}
