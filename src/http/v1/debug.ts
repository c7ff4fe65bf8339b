// POST /v1/routing/debug: the decision a live request would get, without a provider call and free of charge. SPEC 2.5.

import type { FastifyInstance } from "fastify";
import { parseBody } from "../../formats/body.ts";
import { readDebugRequest, writeDecision } from "../../formats/routing-debug.ts";
import type { Caller } from "../../gateway/call.ts";
import { route } from "../../gateway/complete.ts";
import { bodyOf } from "../body.ts";
import type { Edge } from "../edge.ts";

export function registerDebug(server: FastifyInstance, { services }: Edge): void {
  server.post("/v1/routing/debug", async (request) => {
    const question = readDebugRequest(parseBody(bodyOf(request)).body);
    return { decision: writeDecision(route(question, request.caller as Caller, services)) };
  });
}
