// A gateway with models for the endpoints other than chat, in front of a provider that counts what it is told to.

import { TIERS } from "../../../src/core/tiers.ts";
import { type GatewayOptions, startGateway, type TestGateway } from "../gateway/gateway.ts";
import { type Bank, bankOf, type PriceText } from "../stores/money.ts";
import { type Behaviour, type FakeProvider, sends, startFakeProvider } from "./fake-provider.ts";

export const EMBEDDING_PRICE: PriceText = { input: "0.02", output: "0" };
export const RERANK_PRICE: PriceText = { input: "0.05", output: "0" };
export const VECTORS = [
  [0.25, -0.5, 0.125],
  [1, 0, -2],
];

export interface EndpointLab {
  readonly provider: FakeProvider;
  readonly gateway: TestGateway;
  readonly bank: Bank;
  close(): Promise<void>;
}

export async function openEndpointLab(options: GatewayOptions = {}): Promise<EndpointLab> {
  const provider = await startFakeProvider(embeds(7));
  const gateway = await startGateway({ yaml: endpointYaml(provider.url), ...options });
  const bank = bankOf(provider, gateway);
  return { provider, gateway, bank, close: bank.close };
}

function endpointYaml(baseUrl: string): string {
  const model = (id: string, provider: string, input: string, capability: string): string =>
    `  - { id: ${id}, provider: ${provider}, upstream: vendor-${id}, price: { input: ${input}, output: 0 }, context: 64, capabilities: [${capability}] }`;
  const provider = (id: string, firstByteMs: number): string =>
    `  ${id}: { kind: openai, baseUrl: "${baseUrl}", apiKey: lab-secret, timeouts: { connectMs: 30000, firstByteMs: ${firstByteMs}, idleMs: 60000, totalMs: 120000 } }`;
  return [
    "catalog: none",
    "limits: { requestsPerMinute: 1000000, eventLoopDelayMs: 60000 }",
    "health: { failuresInRow: 100000, callsMin: 100000 }",
    "providers:",
    provider("lab", 60_000),
    provider("hasty", 1_500),
    "models:",
    "  - { id: alpha, provider: lab, price: { input: 1.1, output: 4.4 }, context: 128000, capabilities: [tools] }",
    model("small", "lab", EMBEDDING_PRICE.input, "embeddings"),
    model("other", "lab", "0.1", "embeddings"),
    // Its provider is given up soon.
    model("hasty", "hasty", EMBEDDING_PRICE.input, "embeddings"),
    model("ranker", "lab", RERANK_PRICE.input, "rerank"),
    model("judge", "lab", "0", "moderation"),
    "tiers:",
    ...TIERS.map((tier) => `  ${tier}: [alpha]`),
    "routing: { baseline: alpha }",
  ].join("\n");
}

/** As many vectors as there are inputs, and a count of tokens unless it is null. */
export function embeds(tokens: number | null): Behaviour {
  return (exchange) => {
    const { input, model } = exchange.request.body;
    const count = Array.isArray(input) && typeof input[0] !== "number" ? input.length : 1;
    const data = Array.from({ length: count }, (_, index) => ({
      object: "embedding",
      index,
      embedding: VECTORS[index % VECTORS.length],
    }));
    const usage = tokens === null ? {} : { usage: { prompt_tokens: tokens, total_tokens: tokens } };
    return sends(200, { object: "list", data, model, ...usage })(exchange);
  };
}

/** What a request of so many bytes reserves: two bytes a token and some for the host, at the price of a cache write. */
export function reservedFor(bytes: number): bigint {
  const tokens = BigInt(Math.ceil(bytes / 2) + 32);
  const picoPerToken = 25_000n;
  return (tokens * picoPerToken * 105n + 99_999n) / 100_000n;
}
