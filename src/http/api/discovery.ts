// /api/providers/discover and adopt: model servers on the gateway's own machine or at an address, and their use. For
// operators.

import { Type } from "typebox";
import { GatewayError } from "../../core/errors.ts";
import { CAPABILITIES, ENDPOINTS } from "../../core/model.ts";
import type { Overlay } from "../../core/overlay.ts";
import { invalid } from "../../formats/json/fields.ts";
import { adoptable, compareFound, type KnownServer, nameFound } from "../../gateway/operate/local-servers.ts";
import { discover, type FoundServer, WrongAddress } from "../../providers/local/discover.ts";
import { withLocal } from "../../versions/adoption.ts";
import type { OperatorContext } from "../context.ts";
import { bodyOf } from "../exchange/body.ts";
import { AnyText, Flag, Integer, named, nullable, page, type Shape, strict } from "../openapi/schema.ts";
import * as TEXT from "../text.ts";
import { ifMatch, PublishedSchema, publicationFields, publisherOf, writePublished } from "./configuration/exchange.ts";
import { type ApiRoute, post } from "./route.ts";

/** An empty body is as good as `{}`. */
const DiscoverySchema = strict("Discovery", {
  address: Type.Optional(
    Type.String({
      maxLength: 300,
      description: "A host, a host with a port, or an http address. Left out: this machine, at the usual ports.",
    }),
  ),
});

const FoundModelSchema = named("FoundModel", {
  // The server's own name for it.
  upstream: AnyText,
  context: nullable(Integer),
  capabilities: Type.Array(Type.Enum([...CAPABILITIES, ...ENDPOINTS])),
  untold: Type.Array(Type.Enum([...CAPABILITIES])),
  note: nullable(AnyText),
  // The id of the model in the catalogue.
  model: nullable(AnyText),
});

export const FoundServerSchema = named("FoundServer", {
  id: AnyText,
  name: AnyText,
  kind: AnyText,
  address: AnyText,
  needsKey: Flag,
  // The configured provider at that address.
  provider: nullable(AnyText),
  models: Type.Array(FoundModelSchema),
});

const LocalAdoptionSchema = strict("LocalAdoption", {
  address: Type.String({ maxLength: 300, description: "The `address` of a server that was found." }),
  models: Type.Optional(
    Type.Array(Type.String({ maxLength: 300 }), {
      description: "The server's names of models; left out, all of them.",
    }),
  ),
  ...publicationFields,
});

const DISCOVERY_MS = 5_000;
/** A search opens connections, so it must not become a scan of the network. */
const SEARCHES_PER_MINUTE = 30;

export const DISCOVERY_ROUTES: readonly ApiRoute[] = [
  post("discoverProviders", "/api/providers/discover", {
    // It only asks.
    isAudited: false,
    summary: "Find Ollama, LM Studio, llama.cpp and vLLM with their models; 30 searches per minute",
    access: "operator",
    body: DiscoverySchema,
    isBodyOptional: true,
    example: {},
    response: page(FoundServerSchema),
    async handle({ request, body }, edge) {
      const { address = null } = bodyOf(request).length === 0 ? {} : body();
      const found = await search(address, request.socket.localPort, edge);
      return { data: compareFound(found, edge.services().catalog).map(writeServer), next: null };
    },
  }),
  post("adoptProvider", "/api/providers/adopt", {
    summary: "Use a model server that was found, with its models at price zero, as one version of the configuration",
    access: "operator",
    parameters: [ifMatch],
    errors: [409, 422],
    body: LocalAdoptionSchema,
    example: { address: "http://127.0.0.1:11434" },
    response: PublishedSchema,
    async handle({ request, body }, edge) {
      const given = body();
      const publisher = publisherOf(request, given);
      // Asked again: what becomes a provider is what the server says, not what a caller does.
      const [found] = await search(given.address, request.socket.localPort, edge);
      if (found === undefined) throw notFound(given.address);
      const { note = TEXT.modelsOf(nameFound(found)) } = given;
      const change = (document: Overlay): Overlay => withServer(document, found, given.models, edge);
      return writePublished(await edge.versions.publish({ ...publisher, note, change }));
    },
  }),
];

function withServer(
  document: Overlay,
  found: FoundServer,
  wanted: readonly string[] | undefined,
  edge: OperatorContext,
): Overlay {
  const { catalog } = edge.services();
  const [server] = compareFound([found], catalog) as [KnownServer];
  const unknown = wanted?.find((name) => !server.models.some(({ upstream }) => upstream === name));
  if (unknown !== undefined) throw invalid("models", TEXT.serverLacksModel(nameFound(found), unknown));
  if (server.needsKey && server.provider === null) throw keyNeeded(server);
  const models = server.models.filter(({ upstream }) => wanted?.includes(upstream) ?? true);
  return withLocal(document, adoptable({ ...server, models }, catalog));
}

function notFound(address: string): GatewayError {
  return new GatewayError("notFound", TEXT.noServerAt(address), { param: "address" });
}

function keyNeeded({ id, kind, address }: KnownServer): GatewayError {
  const message = TEXT.serverNeedsKey(address, id, kind);
  return new GatewayError("unprocessable", message, { code: "key_needed", param: "address" });
}

async function search(address: string | null, ownPort: number | undefined, { limiter, now, log }: OperatorContext) {
  const { allowed, retryAfterSeconds } = await limiter.admit("provider discovery", SEARCHES_PER_MINUTE, now());
  if (!allowed) throw tooManySearches(retryAfterSeconds);
  try {
    const found = await discover({ address, withinMs: DISCOVERY_MS, hasDetails: true, ownPort });
    log.info({ event: "provider.discovered", address, found: found.length }, "looked for model servers");
    return found;
  } catch (error) {
    if (error instanceof WrongAddress) throw new GatewayError("badRequest", error.message, { param: "address" });
    throw error;
  }
}

function tooManySearches(retryAfterSeconds: number): GatewayError {
  const message = TEXT.searchedTooOften(SEARCHES_PER_MINUTE, retryAfterSeconds);
  return new GatewayError("rateLimited", message, { code: "too_many_searches", retryAfterSeconds });
}

function writeServer({ models, ...server }: KnownServer): Shape<typeof FoundServerSchema> {
  return {
    ...server,
    models: models.map(({ capabilities, untold, ...model }) => ({
      ...model,
      capabilities: [...capabilities],
      untold: [...untold],
    })),
  };
}
