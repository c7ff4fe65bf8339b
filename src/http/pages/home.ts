// GET /v1: a short card for programs and probes, since people get the dashboard at /. It needs no key, so it names no
// provider.

import type { FastifyInstance } from "fastify";
import { isSimulated } from "../../catalog/catalog.ts";
import type { OperatorContext } from "../context.ts";

export function registerHome(server: FastifyInstance, { services }: Pick<OperatorContext, "services">): void {
  const card = () => ({
    name: "switchyard",
    what: "A model-routing gateway. Point an OpenAI client's base URL at /v1 of this address, an Anthropic or Gemini client's at the address itself.",
    ...(isSimulated(services().catalog) ? { providers: "sandbox (simulated answers)" } : {}),
    endpoints: [
      "/v1/chat/completions",
      "/v1/responses",
      "/v1/messages",
      "/v1/embeddings",
      "/v1/models",
      "/v1beta/models",
      "/v1/routing/debug",
      "/openapi.json",
      "/llms.txt",
      "/healthz",
      "/readyz",
    ],
  });
  server.get("/v1", async () => card());
}
