// The /v1 routes and the door in front of them: key, limit headers and the limit, before any body is read.

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { admit, type Doorkeeper, tooManyRequests } from "../../gateway/admit.ts";
import { type Caller, emptyTrace, type Trace } from "../../gateway/call.ts";
import type { Edge } from "../edge.ts";
import { speaksAnthropic } from "../wire.ts";
import { registerChat } from "./chat.ts";
import { registerDebug } from "./debug.ts";
import { registerMessages } from "./messages.ts";
import { registerModels } from "./models.ts";
import { recordRequest } from "./record.ts";

declare module "fastify" {
  interface FastifyRequest {
    caller: Caller | null;
    trace: Trace | null;
  }
}

export function registerV1(server: FastifyInstance, edge: Edge): void {
  const door: Doorkeeper = {
    keys: edge.keys,
    limiter: edge.limiter,
    requestsPerMinute: edge.settings.limits.requestsPerMinute,
    now: edge.now,
  };
  server.decorateRequest("caller", null);
  server.decorateRequest("trace", null);
  server.register(async (v1) => {
    v1.addHook("onRequest", async (request, reply) => {
      request.trace = emptyTrace();
      recordRequest(request, reply, edge);
      await letIn(request, reply, door);
    });
    registerChat(v1, edge);
    registerMessages(v1, edge);
    registerDebug(v1, edge);
    registerModels(v1, edge);
  });
}

async function letIn(request: FastifyRequest, reply: FastifyReply, door: Doorkeeper): Promise<void> {
  const { authorization } = request.headers;
  const apiKey = speaksAnthropic(request) ? [request.headers["x-api-key"]].flat()[0] : undefined;
  const { caller, admission } = await admit({ authorization, apiKey }, door);
  request.caller = caller;
  reply.headers({
    "x-ratelimit-limit-requests": String(admission.limit),
    "x-ratelimit-remaining-requests": String(admission.remaining),
    "x-ratelimit-reset-requests": `${admission.resetSeconds}s`,
  });
  if (!admission.allowed) throw tooManyRequests(admission);
}
