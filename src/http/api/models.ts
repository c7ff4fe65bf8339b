// /api/models: the whole catalogue with health, and what the account saw of each model's tool calls.

import { Type } from "typebox";
import { chainPlaces, effortsTaken, isUsable } from "../../catalog/catalog.ts";
import { retirementOf } from "../../catalog/retirement.ts";
import { TELLING_CALLS, type ToolCallsSeen } from "../../core/decision.ts";
import {
  CAPABILITIES,
  ENDPOINTS,
  type HostedModel,
  type Model,
  TOOL_SCENARIOS,
  type ToolScenario,
} from "../../core/model.ts";
import { EFFORTS } from "../../core/requests/effort.ts";
import type { ToolCallTally } from "../../core/requests/records.ts";
import { TIERS } from "../../core/tiers.ts";
import { writeModel, writePricing } from "../../formats/service/model-list.ts";
import type { Services } from "../../gateway/services.ts";
import { usableHosts } from "../../routing/hosts.ts";
import { blendScore, toolScoreOf } from "../../routing/tools/scores.ts";
import { AnyObject, AnyText, Flag, Integer, listed, named, nullable, page, type Shape } from "../openapi/schema.ts";
import { type ModelSchema, modelFields } from "../v1/contract.ts";
import { caughtUp } from "../v1/record.ts";
import { LockSchema, lockOn } from "./configuration/exchange.ts";
import { accountOf } from "./exchange.ts";
import { entryShown, ModelHealthSchema, writeModelHealth } from "./providers.ts";
import { type ApiRoute, get } from "./route.ts";

/** A model may stand in the chains of several tiers. */
const Chains = Type.Array(
  Type.Object({
    tier: listed(TIERS),
    place: Type.Integer({ minimum: 1 }),
    of: Type.Integer({ minimum: 1, description: "How many models the chain has." }),
    effort: nullable(Type.Enum([...EFFORTS], { description: "The effort that the chain asks for." })),
  }),
  { description: "The position of the model in each fallback chain, as configured: 1 is tried first." },
);

/** Counts of tool calls: all of them, and those that passed each check. */
export const toolCallFields = { calls: Integer, parsed: Integer, known: Integer, valid: Integer };

/** One row for each scenario that the account has calls in, or whose score others have lowered. */
const ModelToolCalls = Type.Array(
  Type.Object({
    scenario: Type.Enum([...TOOL_SCENARIOS]),
    ...toolCallFields,
    staticScore: nullable(Type.Number()),
    blendedScore: nullable(Type.Number()),
    basis: Type.Enum(["account", "everyone"], {
      description:
        "Whose calls the blended score is based on: this account's from 30 calls on, all accounts' before that.",
    }),
  }),
);

/** Prices are USD per token, as in /v1/models. */
const CatalogHost = Type.Object({
  host: AnyText,
  provider: AnyText,
  upstream: AnyText,
  isRoutable: Flag,
  contextLength: Integer,
  maxOutputTokens: Integer,
  capabilities: Type.Array(Type.Enum([...CAPABILITIES])),
  pricing: modelFields.pricing,
  priceAsOf: AnyText,
  priceSource: AnyText,
  retires: nullable(AnyText),
  region: nullable(AnyText),
  dataPolicy: nullable(AnyText),
  // As filters read them; null where unknown.
  regions: nullable(Type.Array(AnyText)),
  zeroRetention: nullable(Flag),
  // Date and source of region and data policy; null where the operator wrote them or nothing is known.
  policyAsOf: nullable(AnyText),
  policySource: nullable(AnyText),
  health: ModelHealthSchema,
  // Recent observations; null where there are none.
  firstTokenMs: nullable(Type.Number()),
  tokensPerSecond: nullable(Type.Number()),
});

/** A model of /v1/models with everything that only the dashboard needs. */
export const CatalogModelSchema = named("CatalogModel", {
  ...modelFields,
  provider: AnyText,
  // The name that the provider knows it by.
  upstream: AnyText,
  // The tier it counts as when it is asked for by name; null for a model that is never routed to.
  tier: nullable(listed(TIERS)),
  chains: Chains,
  // For requests with tools, in tiers that have a chain of their own for them.
  chainsWithTools: Chains,
  efforts: Type.Array(Type.Enum([...EFFORTS]), {
    description: "The efforts that it takes; none where it does not reason.",
  }),
  capabilities: Type.Array(Type.Enum([...CAPABILITIES, ...ENDPOINTS])),
  priceSource: AnyText,
  // The first day on which no configured host has the model; null where none is known.
  retires: nullable(AnyText),
  retirement: nullable(Type.Enum(["later", "soon", "retired"])),
  // False without a price, or when its provider is not configured.
  isRoutable: Flag,
  // At the host that is best off.
  health: ModelHealthSchema,
  hosts: Type.Array(CatalogHost, { description: "All hosts of the model, those that can be called first." }),
  toolCalls: ModelToolCalls,
  // The part of the model that was set at run time, and the place in the file that sets the model.
  configured: nullable(AnyObject),
  locked: nullable(LockSchema),
});

