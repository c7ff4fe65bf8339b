// /api/models and /api/providers: the catalogue as an operator sees it, with health.

import type { FastifyInstance } from "fastify";
import { isRoutable } from "../../catalog/catalog.ts";
import type { Model } from "../../core/model.ts";
import type { ToolCallTally } from "../../core/records.ts";
import { writeModel } from "../../formats/model-list.ts";
import type { Services } from "../../gateway/services.ts";
import type { HealthState, ModelHealth } from "../../providers/watched.ts";
import { blendScore, toolScoreOf } from "../../routing/tool-scores.ts";
import type { Edge } from "../edge.ts";
import { operatorOnly } from "../guard.ts";

export function registerCatalog(api: FastifyInstance, { services, records }: Edge): void {
  const { catalog } = services;
  api.get("/api/models", async () => {
    const tallies = await records.toolCalls.tallies();
    const write = (model: Model): object => ({
      ...writeOperatorModel(model, services),
      toolCalls: writeToolCalls(model, tallies),
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
    capabilities: [...model.capabilities],
    priceSource: model.priceSource,
    isRoutable: isRoutable(services.catalog, model),
    health: writeModelHealth(services.health.stateOf(model.id)),
  };
}

/** What was seen of the model's tool calls beside its static score, and the two together. */
function writeToolCalls(model: Model, tallies: readonly ToolCallTally[]): readonly object[] {
  return tallies
    .filter((tally) => tally.model === model.id)
    .map(({ scenario, calls, parsed, known, valid }) => {
      const score = toolScoreOf(model, scenario);
      const blendedScore = score === null ? null : blendScore(score, { calls, valid });
      return { scenario, calls, parsed, known, valid, staticScore: score, blendedScore };
    });
}

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
