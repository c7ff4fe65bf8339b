// The admin token: compared in constant time, whatever its length, with a limit on wrong ones. The right one always
// passes: behind a proxy that is not configured, everybody has the address of somebody who guesses.

import { createHash, timingSafeEqual } from "node:crypto";
import type { FastifyRequest } from "fastify";
import { tooManyWrongKeys } from "../../gateway/admit.ts";
import type { OperatorContext } from "../context.ts";

export type AdminTokenContext = Pick<OperatorContext, "settings" | "wrongTokens">;

/** Throws when the address has sent too many wrong tokens. */
export function isAdmin(request: FastifyRequest, { settings, wrongTokens }: AdminTokenContext): boolean {
  const given = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? "")?.[1];
  const { adminToken } = settings.server;
  if (adminToken === null || given === undefined) return false;
  if (timingSafeEqual(digest(given), digest(adminToken))) return true;
  const waitSeconds = wrongTokens.waitSeconds(request.ip);
  if (waitSeconds > 0) throw tooManyWrongKeys(waitSeconds);
  wrongTokens.note(request.ip);
  return false;
}

/** Digests have one length, which the comparison needs. */
function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
