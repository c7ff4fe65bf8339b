// /api/models and /api/providers: the catalogue as an operator sees it, with health.

import type { FastifyInstance } from "fastify";
import { chainPlaces, isRoutable } from "../../catalog/catalog.ts";
import { TELLING_CALLS, type ToolCallsSeen } from "../../core/decision.ts";
import { type Model, TOOL_SCENARIOS, type ToolScenario } from "../../core/model.ts";
import type { ToolCallTally } from "../../core/requests/records.ts";
import { writeModel } from "../../formats/service/model-list.ts";
import type { Services } from "../../gateway/services.ts";
import type { HealthState, ModelHealth } from "../../providers/breaker.ts";
import { blendScore, toolScoreOf } from "../../routing/tools/scores.ts";
import type { Edge } from "../context.ts";
import { operatorOnly } from "../exchange/session-guard.ts";
import { accountOf } from "./requests/one.ts";
import { caughtUp } from "./requests/pending-writes.ts";

export function registerCatalog(api: FastifyInstance, { services, records, accounts }: Edge): void {
  const { catalog } = services;
  api.get("/api/models", async (request) => {
    const account = await accountOf(request, { accounts });
    await caughtUp(records);
    // What is shown is what routing goes by from now on.
    await records.toolCallsSeen.refresh();
    const tallies = await records.toolCalls.ofAccount(account);
    const seen = services.toolCallsSeen(account);
    const write = (model: Model): object => ({
      ...writeOperatorModel(model, services),
      toolCalls: writeToolCalls(model, tallies, seen.get(model.id) ?? {}),
    });
    return { data: [...catalog.models.values()].map(write), next: null };
  });
  api.get("/api/providers", { onRequest: operatorOnly }, async () => ({
    data: writeProviders(services),
    next: null,
  }));
}

function writeOperatorModel(model: Model, services: Services): object {
  return {
    ...writeModel(model, services.catalog),
    provider: model.provider,
    upstream: model.upstream,
    tier: model.tier,
    chains: chainPlaces(services.catalog, model),
    capabilities: [...model.capabilities],
    priceSource: model.priceSource,
    isRoutable: isRoutable(services.catalog, model),
    health: writeModelHealth(services.health.stateOf(model.id)),
  };
}

type SeenByScenario = ToolCallsSeen extends ReadonlyMap<string, infer Seen> ? Seen : never;

/** The account's own count of the model's calls beside the static score, and the score it is ranked by for this account. */
function writeToolCalls(model: Model, tallies: readonly ToolCallTally[], seen: SeenByScenario): readonly object[] {
  const own = new Map(tallies.filter((tally) => tally.model === model.id).map((tally) => [tally.scenario, tally]));
  const scoreNow = (scenario: ToolScenario) => {
    const score = toolScoreOf(model, scenario);
    return score === null ? null : blendScore(score, seen[scenario] ?? NO_CALLS);
  };
  // What others saw is told only where it counts here.
  const isLowered = (scenario: ToolScenario) => scoreNow(scenario) !== toolScoreOf(model, scenario);
  return TOOL_SCENARIOS.filter((scenario) => own.has(scenario) || isLowered(scenario)).map((scenario) => {
    const { calls, parsed, known, valid } = own.get(scenario) ?? NO_CALLS;
    const basis = calls >= TELLING_CALLS ? "account" : "everyone";
    const [staticScore, blendedScore] = [toolScoreOf(model, scenario), scoreNow(scenario)];
    return { scenario, calls, parsed, known, valid, staticScore, blendedScore, basis };
  });
}

const NO_CALLS = { calls: 0, parsed: 0, known: 0, valid: 0 };

function writeProviders({ catalog, health }: Services): readonly object[] {
  const seen = new Map(health.overview().map((each) => [each.id, each]));
  return [...catalog.providers.values()].map(({ id, kind, baseUrl, timeouts }) => {
    const host = seen.get(id);
    return {
      id,
      kind,
      baseUrl,
      timeouts,
      health: host === undefined ? null : writeHealth(host.provider),
      credential: host === undefined ? null : writeHealth(host.credential),
      models: (host?.models ?? []).map((model) => ({ id: model.id, ...writeModelHealth(model) })),
    };
  });
}

function writeHealth(health: HealthState): object {
  const { state, sinceMs, nextTryAtMs, consecutiveFailures, lastError, lastErrorAtMs } = health;
  return {
    state,
    since: isoTime(sinceMs),
    nextTryAt: isoTime(nextTryAtMs),
    consecutiveFailures,
    lastError,
    lastErrorAt: isoTime(lastErrorAtMs),
  };
}

function writeModelHealth(health: ModelHealth): object {
  return { isResting: health.isResting, ...writeHealth(health) };
}

function isoTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
