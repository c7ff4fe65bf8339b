// POST /api/providers/{id}/test: one tiny real request to a provider, for operators. Not charged and not recorded, but the
// provider counts it, so it is limited.

import type { FastifyInstance, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { isRoutable } from "../../catalog/catalog.ts";
import { GatewayError } from "../../core/errors.ts";
import type { Model } from "../../core/model.ts";
import { probe } from "../../gateway/operate/probe.ts";
import type { Edge } from "../context.ts";
import { bodyOf } from "../exchange/body.ts";
import { operatorOnly } from "../exchange/session-guard.ts";
import { bodyReader, idOf, missing } from "./requests/one.ts";

const Test = Type.Object({ model: Type.Optional(Type.String({ maxLength: 200 })) }, { additionalProperties: false });
const TESTS_PER_MINUTE = 6;

export function registerProviderTest(api: FastifyInstance, edge: Edge): void {
  const readTest = bodyReader(Test);
  const { services, limiter, log, now } = edge;
  api.post("/api/providers/:id/test", { onRequest: operatorOnly }, async (request, reply) => {
    const id = idOf(request, "provider");
    const provider = services.catalog.providers.get(id);
    if (provider === undefined) throw missing("provider", id);
    const { model } = isEmpty(request) ? {} : readTest(request);
    const wanted = model === undefined ? null : ownModel(model, id, edge);
    const { allowed, retryAfterSeconds } = await limiter.admit(`provider test ${id}`, TESTS_PER_MINUTE, now());
    if (!allowed) throw tooManyTests(id, retryAfterSeconds);
    const leave = new AbortController();
    reply.raw.once("close", () => leave.abort());
    const outcome = await probe({ provider, model: wanted, signal: leave.signal }, services);
    const { ok, status } = outcome;
    log.info({ event: "provider.tested", provider: id, model: outcome.model, ok, status }, "provider tested");
    return { provider: id, ...outcome };
  });
}

function isEmpty(request: FastifyRequest): boolean {
  return bodyOf(request).length === 0;
}

function ownModel(id: string, provider: string, { services: { catalog } }: Edge): Model {
  const model = catalog.models.get(id);
  if (model?.provider === provider && isRoutable(catalog, model)) return model;
  const message = `'${provider}' has no model '${id}' with a price. Leave it out, and its cheapest is asked.`;
  throw new GatewayError("badRequest", message, { param: "model" });
}

function tooManyTests(id: string, retryAfterSeconds: number): GatewayError {
  const message = `'${id}' was tested ${TESTS_PER_MINUTE} times in the last minute. Wait ${retryAfterSeconds} s.`;
  return new GatewayError("rateLimited", message, { code: "too_many_tests", retryAfterSeconds });
}
