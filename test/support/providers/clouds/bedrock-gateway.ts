// A gateway in front of Bedrock's runtime, which verifies every signature.

import { type GatewayOptions, startGateway, type TestGateway } from "../../gateway/gateway.ts";
import type { PriceText } from "../../stores/money.ts";
import type { FakeProvider } from "../fake-provider.ts";
import { startFakeBedrock } from "./fake-bedrock.ts";

export const SECRET = {
  accessKeyId: "ASIAIOSFODNN7EXAMPLE",
  secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
  sessionToken: "IQoJb3JpZ2luX2VjEXAMPLE//////////wEaCXVzLWVhc3Q=",
};
export const NOVA = "eu.amazon.nova-pro-v1:0";
export const NOVA_PRICE: PriceText = { input: "1.05", output: "4.2", cacheRead: "0.2625" };

export interface BedrockGateway {
  readonly gateway: TestGateway;
  readonly cloud: FakeProvider;
  close(): Promise<void>;
}

export async function startBedrockGateway(options: GatewayOptions = {}): Promise<BedrockGateway> {
  const cloud = await startFakeBedrock([SECRET]);
  const gateway = await startGateway({ creditsUsd: "100", ...options, yaml: yaml(new URL(cloud.url).origin) });
  return {
    gateway,
    cloud,
    async close() {
      await gateway.stop();
      await cloud.close();
    },
  };
}

function yaml(baseUrl: string): string {
  const { accessKeyId, secretAccessKey, sessionToken } = SECRET;
  const price = `price: { input: ${NOVA_PRICE.input}, output: ${NOVA_PRICE.output}, cacheRead: ${NOVA_PRICE.cacheRead} }`;
  const chat = "context: 300000, maxOutput: 10000, capabilities: [tools, vision, json, reasoning, files]";
  const embeds = "price: { input: 0.1, output: 0 }, context: 8192, maxOutput: 1, capabilities: [embeddings]";
  return [
    "catalog: none",
    "limits: { requestsPerMinute: 100000 }",
    "health: { failuresInRow: 100000, callsMin: 100000 }",
    "providers:",
    `  cloud: { kind: bedrock-converse, baseUrl: "${baseUrl}", region: eu-central-1, apiKey: "${accessKeyId}:${secretAccessKey}:${sessionToken}" }`,
    "models:",
    `  - { id: nova, provider: cloud, upstream: "${NOVA}", ${price}, ${chat}, dialect: { thinking: level } }`,
    `  - { id: other, provider: cloud, upstream: "mistral.other", price: { input: 1, output: 1 }, ${chat} }`,
    ...Object.entries(EMBEDDERS).map(
      ([id, upstream]) => `  - { id: ${id}, provider: cloud, upstream: "${upstream}", ${embeds} }`,
    ),
    "tiers: { NANO: [nova], SIMPLE: [nova, other], LIGHT: [nova], STANDARD: [nova], COMPLEX: [nova] }",
  ].join("\n");
}

export const EMBEDDERS = {
  titan: "amazon.titan-embed-text-v2:0",
  "titan-1": "amazon.titan-embed-text-v1",
  "titan-image": "amazon.titan-embed-image-v1",
  "nova-embed": "amazon.nova-2-multimodal-embeddings-v1:0",
  cohere: "eu.cohere.embed-v4:0",
  unknown: "arn:aws:bedrock:eu-central-1:123456789012:provisioned-model/abc",
} as const;
