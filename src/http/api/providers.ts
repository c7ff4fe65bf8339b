// /api/providers: the providers with their health, and a test of one. For operators.

import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import { type Catalog, isRoutable, unreachableBecause } from "../../catalog/catalog.ts";
import { GatewayError } from "../../core/errors.ts";
import type { SignInState } from "../../core/model.ts";
import {
  CAPABILITIES,
  ENDPOINTS,
  type HostedModel,
  hasKey,
  type Model,
  type Provider,
  type Timeouts,
} from "../../core/model.ts";
import { isJsonMap, type JsonMap, type Overlay } from "../../core/overlay.ts";
import { enabledModels } from "../../gateway/operate/enabled-models.ts";
import { draftCatalog, type Probe, type ProbeServices, probe } from "../../gateway/operate/probe.ts";
import type { Services } from "../../gateway/services.ts";
import type { HealthState, ModelHealth } from "../../providers/breaker.ts";
import type { FoundModel } from "../../providers/local/servers.ts";
import { createRegistry } from "../../providers/registry.ts";
import { entryAt } from "../../versions/document.ts";
import { shownDocument } from "../../versions/secrets.ts";
import type { Versions } from "../../versions/versions.ts";
import type { OperatorContext } from "../context.ts";
import {
  AnyObject,
  AnyText,
  Flag,
  Integer,
  named,
  nullable,
  page,
  type Shape,
  strict,
  Time,
} from "../openapi/schema.ts";
import * as TEXT from "../text.ts";
import { authorOf, documentOf, LockSchema, lockOn } from "./configuration/exchange.ts";
import { hasNoBody, idOf, isoTime, missing } from "./exchange.ts";
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

/** The sign-in to a cloud, as the process knows it that answers. */
const SignInSchema = Type.Object({
  identity: nullable(AnyText),
  expiresAt: nullable(Time),
  problem: nullable(AnyText),
});

/** A provider with its breaker, that of its key, and those of its models. */
export const ProviderSchema = named("Provider", {
  id: AnyText,
  kind: AnyText,
  baseUrl: AnyText,
  timeouts: Type.Unsafe<Timeouts>({ type: "object" }),
  // The place where the provider answers and its treatment of content, as its pages say; null where unknown.
  region: nullable(AnyText),
  dataPolicy: nullable(AnyText),
  // The reason why no request can reach the provider, and what to do.
  problem: nullable(AnyText),
  // Is null where no credentials end, or none were needed yet.
  signIn: nullable(SignInSchema),
  hasKey: Type.Boolean({ description: "False where calls carry neither a key nor a header of the configuration." }),
  health: nullable(HealthSchema),
  // A rejected key stops all calls; a failing host does not say that the key is wrong.
  credential: nullable(HealthSchema),
  keys: Type.Array(Type.Object({ id: AnyText, weight: Type.Number(), ...healthFields }), {
    description:
      "Each key where the provider has several. The id is that of the stored key, the one that the file gives it, or a hash.",
  }),
  models: Type.Array(Type.Object({ id: AnyText, ...modelHealthFields })),
  // The part of the provider that was set at run time. Keys show their last four characters, and who set them when.
  configured: nullable(AnyObject),
  // The place in the file or the environment that sets the provider; null where all of it can change at run time.
  locked: nullable(LockSchema),
});

/** An empty body is as good as `{}`. */
const ProviderTestSchema = strict("ProviderTest", {
  model: Type.Optional(Type.String({ maxLength: 200, description: "One of its models; left out, its cheapest." })),
  draft: Type.Optional(
    Type.Unsafe<object>({
      type: "object",
      description: "Fields of the provider that are not published yet, such as a new key. Nothing of them is stored.",
    }),
  ),
});

