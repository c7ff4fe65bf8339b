// A scheme that signs each request, as clouds do: a keyed hash over method, path, the signed headers and the body. Both
// ends are here, the gateway's row and the check of the server.

import { createHash, createHmac } from "node:crypto";
import type { UnsignedRequest } from "../../../../src/providers/auth/auth.ts";
import type { AuthRow } from "../../../../src/providers/auth/schemes.ts";
import type { ReceivedRequest } from "../fake-provider.ts";

const SIGNED_HEADERS = ["content-type", "x-region"] as const;

/** Signs with the provider's key; the time is part of what is signed. */
export const SIGNATURE: AuthRow = {
  form: "signed",
  sign: async ({ apiKey }, request) => {
    const time = String(Date.now());
    return { "x-time": time, "x-signature": signatureOf(apiKey ?? "", time, request) };
  },
};

function signatureOf(key: string, time: string, { method, url, headers, body }: UnsignedRequest): string {
  const { pathname, search, host } = new URL(url);
  const digest = createHash("sha256")
    .update(body ?? "")
    .digest("hex");
  const signed = SIGNED_HEADERS.map((name) => `${name}:${headers[name] ?? ""}`);
  return createHmac("sha256", key)
    .update([method, host, `${pathname}${search}`, time, ...signed, digest].join("\n"))
    .digest("hex");
}

/** Whether what arrived is what was signed, byte for byte. */
export function isSigned(key: string, { path, headers, raw }: ReceivedRequest): boolean {
  const plain = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
  const request = { method: "POST", url: `http://${headers.host}${path}`, headers: plain, body: Buffer.from(raw) };
  return headers["x-signature"] === signatureOf(key, String(headers["x-time"]), request);
}
