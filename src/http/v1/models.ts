// GET /v1/models and /v1/models/{id}, also where clients of other formats look: the models this key can reach. Behaviour 9.

import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Catalog } from "../../catalog/catalog.ts";
import { findModel } from "../../catalog/model-names.ts";
import { GatewayError } from "../../core/errors.ts";
import type { Model } from "../../core/model.ts";
import type { ModelListWriter } from "../../formats/format.ts";
import { isAutoAlias } from "../../formats/service/controls.ts";
import type { Caller } from "../../gateway/call.ts";
import { constraintsOf } from "../../gateway/constraints.ts";
import { AUTO, offeredModels } from "../../routing/direct.ts";
import { namedModels } from "../../routing/named.ts";
import type { CallContext } from "../context.ts";
import { isCustomMethod } from "../exchange/methods.ts";
import * as TEXT from "../text.ts";
import { callerOf } from "./key-admission.ts";

export function registerModels(
  server: FastifyInstance,
  { formats, services }: Pick<CallContext, "formats" | "services">,
): void {
  const list = async (request: FastifyRequest): Promise<object> => {
    const { catalog } = services();
    const query = request.query as Record<string, string>;
    const { models } = formats.of(request);
    const caller = callerOf(request);
    const listed = reachableBy(caller, catalog).filter(outputFilter(query.output_modalities));
    const reachable = listed.flatMap((model) => (model.id === AUTO ? autoModels(model, models, caller) : model));
    return models.list(reachable, catalog, query);
  };
  const one = (id: string, request: FastifyRequest): object => {
    const { catalog } = services();
    const wanted = isAutoAlias(id) ? AUTO : (findModel(catalog, id)?.id ?? id);
    const model = reachableBy(callerOf(request), catalog).find((each) => each.id === wanted);
    if (model === undefined) {
      const message = TEXT.modelNotAvailable(id);
      throw new GatewayError("notFound", message, { code: "model_not_found", param: "id" });
    }
    return formats.of(request).models.one(isAutoAlias(id) ? { ...model, id } : model, catalog);
  };
  for (const path of formats.modelLists.keys()) {
    server.get(path, list);
    server.get<{ Params: { id: string } }>(`${path}/:id`, async (request, reply) => {
      const { id } = request.params;
      // A method of Google's was called with GET: 405, because the path is right.
      return isCustomMethod(id) ? reply.callNotFound() : one(id, request);
    });
    // Ids such as vendor/model, from clients that leave the slash as it is.
    server.get<{ Params: { id: string; name: string } }>(`${path}/:id/:name`, async (request) => {
      const { id, name } = request.params;
      return one(`${id}/${name}`, request);
    });
  }
}

/**
 * The router, for keys whose named models are used. Others need not choose it. Menus that leave its name out show it
 * under a second one.
 */
function autoModels(auto: Model, { autoAlias }: ModelListWriter, { profile }: Caller): readonly Model[] {
  const named = profile?.constraints.honoursModel === true ? [auto] : [];
  return autoAlias === undefined ? named : [...named, { ...auto, id: autoAlias }];
}

/** Chat models unless others are asked for: menus of chat programs are made from this list. */
function outputFilter(asked: unknown = "text"): (model: Model) => boolean {
  const names = new Set(String(asked).split(","));
  return ({ endpoint }) => names.has("all") || names.has(endpoint ?? "text");
}

function reachableBy(caller: Caller, catalog: Catalog): readonly Model[] {
  const constraints = constraintsOf(caller, catalog);
  return [...offeredModels(constraints, catalog), ...namedModels(constraints, catalog)];
}
