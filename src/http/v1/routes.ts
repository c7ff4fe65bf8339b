// The /v1 routes and the door in front of them: key, limit headers and the limit, before any body is read.

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { GatewayError } from "../../core/errors.ts";
import { type Admitted, admit, type Doorkeeper, tooManyRequests } from "../../gateway/admit.ts";
import type { Caller } from "../../gateway/call.ts";
import type { Edge } from "../context.ts";
import { whenOver } from "../exchange/disconnect.ts";
import { isV1, speaksAnthropic } from "../exchange/request-format.ts";
import type { RequestQueue } from "../overload/queue.ts";
import { registerChat } from "./chat.ts";
import { createInFlight, type InFlight } from "./in-flight.ts";
import { registerMessages } from "./messages.ts";
import { registerModels } from "./models.ts";
import { RequestRecording } from "./record.ts";
import { registerDebug } from "./routing-debug.ts";

declare module "fastify" {
  interface FastifyRequest {
    caller: Caller | null;
    /** What will be recorded of it; null outside of /v1 and the playground. */
    recording: RequestRecording | null;
  }
}

export function registerV1(server: FastifyInstance, edge: Edge, queue: RequestQueue): void {
  const door = doorOf(edge);
  const inFlight = createInFlight(edge.settings.limits.inFlightPerKey);
  server.decorateRequest("caller", null);
  server.decorateRequest("recording", null);
  server.register(async (v1) => {
    v1.addHook("onRequest", (request, reply, done) => {
      request.recording = new RequestRecording(request, reply, edge);
      const places = { inFlight, metrics: edge.metrics };
      const admitted = letIn(request, reply, door);
      if (admitted !== undefined) {
        admitted.then(() => takePlace(request, reply, places)).then(() => done(), done);
        return;
      }
      takePlace(request, reply, places);
      done();
    });
    // Only now is the body here: one that takes its time holds up nobody.
    v1.addHook("preValidation", (request, reply, done) => {
      const leave = queue.beginWork();
      request.recording?.bodyRead(leave);
      whenOver(reply.raw, leave);
      done();
    });
    registerChat(v1, edge);
    registerMessages(v1, edge);
    registerDebug(v1, edge);
    registerModels(v1, edge);
  });
}

/** Counts a call to a path or with a method that is not there, where a good key comes with it; any other is not looked at. */
export function createStrayCounter(edge: Edge): (request: FastifyRequest, reply: FastifyReply) => Promise<void> {
  const door = doorOf(edge);
  return async (request, reply) => {
    if (!isV1(request.url)) return;
    try {
      await letIn(request, reply, door);
    } catch (error) {
      if (!(error instanceof GatewayError && error.status === 401)) throw error;
    }
  };
}

function doorOf({ keys, limiter, wrongKeys, settings, now }: Edge): Doorkeeper {
  return { keys, limiter, wrongKeys, requestsPerMinute: settings.limits.requestsPerMinute, now };
}

/** At once where the key is known and its limit is counted here; so it is for nearly all. */
function letIn(request: FastifyRequest, reply: FastifyReply, door: Doorkeeper): Promise<void> | undefined {
  const { authorization } = request.headers;
  const apiKey = speaksAnthropic(request) ? [request.headers["x-api-key"]].flat()[0] : undefined;
  const admitted = admit({ authorization, apiKey, address: request.ip }, door);
  if (admitted instanceof Promise) return admitted.then((known) => noteAdmitted(request, reply, known));
  noteAdmitted(request, reply, admitted);
  return undefined;
}

function noteAdmitted(request: FastifyRequest, reply: FastifyReply, { caller, admission }: Admitted): void {
  request.caller = caller;
  reply.headers({
    "x-ratelimit-limit-requests": String(admission.limit),
    "x-ratelimit-remaining-requests": String(admission.remaining),
    "x-ratelimit-reset-requests": `${admission.resetSeconds}s`,
  });
  if (!admission.allowed) throw tooManyRequests(admission);
}

interface Places {
  readonly inFlight: InFlight;
  readonly metrics: Edge["metrics"];
}

function takePlace({ caller }: FastifyRequest, reply: FastifyReply, { inFlight, metrics }: Places): void {
  try {
    whenOver(reply.raw, inFlight.enter((caller as Caller).key.id));
  } catch (error) {
    metrics.shed("key_in_flight");
    throw error;
  }
}
