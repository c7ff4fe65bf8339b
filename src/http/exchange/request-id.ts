// A request's id: the caller's own when it is short and plain, else a fresh one.

import { randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { FastifyRequest } from "fastify";
import { speaksAnthropic } from "./request-format.ts";

const PLAIN = /^[A-Za-z0-9_.=-]{1,128}$/;
const POOL_IDS = 256;
const ID_BYTES = 12;

// Random bytes are drawn for many ids at once: one call to the system for each costs more than the rest of the id.
let pool = Buffer.alloc(0);
let position = 0;

export function requestIdOf(request: Pick<IncomingMessage, "headers">): string {
  const given = request.headers["x-request-id"];
  return typeof given === "string" && PLAIN.test(given) ? given : newRequestId();
}

/** Anthropic's clients read `request-id`. */
export function requestIdHeaders(request: Pick<FastifyRequest, "id" | "url" | "headers">): Record<string, string> {
  const named = { "x-request-id": request.id };
  return speaksAnthropic(request) ? { ...named, "request-id": request.id } : named;
}

export function newRequestId(): string {
  if (position >= pool.length) {
    pool = randomBytes(POOL_IDS * ID_BYTES);
    position = 0;
  }
  const id = pool.toString("hex", position, position + ID_BYTES);
  position += ID_BYTES;
  return `req_${id}`;
}
