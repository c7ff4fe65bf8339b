// /api/providers: the providers with their health, and a test of one. For operators.

import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import { isRoutable } from "../../catalog/catalog.ts";
import { GatewayError } from "../../core/errors.ts";
import type { Model, Timeouts } from "../../core/model.ts";
import { probe } from "../../gateway/operate/probe.ts";
import type { Services } from "../../gateway/services.ts";
import type { HealthState, ModelHealth } from "../../providers/breaker.ts";
import { bodyOf } from "../exchange/body.ts";
import { AnyText, Flag, Integer, named, nullable, page, type Shape, strict, Time } from "../openapi/schema.ts";
import { idOf, isoTime, missing } from "./exchange.ts";
import { type ApiRoute, get, post } from "./route.ts";

/** The state of one circuit breaker. */
const healthFields = {
  // `resting`: the provider asked for a pause. `half-open`: one probe at a time is let through.
  state: Type.Enum(["closed", "half-open", "open", "resting"]),
  since: Time,
  nextTryAt: nullable(Time),
  consecutiveFailures: Integer,
  lastError: nullable(AnyText),
  lastErrorAt: nullable(Time),
};
export const HealthSchema = Type.Object(healthFields);

const modelHealthFields = {
  isResting: Type.Boolean({ description: "Cooling down: the model, its provider or the key is tried last." }),
  ...healthFields,
};
export const ModelHealthSchema = Type.Object(modelHealthFields);

/** A provider with its breaker, that of its key, and those of its models. */
export const ProviderSchema = named("Provider", {
  id: AnyText,
  kind: AnyText,
  baseUrl: AnyText,
  timeouts: Type.Unsafe<Timeouts>({ type: "object" }),
  health: nullable(HealthSchema),
  // A rejected key stops all calls; a failing host does not say that the key is wrong.
  credential: nullable(HealthSchema),
  models: Type.Array(Type.Object({ id: AnyText, ...modelHealthFields })),
});

/** An empty body is as good as `{}`. */
const ProviderTestSchema = strict("ProviderTest", {
  model: Type.Optional(Type.String({ maxLength: 200, description: "One of its models; left out, its cheapest." })),
});

/** A failure is a result here, not an error: the test itself worked. */
export const ProviderTestedSchema = named("ProviderTested", {
  provider: AnyText,
  ok: Flag,
  model: nullable(AnyText),
  status: nullable(Integer),
  durationMs: Integer,
  // What is wrong and what to do about it, in words.
  problem: nullable(AnyText),
  fix: nullable(AnyText),
});

/** A test is a real request, not charged and not recorded. The provider counts it, so there is a limit. */
const TESTS_PER_MINUTE = 6;

export const PROVIDER_ROUTES: readonly ApiRoute[] = [
  get("listProviders", "/api/providers", {
    summary: "Providers and their health",
    access: "operator",
    response: page(ProviderSchema),
    handle: (_call, { services }) => ({ data: writeProviders(services()), next: null }),
  }),
  // The order of checks matters: a test counts against the limit only when it will be made.
  post("testProvider", "/api/providers/:id/test", {
    summary: "Test a provider with one tiny request and say what is wrong; not charged, six per minute",
    access: "operator",
    body: ProviderTestSchema,
    isBodyOptional: true,
    example: {},
    response: ProviderTestedSchema,
    async handle({ request, reply, body }, edge) {
      const { limiter, log, now } = edge;
      const services = edge.services();
      const id = idOf(request, "provider");
      const provider = services.catalog.providers.get(id);
      if (provider === undefined) throw missing("provider", id);
      const { model } = isEmpty(request) ? {} : body();
      const wanted = model === undefined ? null : ownModel(model, id, services);
      const { allowed, retryAfterSeconds } = await limiter.admit(`provider test ${id}`, TESTS_PER_MINUTE, now());
      if (!allowed) throw tooManyTests(id, retryAfterSeconds);
      const disconnect = new AbortController();
      reply.raw.once("close", () => disconnect.abort());
      const outcome = await probe({ provider, model: wanted, signal: disconnect.signal }, services);
      const { ok, status } = outcome;
      log.info({ event: "provider.tested", provider: id, model: outcome.model, ok, status }, "provider tested");
      return { provider: id, ...outcome };
    },
  }),
];

function isEmpty(request: FastifyRequest): boolean {
  return bodyOf(request).length === 0;
}

/** Only a model with a price can be asked, as in routing. */
function ownModel(id: string, provider: string, { catalog }: Services): Model {
  const model = catalog.models.get(id);
  if (model?.provider === provider && isRoutable(catalog, model)) return model;
  const message = `'${provider}' has no model '${id}' with a price. Leave it out to test the cheapest one.`;
  throw new GatewayError("badRequest", message, { param: "model" });
}

function tooManyTests(id: string, retryAfterSeconds: number): GatewayError {
  const message = `'${id}' was tested ${TESTS_PER_MINUTE} times in the last minute. Wait ${retryAfterSeconds} s.`;
  return new GatewayError("rateLimited", message, { code: "too_many_tests", retryAfterSeconds });
}

/** Providers that no model uses have no health. */
function writeProviders({ catalog, health }: Services): readonly Shape<typeof ProviderSchema>[] {
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

function writeHealth(health: HealthState): Shape<typeof HealthSchema> {
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

export function writeModelHealth(health: ModelHealth): Shape<typeof ModelHealthSchema> {
  return { isResting: health.isResting, ...writeHealth(health) };
}
