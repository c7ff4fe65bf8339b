// The bytes of a request's body; a request without one has none.

import type { FastifyRequest } from "fastify";

const NOTHING = Buffer.alloc(0);

export function bodyOf(request: FastifyRequest): Buffer {
  return Buffer.isBuffer(request.body) ? request.body : NOTHING;
}
