// POST /v1/routing/debug: the decision a live request would get, without a provider call and free of charge. SPEC 2.5.

import type { FastifyInstance, FastifyRequest } from "fastify";
import type { ClientHeaders } from "../../formats/format.ts";
import { readDebugMessages, readDebugRequest, writeDecision } from "../../formats/service/routing-debug.ts";
import type { Caller } from "../../gateway/call.ts";
import { route } from "../../gateway/complete.ts";
import { previewChanges } from "../../gateway/operate/preview.ts";
import type { Edge } from "../context.ts";
import { parsedBodyOf } from "../exchange/body.ts";

export function registerDebug(server: FastifyInstance, { services }: Edge): void {
  server.post("/v1/routing/debug", async (request) => {
    const { source, body } = await parsedBodyOf(request);
    const asked = isMessages(request)
      ? readDebugMessages(source, body, request.headers as ClientHeaders)
      : { format: "openai" as const, body, source, ...readDebugRequest(body) };
    const decision = route(asked, request.caller as Caller, services);
    const changes = previewChanges(asked, decision, services);
    return { decision: { ...writeDecision(decision), ...changes } };
  });
}

/** A client of the Messages format asks about a request of that format. */
function isMessages({ headers }: FastifyRequest): boolean {
  return headers["anthropic-version"] !== undefined;
}
