// Ends of keys that nobody renews: as the operator wrote them, or as the key itself tells.

import type { Provider } from "../../core/model.ts";

export interface KeyEnd {
  /** The id of one of several keys; empty for the only one. */
  readonly id: string;
  readonly endsAtMs: number;
}

type ProviderKeys = Pick<Provider, "apiKey" | "apiKeys" | "keyEndsAtMs">;

export function keyEndsOf({ apiKey, apiKeys, keyEndsAtMs }: ProviderKeys): readonly KeyEnd[] {
  const single = apiKey === null ? [] : [{ id: "", key: apiKey, endsAtMs: keyEndsAtMs }];
  return (apiKeys ?? single).flatMap(({ id, key, endsAtMs = toldEnd(key) }) =>
    endsAtMs === undefined ? [] : [{ id, endsAtMs }],
  );
}

/** A short-term key of Bedrock is a signed address in base64, and a token of an identity provider has claims. */
function toldEnd(key: string): number | undefined {
  const [, signed] = /^bedrock-api-key-([A-Za-z0-9+/=_-]+)$/.exec(key) ?? [];
  if (signed !== undefined) return signedEnd(Buffer.from(signed, "base64").toString("utf8"));
  const [, claims] = /^eyJ[\w-]+\.(eyJ[\w-]+)\.[\w-]+$/.exec(key) ?? [];
  return claims === undefined ? undefined : claimedEnd(Buffer.from(claims, "base64url").toString("utf8"));
}

function signedEnd(address: string): number | undefined {
  const [, year, month, day, hour, minute, second] =
    /[?&]X-Amz-Date=(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})Z(?:&|$)/.exec(address) ?? [];
  const [, seconds] = /[?&]X-Amz-Expires=(\d{1,7})(?:&|$)/.exec(address) ?? [];
  const startMs = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(startMs) || seconds === undefined ? undefined : startMs + Number(seconds) * 1000;
}

function claimedEnd(claims: string): number | undefined {
  try {
    const { exp } = JSON.parse(claims) as { readonly exp?: unknown };
    return typeof exp === "number" && Number.isFinite(exp) ? exp * 1000 : undefined;
  } catch {
    return undefined;
  }
}
