// Small catalogues, models and routing questions for tests; every field has a plain default that a test may override.

import type { Catalog } from "../../src/catalog/catalog.ts";
import { providerKind } from "../../src/catalog/provider-kinds.ts";
import type { Weights } from "../../src/catalog/weights.ts";
import type { ChatRequest, Tool } from "../../src/core/chat.ts";
import {
  type Constraints,
  type Controls,
  NO_CONSTRAINTS,
  NO_CONTROLS,
  type RoutingQuestion,
} from "../../src/core/decision.ts";
import type { Capability, Dialect, HostedModel, Model, Provider } from "../../src/core/model.ts";
import { TIERS, type Tier } from "../../src/core/tiers.ts";

const PLAIN_DIALECT: Dialect = {
  outputCap: "as-sent",
  refuses: [],
  renames: {},
  toolIds: "any",
  hasDeveloperRole: true,
  takesMessageNames: true,
  takesStreamOptions: true,
};

export interface ModelOverrides extends Partial<Omit<Model, "capabilities" | "dialect">> {
  readonly capabilities?: readonly Capability[];
  readonly dialect?: Partial<Dialect>;
}

export function makeModel(overrides: ModelOverrides = {}): Model {
  const { capabilities = ["tools", "vision", "json"], dialect = {}, hosts, ...rest } = overrides;
  const id = rest.id ?? "model";
  const model: HostedModel = {
    id,
    name: id,
    vendor: "lab",
    provider: "lab",
    upstream: id,
    price: { input: 1_000_000, output: 2_000_000, cacheRead: null, cacheWrite: null },
    priceAsOf: "2026-01-01",
    priceSource: "test",
    context: 128_000,
    maxOutput: 16_384,
    scores: null,
    tier: "LIGHT",
    host: rest.provider ?? "lab",
    hostKey: id,
    ...rest,
    capabilities: new Set(capabilities),
    endpoint: null,
    dialect: { ...PLAIN_DIALECT, ...dialect },
  };
  return { ...model, hosts: hosts ?? [model] };
}

export function makeProvider(overrides: Partial<Provider> = {}): Provider {
  return {
    id: "lab",
    ...providerKind("openai"),
    baseUrl: "http://127.0.0.1:9/v1",
    apiKey: "secret",
    headers: {},
    timeouts: {
      connectMs: 1000,
      firstByteMs: 5000,
      idleMs: 5000,
      totalMs: 20_000,
      isFirstByteConfigured: false,
    },
    ...overrides,
  };
}

export interface CatalogOverrides {
  /** The chains; a tier left out is empty. When `chains` is left out, each tier has one model of its own. */
  readonly chains?: Partial<Record<Tier, readonly Model[]>>;
  /** Models that are known but in no chain. */
  readonly models?: readonly Model[];
  readonly providers?: readonly Provider[];
  readonly baseline?: Model;
  readonly markupPpm?: number;
  readonly weights?: Weights | null;
  readonly efforts?: Catalog["efforts"];
  readonly withTools?: Catalog["withTools"];
  /** Tiers whose chain counts as written by an operator; all, when left out. */
  readonly ownChains?: readonly Tier[];
  /** Tiers whose chain for tools counts as written by an operator. */
  readonly ownToolChains?: readonly Tier[];
}

export function makeCatalog(overrides: CatalogOverrides = {}): Catalog {
  const given = overrides.chains ?? oneModelPerTier();
  const chains = Object.fromEntries(TIERS.map((tier) => [tier, given[tier] ?? []])) as Record<Tier, readonly Model[]>;
  const all = [...Object.values(chains).flat(), ...(overrides.models ?? [])];
  const baseline = overrides.baseline ?? makeModel({ id: "baseline", tier: "COMPLEX", price: BASELINE_PRICE });
  return {
    models: new Map([baseline, ...all].map((model) => [model.id, model])),
    aliases: new Map(),
    providers: new Map((overrides.providers ?? [makeProvider()]).map((provider) => [provider.id, provider])),
    policies: new Map(),
    chains,
    efforts: overrides.efforts ?? NO_EFFORTS,
    withTools: overrides.withTools ?? {},
    ownToolChains: new Set(overrides.ownToolChains),
    proven: null,
    ownChains: new Set(overrides.ownChains ?? TIERS),
    baseline,
    markupPpm: overrides.markupPpm ?? 50_000,
    weights: overrides.weights ?? null,
    unsureTier: "LIGHT",
    hostOrder: "cheapest",
    serviceTier: null,
  };
}

const NO_EFFORTS = { NANO: {}, SIMPLE: {}, LIGHT: {}, STANDARD: {}, COMPLEX: {} };
const BASELINE_PRICE = { input: 10_000_000, output: 50_000_000, cacheRead: null, cacheWrite: null };

function oneModelPerTier(): Record<Tier, readonly Model[]> {
  const entries = TIERS.map((tier, rank) => {
    const price = { input: 100_000 * 2 ** rank, output: 400_000 * 2 ** rank, cacheRead: null, cacheWrite: null };
    return [tier, [makeModel({ id: tier.toLowerCase(), tier, price })]];
  });
  return Object.fromEntries(entries) as Record<Tier, readonly Model[]>;
}

export function makeTool(overrides: Partial<Tool> = {}): Tool {
  return { name: "get_weather", description: "Get the weather of a city", parameters: null, ...overrides };
}

export function makeChat(overrides: Partial<ChatRequest> = {}): ChatRequest {
  return {
    messages: [{ role: "user", content: "Hello" }],
    tools: [],
    toolChoice: null,
    isStream: false,
    wantsUsage: false,
    maxOutputTokens: null,
    choiceCount: 1,
    ...overrides,
  };
}

export interface QuestionOverrides {
  /** Shorthand for a conversation of one user message. */
  readonly prompt?: string;
  readonly chat?: Partial<ChatRequest>;
  readonly controls?: Partial<Controls>;
  readonly constraints?: Partial<Constraints>;
  readonly restingModels?: readonly string[];
  readonly takesPart?: RoutingQuestion["takesPart"];
}

export function makeQuestion(overrides: QuestionOverrides = {}): RoutingQuestion {
  const messages = [{ role: "user", content: overrides.prompt ?? "Hello" }] as const;
  return {
    chat: makeChat({ messages, ...overrides.chat }),
    controls: { ...NO_CONTROLS, ...overrides.controls },
    constraints: { ...NO_CONSTRAINTS, ...overrides.constraints },
    restingModels: new Map((overrides.restingModels ?? []).map((id) => [id, "failing"])),
    ...(overrides.takesPart === undefined ? {} : { takesPart: overrides.takesPart }),
  };
}
