// GET /v1/models and /v1/models/{id}, also under /v1beta: the models this key can reach. Behaviour 9.

import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Catalog } from "../../catalog/catalog.ts";
import { NO_CONSTRAINTS } from "../../core/decision.ts";
import { GatewayError } from "../../core/errors.ts";
import type { Model } from "../../core/model.ts";
import type { Caller } from "../../gateway/call.ts";
import { offeredModels } from "../../routing/direct.ts";
import type { CallContext } from "../context.ts";
import { callerOf } from "./key-admission.ts";

/** The second is where Gemini's clients ask. */
const MODEL_LISTS = ["/v1/models", "/v1beta/models"] as const;

export function registerModels(
  server: FastifyInstance,
  { formats, services: { catalog } }: Pick<CallContext, "formats" | "services">,
): void {
  const list = async (request: FastifyRequest): Promise<object> => {
    const reachable = reachableBy(callerOf(request), catalog);
    return formats.of(request).models.list(reachable, catalog, request.query as Record<string, string>);
  };
  const one = (id: string, request: FastifyRequest): object => {
    const model = reachableBy(callerOf(request), catalog).find((each) => each.id === id);
    if (model === undefined) {
      const message = `There is no model '${id}' for this key. GET /v1/models lists them.`;
      throw new GatewayError("notFound", message, { code: "model_not_found", param: "id" });
    }
    return formats.of(request).models.one(model, catalog);
  };
  for (const path of MODEL_LISTS) {
    server.get(path, list);
    server.get<{ Params: { id: string } }>(`${path}/:id`, async (request) => one(request.params.id, request));
    // Ids such as vendor/model, from clients that leave the slash as it is.
    server.get<{ Params: { id: string; name: string } }>(`${path}/:id/:name`, async (request) => {
      const { id, name } = request.params;
      return one(`${id}/${name}`, request);
    });
  }
}

function reachableBy({ profile }: Caller, catalog: Catalog): readonly Model[] {
  return offeredModels(profile?.constraints ?? NO_CONSTRAINTS, catalog);
}
