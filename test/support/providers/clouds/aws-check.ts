// A check of Signature Version 4 that shares nothing with the gateway's signer: it rebuilds the signature from what
// arrived, as AWS does.

import { createHash, createHmac } from "node:crypto";
import type { ReceivedRequest } from "../fake-provider.ts";

export interface Secret {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** Null where the signature is right, else what is wrong with it. */
export function signatureProblem(
  { method, headers, path, bytes }: ReceivedRequest,
  secrets: readonly Secret[],
): string | null {
  const { authorization = "" } = headers;
  const parts = new Map(
    authorization
      .replace(/^AWS4-HMAC-SHA256 /, "")
      .split(", ")
      .map((part) => part.split("=") as [string, string]),
  );
  const [id, day = "", region = "", service = ""] = (parts.get("Credential") ?? "").split("/");
  const secret = secrets.find(({ accessKeyId }) => accessKeyId === id);
  if (secret === undefined) return `there is no access key ${id}`;
  if (headers["x-amz-security-token"] !== secret.sessionToken) return "the session token is another";
  const names = (parts.get("SignedHeaders") ?? "").split(";");
  const wanted = ["host", "x-amz-date", ...(secret.sessionToken === undefined ? [] : ["x-amz-security-token"])];
  const unsigned = wanted.filter((name) => !names.includes(name));
  if (unsigned.length > 0) return `${unsigned.join(" and ")} must be signed`;
  const [resource = "", query = ""] = path.split("?");
  // What came is encoded once more, as every service but S3 does it.
  const canonicalPath = [...resource].map((char) => (/[A-Za-z0-9\-._~/]/.test(char) ? char : hex(char))).join("");
  const canonical = [
    ...[method, canonicalPath, query],
    ...names.map((name) => `${name}:${String(headers[name])}`),
    ...["", names.join(";"), createHash("sha256").update(bytes).digest("hex")],
  ].join("\n");
  const scope = `${day}/${region}/${service}/aws4_request`;
  const digest = createHash("sha256").update(canonical).digest("hex");
  const toSign = `AWS4-HMAC-SHA256\n${String(headers["x-amz-date"])}\n${scope}\n${digest}`;
  let key: Buffer = Buffer.from(`AWS4${secret.secretAccessKey}`);
  for (const step of [day, region, service, "aws4_request"]) key = createHmac("sha256", key).update(step).digest();
  const expected = createHmac("sha256", key).update(toSign).digest("hex");
  return expected === parts.get("Signature") ? null : "the signature does not match";
}

function hex(char: string): string {
  return [...Buffer.from(char)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join("");
}
