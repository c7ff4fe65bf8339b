// Tokens of sessions and one-time links: random, and stored only as a hash.

import { hash, randomBytes } from "node:crypto";

const SHAPE = /^[A-Za-z0-9_-]{43}$/;

export function makeToken(): string {
  return randomBytes(32).toString("base64url");
}

/** Returns null for a text that cannot be a token of ours. Plain SHA-256 is enough for 256 random bits. */
export function hashToken(token: string): string | null {
  return SHAPE.test(token) ? hash("sha256", token, "hex") : null;
}