/** Not paged: a catalogue has some hundred models at most. */
export const MODEL_ROUTES: readonly ApiRoute[] = [
  get("listCatalogModels", "/api/models", {
    summary: "The whole catalogue with health",
    access: "readCatalog",
    response: page(CatalogModelSchema),
    async handle({ request }, { services: current, versions, records, accounts }) {
      const account = await accountOf(request, { accounts });
      await caughtUp(records);
      // The scores shown are those that routing uses from now on.
      await records.toolCallsSeen.refresh();
      const tallies = await records.toolCalls.ofAccount(account);
      const services = current();
      const seen = services.toolCallsSeen(account);
      const write = (model: Model): Shape<typeof CatalogModelSchema> => ({
        ...writeCatalogModel(model, services),
        toolCalls: writeToolCalls(model, tallies, seen.get(model.id) ?? {}),
        configured: entryShown(versions.newest().document, "models", model.id),
        locked: lockOn(versions, `models.${model.id}`),
      });
      return { data: [...services.catalog.models.values()].map(write), next: null };
    },
  }),
];

/** Fields that depend on the account or on the run-time configuration. */
type Own = "toolCalls" | "configured" | "locked";

/** Everything else about the model. */
function writeCatalogModel(model: Model, services: Services): Omit<Shape<typeof CatalogModelSchema>, Own> {
  const usable = usableHosts(model, services.catalog);
  const best = usable.map(({ hostKey }) => services.health.stateOf(hostKey)).find(({ isResting }) => !isResting);
  return {
    // formats/ writes the fields of /v1, and knows no schema.
    ...(writeModel(model, services.catalog) as Shape<typeof ModelSchema>),
    provider: model.provider,
    upstream: model.upstream,
    tier: model.endpoint === null ? model.tier : null,
    chains: chainPlaces(services.catalog, model),
    chainsWithTools: chainPlaces(services.catalog, model, true),
    efforts: [...effortsTaken(model)],
    capabilities: model.endpoint === null ? [...model.capabilities] : [model.endpoint],
    priceSource: model.priceSource,
    ...retirementFields(model, services),
    isRoutable: isUsable(services.catalog, model),
    health: writeModelHealth(best ?? services.health.stateOf(model.hostKey)),
    hosts: model.hosts.map((host) => writeHost(host, services)),
  };
}

function retirementFields(model: Model, { catalog, now }: Services) {
  const retirement = retirementOf(catalog, model, now());
  return { retires: retirement?.day ?? null, retirement: retirement?.state ?? null };
}

function writeHost(host: HostedModel, { catalog, health, speeds }: Services): Shape<typeof CatalogHost> {
  const speed = speeds.current().get(host.hostKey);
  return {
    host: host.host,
    provider: host.provider,
    upstream: host.upstream,
    isRoutable: isUsable(catalog, host),
    contextLength: host.context,
    maxOutputTokens: host.maxOutput,
    capabilities: [...host.capabilities],
    pricing: writePricing(host, catalog) as Shape<typeof modelFields.pricing>,
    priceAsOf: host.priceAsOf,
    priceSource: host.priceSource,
    retires: host.retires ?? null,
    region: host.region ?? null,
    dataPolicy: host.dataPolicy ?? null,
    regions: host.regions === undefined ? null : [...host.regions],
    zeroRetention: host.zeroRetention ?? null,
    policyAsOf: host.policyAsOf ?? null,
    policySource: host.policySource ?? null,
    health: writeModelHealth(health.stateOf(host.hostKey)),
    firstTokenMs: speed === undefined || speed.firstMs === 0 ? null : Math.round(speed.firstMs),
    tokensPerSecond: speed === undefined || speed.tokensPerSecond === 0 ? null : Math.round(speed.tokensPerSecond),
  };
}

type SeenByScenario = ToolCallsSeen extends ReadonlyMap<string, infer Seen> ? Seen : never;

/** The account's own count of the model's calls beside the static score, and the score it is ranked by for this account. */
function writeToolCalls(
  model: Model,
  tallies: readonly ToolCallTally[],
  seen: SeenByScenario,
): Shape<typeof ModelToolCalls> {
  const own = new Map(tallies.filter((tally) => tally.model === model.id).map((tally) => [tally.scenario, tally]));
  const scoreNow = (scenario: ToolScenario) => {
    const score = toolScoreOf(model, scenario);
    return score === null ? null : blendScore(score, seen[scenario] ?? NO_CALLS);
  };
  // Calls of other accounts are shown only where they count here.
  const isLowered = (scenario: ToolScenario) => scoreNow(scenario) !== toolScoreOf(model, scenario);
  return TOOL_SCENARIOS.filter((scenario) => own.has(scenario) || isLowered(scenario)).map((scenario) => {
    const { calls, parsed, known, valid } = own.get(scenario) ?? NO_CALLS;
    const basis = calls >= TELLING_CALLS ? "account" : "everyone";
    const [staticScore, blendedScore] = [toolScoreOf(model, scenario), scoreNow(scenario)];
    return { scenario, calls, parsed, known, valid, staticScore, blendedScore, basis };
  });
}

/** A scenario in which the account has not called the model. */
const NO_CALLS = { calls: 0, parsed: 0, known: 0, valid: 0 };