/** A failure is a result here, not an error: the test itself worked. */
export const ProviderTestedSchema = named("ProviderTested", {
  provider: AnyText,
  ok: Flag,
  model: nullable(AnyText),
  status: nullable(Integer),
  durationMs: Integer,
  // The amount that the provider bills for the answer; null where unknown.
  costUsd: nullable(AnyText),
  // The problem, and what to do about it.
  problem: nullable(AnyText),
  fix: nullable(AnyText),
  // The credentials that a cloud was called with, and whom it sees.
  signIn: nullable(SignInSchema),
  region: nullable(AnyText),
  // Models of the catalogue there, and whether the account may use them, in the cloud's own words. Null where it does not tell.
  enabled: nullable(
    Type.Array(Type.Object({ model: AnyText, upstream: AnyText, isEnabled: Flag, problem: nullable(AnyText) })),
  ),
  // The models that the provider lists, where a draft has no model that could be asked.
  models: nullable(
    Type.Array(
      Type.Object({
        upstream: AnyText,
        context: nullable(Integer),
        capabilities: Type.Array(Type.Enum([...CAPABILITIES, ...ENDPOINTS])),
        untold: Type.Array(Type.Enum([...CAPABILITIES]), {
          description: "Capabilities that the server says nothing of, neither yes nor no.",
        }),
        note: nullable(AnyText),
      }),
    ),
  ),
});

/** A test is a real request, not charged and not recorded. The provider counts it, so there is a limit. */
const TESTS_PER_MINUTE = 6;

export const PROVIDER_ROUTES: readonly ApiRoute[] = [
  get("listProviders", "/api/providers", {
    summary: "Providers and their health",
    access: "operator",
    response: page(ProviderSchema),
    handle: (_call, edge) => ({ data: writeProviders(edge.services(), edge.versions), next: null }),
  }),
  // The order of checks matters: a test counts against the limit only when it will be made.
  post("testProvider", "/api/providers/:id/test", {
    // It only asks.
    isAudited: false,
    summary:
      "Test a provider, or a draft of one, with one tiny request and say what is wrong; not charged, six per minute",
    access: "operator",
    errors: [409, 422],
    body: ProviderTestSchema,
    isBodyOptional: true,
    example: {},
    response: ProviderTestedSchema,
    async handle({ request, reply, body }, edge) {
      const { limiter, log, now } = edge;
      const id = idOf(request, "provider");
      const { model, draft } = hasNoBody(request) ? {} : body();
      const { provider, catalog } = await testedBy(request, id, { draft, edge });
      const wanted = model === undefined ? null : ownModel(model, id, catalog);
      const { allowed, retryAfterSeconds } = await limiter.admit(`provider test ${id}`, TESTS_PER_MINUTE, now());
      if (!allowed) throw tooManyTests(id, retryAfterSeconds);
      const disconnect = new AbortController();
      reply.raw.once("close", () => disconnect.abort());
      const { signal } = disconnect;
      const registry =
        draft === undefined
          ? edge.services().registry
          : createRegistry(new Map([[id, provider]]), { loopName: edge.loopName });
      const { hostKey, found, ...outcome } = await tested(
        { provider, model: wanted, signal },
        { catalog, registry, now },
      ).finally(() => (draft === undefined ? undefined : registry.close()));
      const { ok, status } = outcome;
      // A draft says nothing about the provider in use. A failed test takes nobody out: the next request will tell.
      if (ok && draft === undefined && hostKey !== null) edge.services().health.passed(hostKey);
      log.info({ event: "provider.tested", provider: id, model: outcome.model, ok, status }, "provider tested");
      return { provider: id, ...outcome, ...found, models: outcome.models?.map(writeListed) ?? null };
    },
  }),
];

/** A test of a cloud also tells whom it sees, and what that account may use. */
async function tested(wanted: Probe, services: ProbeServices) {
  const { provider, model } = wanted;
  const { catalog, registry } = services;
  const outcome = await probe(wanted, services);
  const signIn = await registry.connection(provider.id).identify(AbortSignal.timeout(IDENTIFY_MS));
  const isAsked = model === null && catalog !== null && signIn?.problem == null;
  const enabled = isAsked ? await enabledModels(provider, { catalog, registry }) : null;
  const region = provider.signInFields === undefined ? null : (provider.region ?? null);
  const listed = enabled === null ? null : enabled.map((each) => ({ ...each }));
  return { ...outcome, found: { signIn: writeSignIn(signIn), region, enabled: listed } };
}

