// Signature Version 4 of AWS: headers that prove who sends a request, made from what is sent, byte for byte. Pure.

import { createHash, createHmac } from "node:crypto";
import type { AuthHeaders, UnsignedRequest } from "./auth.ts";

export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

export interface SigningScope {
  readonly region: string;
  readonly service: string;
  readonly nowMs: number;
}

const ALGORITHM = "AWS4-HMAC-SHA256";

/** The headers to add to the request. They hold for some minutes, so each attempt is signed for itself. */
export function signAws(
  { method, url, headers, body }: UnsignedRequest,
  credentials: AwsCredentials,
  { region, service, nowMs }: SigningScope,
): AuthHeaders {
  const { host, pathname, search } = new URL(url);
  const time = new Date(nowMs).toISOString().replace(/[-:]|\.\d{3}/g, "");
  const day = time.slice(0, 8);
  const { accessKeyId, secretAccessKey, sessionToken } = credentials;
  const token: AuthHeaders = sessionToken === undefined ? {} : { "x-amz-security-token": sessionToken };
  const added: AuthHeaders = { "x-amz-date": time, ...token };
  const named = Object.entries({ ...headers, ...added, host }).map(
    ([name, value]) => [name.toLowerCase(), value.trim().replace(/\s+/g, " ")] as const,
  );
  const signed = named.filter(([name]) => !UNSIGNED.has(name)).sort(([a], [b]) => (a < b ? -1 : 1));
  const names = signed.map(([name]) => name).join(";");
  const canonical = [
    method,
    canonicalPath(pathname),
    canonicalQuery(search.slice(1)),
    ...signed.map(([name, value]) => `${name}:${value}`),
    "",
    names,
    sha256(body ?? ""),
  ].join("\n");
  const scope = `${day}/${region}/${service}/aws4_request`;
  const text = [ALGORITHM, time, scope, sha256(canonical)].join("\n");
  const key = [day, region, service, "aws4_request"].reduce<string | Buffer>(
    (secret, part) => createHmac("sha256", secret).update(part).digest(),
    `AWS4${secretAccessKey}`,
  );
  const signature = createHmac("sha256", key).update(text).digest("hex");
  const authorization = `${ALGORITHM} Credential=${accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`;
  return { ...added, authorization };
}

/** Proxies on the way may change these. */
const UNSIGNED: ReadonlySet<string> = new Set(["connection", "user-agent", "accept-encoding", "traceparent"]);

/** Each part as it was sent is encoded once more, and empty parts are left out. */
function canonicalPath(path: string): string {
  const parts = path.split("/").filter((part) => part !== "");
  const end = path.endsWith("/") && parts.length > 0 ? "/" : "";
  return `/${parts.map(encode).join("/")}${end}`;
}

/** By name, then by value, as the encoded bytes sort. */
function canonicalQuery(query: string): string {
  if (query === "") return "";
  const pairs = query.split("&").map((pair) => {
    const at = pair.indexOf("=");
    const [name, value] = at < 0 ? [pair, ""] : [pair.slice(0, at), pair.slice(at + 1)];
    return [encode(decodeURIComponent(name)), encode(decodeURIComponent(value))] as const;
  });
  const order = ([a, x]: readonly [string, string], [b, y]: readonly [string, string]) =>
    a === b ? (x < y ? -1 : 1) : a < b ? -1 : 1;
  return pairs
    .sort(order)
    .map(([name, value]) => `${name}=${value}`)
    .join("&");
}

/** Everything but letters, digits and `-._~`. */
function encode(text: string): string {
  const hex = (character: string): string => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(text).replace(/[!'()*]/g, hex);
}

function sha256(data: string | Buffer): string {
  return createHash("sha256").update(data).digest("hex");
}
