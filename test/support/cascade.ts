// A gateway whose tiers have one model each, in front of a provider that says what a test wants. NANO has a spare one, and
// STANDARD costs little more than LIGHT.

import { formatUsd } from "../../src/core/money.ts";
import { startGateway, type TestGateway } from "./gateway/gateway.ts";
import {
  type Behaviour,
  completion,
  type FakeProvider,
  sends,
  startFakeProvider,
  USAGE,
} from "./providers/fake-provider.ts";
import { owed } from "./stores/money.ts";

export const SCHEMA = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
export const FITS = '{"city":"Paris"}';
export const MISFITS = '{"town":"Paris"}';

/** USD per million tokens. */
const PRICES = {
  small: { input: "0.1", output: "0.4" },
  spare: { input: "0.1", output: "0.4" },
  middle: { input: "0.5", output: "2" },
  light: { input: "2", output: "8" },
  standard: { input: "2.1", output: "8.4" },
  large: { input: "9", output: "36" },
} as const;
type Id = keyof typeof PRICES;

/** An answer that was given: its model, with the tokens it reports. */
type Given = Id | readonly [model: Id, prompt: number, output: number];

/** What tests read of an answer. */
export interface CascadeAnswer {
  readonly choices: readonly unknown[];
  readonly service: {
    readonly model: string;
    readonly tier: string;
    readonly costUsd: string;
    readonly cascade: readonly { readonly tier: string; readonly passed: boolean; readonly reason?: string }[];
    readonly notes: readonly { readonly code: string; readonly message: string }[];
  };
}

export interface CascadeWorld {
  readonly gateway: TestGateway;
  readonly provider: FakeProvider;
  /** The charges of these answers together, as `costUsd` writes them. */
  costUsd(...given: readonly Given[]): string;
  cost(...given: readonly Given[]): bigint;
  close(): Promise<void>;
}

export interface CascadeOptions {
  readonly creditsUsd?: string;
  readonly extra?: string;
}

export async function openCascade({ creditsUsd = "1000", extra = "" }: CascadeOptions = {}): Promise<CascadeWorld> {
  const provider = await startFakeProvider();
  const gateway = await startGateway({ yaml: cascadeYaml(provider.url, extra), creditsUsd });
  return {
    ...{ gateway, provider, cost: cascadeCost },
    costUsd: (...given) => formatUsd(cascadeCost(...given)),
    async close() {
      await gateway.stop();
      await provider.close();
    },
  };
}

/** The charges of these answers together, in nano-USD. */
export function cascadeCost(...given: readonly Given[]): bigint {
  return given.map(costOf).reduce((sum, each) => sum + each, 0n);
}

function costOf(given: Given): bigint {
  const [model, input, output] =
    typeof given === "string" ? [given, USAGE.prompt_tokens, USAGE.completion_tokens] : given;
  return owed({ input, output }, PRICES[model]);
}

export function cascadeYaml(baseUrl: string, extra = ""): string {
  const model = ([id, { input, output }]: [string, { input: string; output: string }]) =>
    `  - { id: ${id}, provider: lab, price: { input: ${input}, output: ${output} }, context: 128000, maxOutput: 16384, capabilities: [tools, vision, json] }`;
  return [
    "catalog: none",
    `providers: { lab: { kind: openai, baseUrl: "${baseUrl}", apiKey: lab-secret } }`,
    "models:",
    ...Object.entries(PRICES).map(model),
    "tiers: { NANO: [small, spare], SIMPLE: [middle], LIGHT: [light], STANDARD: [standard], COMPLEX: [large] }",
    "routing: { baseline: large, markup: 0.05 }",
    "limits: { requestsPerMinute: 100000 }",
    extra,
  ].join("\n");
}

/** A whole answer with this text. */
export function says(text: string, usage: object = USAGE): Behaviour {
  return (exchange) => sends(200, completion(text, exchange.request.body.model, { usage }))(exchange);
}