const IDENTIFY_MS = 5_000;

function writeSignIn(state: SignInState | null): Shape<typeof SignInSchema> | null {
  if (state === null) return null;
  const { identity, expiresAtMs, problem } = state;
  return { identity, expiresAt: isoTime(expiresAtMs), problem };
}

function writeListed({ capabilities, untold, ...model }: FoundModel) {
  return { ...model, capabilities: [...capabilities], untold: [...untold] };
}

interface TestQuestion {
  readonly draft: object | undefined;
  readonly edge: OperatorContext;
}

/** The provider as it is in use, or as a draft has it. A draft without models of its own is tested by its list. */
async function testedBy(request: FastifyRequest, id: string, { draft, edge }: TestQuestion): Promise<TestTarget> {
  const { catalog } = edge.services();
  if (draft !== undefined) {
    const { provider, catalog: own } = await edge.versions.draftProvider(id, documentOf(draft), authorOf(request));
    return { provider, catalog: draftCatalog(provider, own) };
  }
  const provider = catalog.providers.get(id);
  if (provider === undefined) throw missing("provider", id);
  return { provider, catalog };
}

interface TestTarget {
  readonly provider: Provider;
  /** Catalogue for the test; null where a draft has no model that could be asked. */
  readonly catalog: Catalog | null;
}

/** Only a model with a price can be asked, as in routing. */
function ownModel(id: string, provider: string, catalog: Catalog | null): HostedModel {
  const model = catalog?.models.get(id);
  const host = catalog === null || model === undefined ? null : hostAt(model, provider, catalog);
  if (host !== null) return host;
  const message = TEXT.noPricedModel(provider, id);
  throw new GatewayError("badRequest", message, { param: "model" });
}

function hostAt({ hosts }: Model, provider: string, catalog: Catalog): HostedModel | null {
  return hosts.find((host) => host.provider === provider && isRoutable(catalog, host)) ?? null;
}

function tooManyTests(id: string, retryAfterSeconds: number): GatewayError {
  const message = TEXT.testedTooOften(id, TESTS_PER_MINUTE, retryAfterSeconds);
  return new GatewayError("rateLimited", message, { code: "too_many_tests", retryAfterSeconds });
}

/** Providers that no model uses have no health. */
function writeProviders(
  { catalog, health, registry }: Services,
  versions: Versions,
): readonly Shape<typeof ProviderSchema>[] {
  const seen = new Map(health.overview().map((each) => [each.id, each]));
  const document = shownDocument(versions.newest().document);
  return [...catalog.providers.values()].map((provider) => {
    const { id, kind, baseUrl, timeouts, apiKeys = [] } = provider;
    const host = seen.get(id);
    const policy = catalog.policies.get(id);
    const weightOf = (keyId: string): number => apiKeys.find((key) => key.id === keyId)?.weight ?? 1;
    return {
      id,
      kind,
      baseUrl,
      timeouts,
      region: policy?.region ?? null,
      dataPolicy: policy?.dataPolicy ?? null,
      problem: unreachableBecause(catalog.models, provider),
      signIn: writeSignIn(registry.find(id)?.signIn() ?? null),
      hasKey: hasKey(provider),
      health: host === undefined ? null : writeHealth(host.provider),
      credential: host === undefined ? null : writeHealth(host.credential),
      keys: (host?.keys ?? []).map((key) => ({ id: key.id, weight: weightOf(key.id), ...writeHealth(key) })),
      models: (host?.models ?? []).map((model) => ({ id: model.id, ...writeModelHealth(model) })),
      configured: entryShown(document, "providers", id),
      locked: lockOn(versions, `providers.${id}`) ?? lockOn(versions, `providers.${id}.apiKey`),
    };
  });
}

/** Returns the part of a provider or model that was set at run time. */
export function entryShown(document: Overlay, section: "providers" | "models", id: string): JsonMap | null {
  const entry = entryAt(document, section, id);
  return isJsonMap(entry) ? entry : null;
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
