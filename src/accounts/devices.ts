// Known devices: a browser in which a user has signed in keeps a token that proves it. Guesses from elsewhere never lock
// it out. The token is signed with the stored password hash, so every process can check it, and a new password ends it.

import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { User } from "../core/people.ts";

export const DEVICE_MAX_MS = 365 * 86_400_000;
const SHAPE = /^([\w-]{16})\.(\d{1,15})\.([\w-]{43})$/;

export function makeDeviceToken(user: Pick<User, "id" | "passwordHash">, nowMs: number): string {
  const device = randomBytes(12).toString("base64url");
  return `${device}.${nowMs}.${signatureOf(user, device, nowMs).toString("base64url")}`;
}

/** The id of a device that this user has signed in with; null for any other token. */
export function knownDevice(token: string, user: Pick<User, "id" | "passwordHash">, nowMs: number): string | null {
  const [, device = "", issuedAt, signature = ""] = SHAPE.exec(token) ?? [];
  const issuedAtMs = Number(issuedAt);
  if (device === "" || nowMs >= issuedAtMs + DEVICE_MAX_MS) return null;
  const isOurs = timingSafeEqual(signatureOf(user, device, issuedAtMs), Buffer.from(signature, "base64url"));
  return isOurs ? device : null;
}

function signatureOf({ id, passwordHash }: Pick<User, "id" | "passwordHash">, device: string, atMs: number): Buffer {
  return createHmac("sha256", passwordHash).update(`device ${id} ${device} ${atMs}`).digest();
}
