// The admin token: compared in constant time, whatever its length, and not as often as somebody likes.

import { createHash, timingSafeEqual } from "node:crypto";
import type { FastifyRequest } from "fastify";
import { tooManyWrongKeys } from "../../gateway/admit.ts";
import type { Edge } from "../context.ts";

/** Throws when the address has sent too many wrong ones: an admin token may be short, an API key is not. */
export function isAdmin(request: FastifyRequest, { settings, wrongTokens }: Edge): boolean {
  const given = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? "")?.[1];
  const { adminToken } = settings.server;
  if (adminToken === null || given === undefined) return false;
  const waitSeconds = wrongTokens.waitSeconds(request.ip);
  if (waitSeconds > 0) throw tooManyWrongKeys(waitSeconds);
  const isRight = timingSafeEqual(digest(given), digest(adminToken));
  if (!isRight) wrongTokens.note(request.ip);
  return isRight;
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
