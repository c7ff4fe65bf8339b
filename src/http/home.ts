// What a person or a probe sees at the address itself.

import type { FastifyInstance } from "fastify";
import type { Edge } from "./edge.ts";

export function registerHome(server: FastifyInstance, { settings }: Edge): void {
  const isSandbox = [...settings.catalog.providers.values()].every(({ kind }) => kind === "sandbox");
  const card = {
    name: "switchyard",
    what: "A model-routing gateway. Point an OpenAI client's base URL at /v1 of this address.",
    providers: isSandbox ? "sandbox (simulated answers)" : [...settings.catalog.providers.keys()],
    endpoints: ["/v1/chat/completions", "/v1/models", "/v1/routing/debug", "/openapi.json", "/healthz", "/readyz"],
  };
  server.get("/", async () => card);
  server.get("/v1", async () => card);
}
