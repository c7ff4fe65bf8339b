// The /v1 endpoints: every request is recorded and admitted by its key before its body is read.

import type { FastifyInstance, FastifyRequest } from "fastify";
import { GatewayError } from "../../core/errors.ts";
import { gatewaysIn, LOOP_HEADER } from "../../core/requests/loops.ts";
import type { PublicContext } from "../context.ts";
import { whenOver } from "../exchange/disconnect.ts";
import type { RequestQueue } from "../overload/queue.ts";
import * as TEXT from "../text.ts";
import { registerBatches } from "./batches/batches.ts";
import { registerFiles } from "./batches/files.ts";
import { registerGeminiBatches } from "./batches/gemini-batches.ts";
import { registerGeminiFiles } from "./batches/gemini-files.ts";
import { runBatches } from "./batches/runner.ts";
import { registerUploads } from "./batches/uploads.ts";
import { registerBudgets } from "./budgets.ts";
import { registerCaches } from "./caches.ts";
import { registerStoredCompletions } from "./chat/stored.ts";
import { registerCompletions } from "./completions.ts";
import { registerFeedback } from "./feedback.ts";
import { registerKey } from "./key.ts";
import { createCreditCheck, createKeyAdmission } from "./key-admission.ts";
import { registerModels } from "./models.ts";
import { registerRealtime } from "./realtime/secrets.ts";
import { RequestRecording } from "./record.ts";
import { registerConversations } from "./responses/conversations.ts";
import { registerStoredResponses } from "./responses/stored.ts";
import { registerDebug } from "./routing-debug.ts";

export function registerV1(server: FastifyInstance, edge: PublicContext, queue: RequestQueue): void {
  const admit = createKeyAdmission(edge);
  server.decorateRequest("caller", null);
  server.decorateRequest("recording", null);
  server.register(async (v1) => {
    v1.addHook("onRequest", async (request, reply) => {
      request.recording = new RequestRecording(request, reply, edge);
      await admit(request, reply);
      refuseLoop(request, edge);
    });
    v1.addHook("onRequest", createCreditCheck(edge));
    // The body is here only now, so a slow upload holds up nobody else.
    v1.addHook("preValidation", (request, reply, done) => {
      const leave = queue.beginWork();
      request.recording?.bodyRead(leave);
      whenOver(reply.raw, leave);
      done();
    });
    registerCompletions(v1, edge);
    registerDebug(v1, edge);
    registerFeedback(v1, edge);
    registerModels(v1, edge);
    registerKey(v1, edge);
    registerBudgets(v1, edge);
    registerCaches(v1, edge);
    registerRealtime(v1, edge);
    registerStoredCompletions(v1, edge);
    registerStoredResponses(v1, edge);
    registerConversations(v1, edge);
    registerFiles(v1, edge);
    registerUploads(v1, edge);
    registerBatches(v1, edge);
    registerGeminiFiles(v1, edge);
    registerGeminiBatches(v1, edge);
  });
  runBatches(server, edge, queue);
}

/** One request would become as many as the limits let through, until the first of them times out. */
function refuseLoop({ headers }: FastifyRequest, { loopName }: PublicContext): void {
  if (!gatewaysIn(headers[LOOP_HEADER]).includes(loopName)) return;
  throw new GatewayError("loop", TEXT.loopDetected, { code: "loop_detected", operator: TEXT.removeLoop });
}
