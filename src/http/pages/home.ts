// GET /v1: a short card for programs and probes, since people get the dashboard at /. It needs no key, so it names no
// provider.

import type { FastifyInstance } from "fastify";
import { isSimulated } from "../../catalog/catalog.ts";
import type { CallContext } from "../context.ts";
import type { RequestFormats } from "../exchange/request-format.ts";
import type { Operation } from "../openapi/operation.ts";
import { operationsOf } from "./openapi.ts";

export function registerHome(
  server: FastifyInstance,
  { formats, services }: Pick<CallContext, "formats" | "services">,
): void {
  const card = () => ({
    name: "switchyard",
    what: `A model-routing gateway. ${baseUrls(formats)}`,
    ...(isSimulated(services().catalog) ? { providers: "sandbox (simulated answers)" } : {}),
    endpoints: pathsOf(operationsOf(formats)),
  });
  server.get("/v1", async () => card());
}

/** What clients and probes may call. The dashboard's own calls are in the contract. */
function pathsOf(operations: readonly Operation[]): readonly string[] {
  return [...new Set(operations.map(({ path }) => path))].filter((path) => !path.startsWith("/api/"));
}

/** A sentence for people who set up a client. */
function baseUrls({ clients }: Pick<RequestFormats, "clients">): string {
  const named = (baseUrl: string): string => {
    const names = clients.filter((each) => each.baseUrl === baseUrl).map(({ name }) => name);
    return new Intl.ListFormat("en-GB", { type: "disjunction" }).format(names);
  };
  return `Point an ${named("/v1")} client's base URL at /v1 of this address, an ${named("")} client's at the address itself.`;
}
