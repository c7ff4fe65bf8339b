// GET /v1/models and /v1/models/{id}: the models this key can reach. CONTRACT 9.

import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Catalog } from "../../catalog/catalog.ts";
import { NO_CONSTRAINTS } from "../../core/decision.ts";
import { GatewayError } from "../../core/errors.ts";
import type { Model } from "../../core/model.ts";
import { type ModelPage, writeAnthropicModel, writeAnthropicModels } from "../../formats/anthropic/model-list.ts";
import { writeModel } from "../../formats/service/model-list.ts";
import type { Caller } from "../../gateway/call.ts";
import { isOffered } from "../../routing/direct.ts";
import type { Edge } from "../context.ts";
import { speaksAnthropic } from "../exchange/request-format.ts";

const PAGE_DEFAULT = 20;
const PAGE_MAX = 1000;

export function registerModels(server: FastifyInstance, { services: { catalog } }: Edge): void {
  server.get("/v1/models", async (request) => {
    const reachable = [...catalog.models.values()].filter((model) =>
      canReach(model, request.caller as Caller, catalog),
    );
    if (speaksAnthropic(request)) return writeAnthropicModels(reachable, modelPageOf(request));
    return { object: "list", data: reachable.map((model) => writeModel(model, catalog)) };
  });
  const one = (id: string, request: FastifyRequest): object => {
    const model = catalog.models.get(id);
    if (model === undefined || !canReach(model, request.caller as Caller, catalog)) {
      const message = `There is no model '${id}' for this key. GET /v1/models lists them.`;
      throw new GatewayError("notFound", message, { code: "model_not_found", param: "id" });
    }
    return speaksAnthropic(request) ? writeAnthropicModel(model) : writeModel(model, catalog);
  };
  server.get<{ Params: { id: string } }>("/v1/models/:id", async (request) => one(request.params.id, request));
  // Ids such as vendor/model, from clients that leave the slash as it is.
  server.get<{ Params: { id: string; name: string } }>("/v1/models/:id/:name", async (request) => {
    const { id, name } = request.params;
    return one(`${id}/${name}`, request);
  });
}

function modelPageOf(request: FastifyRequest): ModelPage {
  const { limit, after_id: afterId = null, before_id: beforeId = null } = request.query as Record<string, string>;
  const count = Number(limit ?? PAGE_DEFAULT);
  const isPossible = Number.isInteger(count) && count >= 1 && count <= PAGE_MAX;
  if (!isPossible) throw new GatewayError("badRequest", `'limit' must be from 1 to ${PAGE_MAX}.`, { param: "limit" });
  return { limit: count, afterId, beforeId };
}

function canReach(model: Model, { profile }: Caller, catalog: Catalog): boolean {
  return isOffered(model, profile?.constraints ?? NO_CONSTRAINTS, catalog);
}
