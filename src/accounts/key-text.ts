// The text of a key: how it is made, what it looks like, and what of it is kept. SPEC 5.2.

import { hash, randomBytes } from "node:crypto";

export const KEY_PREFIX = "sk-service-";

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** 62^43 is just above 2^256: 32 random bytes fill 43 characters. */
const BODY_LENGTH = 43;
const SHOWN_LENGTH = KEY_PREFIX.length + 5;
const LENGTH_MAX = 256;
const SHAPE = /^sk-service-[A-Za-z0-9_-]+$/;

export function makeKeyText(): string {
  let rest = BigInt(`0x${randomBytes(32).toString("hex")}`);
  let body = "";
  while (body.length < BODY_LENGTH) {
    body = DIGITS.charAt(Number(rest % 62n)) + body;
    rest /= 62n;
  }
  return KEY_PREFIX + body;
}

/** Says cheaply that a text can be no key of ours, before anything is hashed or looked up. */
export function isKeyShaped(text: string): boolean {
  return text.length <= LENGTH_MAX && SHAPE.test(text);
}

/** Plain SHA-256 is enough: the key is 256 random bits, there is no dictionary to try. */
export function hashKeyText(text: string): string {
  return hash("sha256", text, "hex");
}

export function shownPrefix(text: string): string {
  return text.slice(0, SHOWN_LENGTH);
}
