// The admin token: compared in constant time, whatever its length.

import { createHash, timingSafeEqual } from "node:crypto";
import type { FastifyRequest } from "fastify";

export function isAdmin(request: FastifyRequest, adminToken: string | null): boolean {
  const given = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? "")?.[1];
  if (adminToken === null || given === undefined) return false;
  return timingSafeEqual(digest(given), digest(adminToken));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
