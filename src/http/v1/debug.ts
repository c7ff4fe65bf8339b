// POST /v1/routing/debug: the decision a live request would get, without a provider call and free of charge. SPEC 2.5.

import type { FastifyInstance } from "fastify";
import { parseBody } from "../../formats/body.ts";
import { readDebugRequest, writeDecision } from "../../formats/routing-debug.ts";
import type { Caller } from "../../gateway/call.ts";
import { route } from "../../gateway/complete.ts";
import { previewChanges } from "../../gateway/preview.ts";
import { bodyOf } from "../body.ts";
import type { Edge } from "../edge.ts";

export function registerDebug(server: FastifyInstance, { services }: Edge): void {
  server.post("/v1/routing/debug", async (request) => {
    const { source, body } = parseBody(bodyOf(request));
    const question = readDebugRequest(body);
    const decision = route(question, request.caller as Caller, services);
    const changes = previewChanges({ format: "openai", body, source, ...question }, decision, services);
    return { decision: { ...writeDecision(decision), ...changes } };
  });
}
