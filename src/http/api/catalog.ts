// /api/models and /api/providers: the catalogue as an operator sees it, with health.

import type { FastifyInstance } from "fastify";
import { isRoutable } from "../../catalog/catalog.ts";
import type { Model } from "../../core/model.ts";
import { writeModel } from "../../formats/model-list.ts";
import type { Services } from "../../gateway/services.ts";
import type { Edge } from "../edge.ts";

export function registerCatalog(api: FastifyInstance, { services }: Edge): void {
  const { catalog } = services;
  api.get("/api/models", async () => ({
    data: [...catalog.models.values()].map((model) => writeOperatorModel(model, services)),
    next: null,
  }));
  api.get("/api/providers", async () => ({
    data: [...catalog.providers.values()].map(({ id, kind, baseUrl, timeouts }) => ({
      id,
      kind,
      baseUrl,
      timeouts,
      models: [...catalog.models.values()]
        .filter(({ provider }) => provider === id)
        .map((model) => modelHealth(model, services)),
    })),
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
    health: services.health.stateOf(model.id),
  };
}

function modelHealth(model: Model, { health }: Services): object {
  return { id: model.id, ...health.stateOf(model.id) };
}
