// /api/providers/discover: model servers on the gateway's own machine or at an address. For operators.

import { Type } from "typebox";
import { GatewayError } from "../../core/errors.ts";
import { CAPABILITIES, ENDPOINTS } from "../../core/model.ts";
import { compareFound, type KnownServer } from "../../gateway/operate/local-servers.ts";
import { discover, WrongAddress } from "../../providers/local/discover.ts";
import { bodyOf } from "../exchange/body.ts";
import { AnyText, Flag, Integer, named, nullable, page, type Shape, strict } from "../openapi/schema.ts";
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
  note: nullable(AnyText),
  // Its id in the catalogue.
  model: nullable(AnyText),
});

const FoundServerSchema = named("FoundServer", {
  id: AnyText,
  name: AnyText,
  kind: AnyText,
  address: AnyText,
  needsKey: Flag,
  // The configured provider at that address.
  provider: nullable(AnyText),
  models: Type.Array(FoundModelSchema),
});

const DISCOVERY_MS = 5_000;
/** A search opens connections, so it must not become a scan of the network. */
const SEARCHES_PER_MINUTE = 30;

export const DISCOVERY_ROUTES: readonly ApiRoute[] = [
  post("discoverProviders", "/api/providers/discover", {
    summary: "Find Ollama, LM Studio, llama.cpp and vLLM with their models; 30 searches per minute",
    access: "operator",
    body: DiscoverySchema,
    isBodyOptional: true,
    example: {},
    response: page(FoundServerSchema),
    async handle({ request, body }, edge) {
      const { address = null } = bodyOf(request).length === 0 ? {} : body();
      const { limiter, now, log } = edge;
      const { allowed, retryAfterSeconds } = await limiter.admit("provider discovery", SEARCHES_PER_MINUTE, now());
      if (!allowed) throw tooManySearches(retryAfterSeconds);
      const found = await search(address, request.socket.localPort);
      log.info({ event: "provider.discovered", address, found: found.length }, "looked for model servers");
      return { data: compareFound(found, edge.services().catalog).map(writeServer), next: null };
    },
  }),
];

async function search(address: string | null, ownPort: number | undefined) {
  try {
    return await discover({ address, withinMs: DISCOVERY_MS, hasDetails: true, ownPort });
  } catch (error) {
    if (error instanceof WrongAddress) throw new GatewayError("badRequest", error.message, { param: "address" });
    throw error;
  }
}

function tooManySearches(retryAfterSeconds: number): GatewayError {
  const message = `Model servers were searched for ${SEARCHES_PER_MINUTE} times in the last minute. Wait ${retryAfterSeconds} s.`;
  return new GatewayError("rateLimited", message, { code: "too_many_searches", retryAfterSeconds });
}

function writeServer({ models, ...server }: KnownServer): Shape<typeof FoundServerSchema> {
  return {
    ...server,
    models: models.map(({ capabilities, ...model }) => ({ ...model, capabilities: [...capabilities] })),
  };
}
