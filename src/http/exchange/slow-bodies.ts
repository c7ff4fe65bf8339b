// Bodies that come in drop by drop: a client that sends more slowly than 1 KB a second is told so and cut off.

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { GatewayError } from "../../core/errors.ts";
import { sendError } from "./errors.ts";

const CHECK_MS = 1_000;
const BYTES_PER_MS_MIN = 1;

interface Receiving {
  readonly reply: FastifyReply;
  readonly sinceMs: number;
  readonly bytesBefore: number;
}

/** Watches every body from the moment somebody reads it until it is complete. */
export function watchBodies(server: FastifyInstance, graceMs: number): void {
  const receiving = new Map<FastifyRequest, Receiving>();
  server.addHook("preParsing", (request, reply, _payload, done) => {
    if (hasBody(request)) {
      const bytesBefore = request.socket.bytesRead;
      receiving.set(request, { reply, sinceMs: performance.now(), bytesBefore });
    }
    done();
  });
  server.addHook("preValidation", (request, _reply, done) => {
    receiving.delete(request);
    done();
  });
  const timer = setInterval(() => sweep(receiving, graceMs), CHECK_MS).unref();
  server.addHook("onClose", async () => clearInterval(timer));
}

function hasBody({ headers }: FastifyRequest): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

function sweep(receiving: Map<FastifyRequest, Receiving>, graceMs: number): void {
  const atMs = performance.now();
  for (const [request, { reply, sinceMs, bytesBefore }] of receiving) {
    if (request.raw.complete || request.raw.destroyed || reply.sent) {
      receiving.delete(request);
      continue;
    }
    const bytes = request.socket.bytesRead - bytesBefore;
    if (atMs - sinceMs - bytes / BYTES_PER_MS_MIN <= graceMs) continue;
    receiving.delete(request);
    const error = new GatewayError("tooSlow", "The body came in too slowly. Send the request again.", {
      code: "body_too_slow",
    });
    sendError(error, request, reply.header("connection", "close"));
  }
}
