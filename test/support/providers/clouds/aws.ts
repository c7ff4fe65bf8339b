// A server of AWS: it verifies each signature over what arrived, byte for byte, and hands out credentials that end.

import type { AwsCredentials } from "../../../../src/providers/auth/sigv4.ts";
import { signAws } from "../../../../src/providers/auth/sigv4.ts";
import { type Behaviour, fails, type ReceivedRequest } from "../fake-provider.ts";

const AUTHORIZATION =
  /Credential=([^/]+)\/\d{8}\/([^/]+)\/([^/]+)\/aws4_request, SignedHeaders=([^,]+), Signature=\w{64}$/;

/** The service that a request is signed for; null where its signature is not right. */
export function signedFor(request: ReceivedRequest, credentials: readonly AwsCredentials[]): string | null {
  const { method, headers, path, raw } = request;
  const [, id, region = "", service = "", names = ""] = AUTHORIZATION.exec(headers.authorization ?? "") ?? [];
  const known = credentials.find(({ accessKeyId }) => accessKeyId === id);
  if (known === undefined) return null;
  const ours: ReadonlySet<string> = new Set(["host", "x-amz-date", "x-amz-security-token"]);
  const signed = names.split(";").filter((name) => !ours.has(name));
  const time = String(headers["x-amz-date"]).replace(/^(\d{4})(\d\d)(\d\dT\d\d)(\d\d)(\d\dZ)$/, "$1-$2-$3:$4:$5");
  const again = signAws(
    {
      method,
      url: `http://${headers.host}${path}`,
      headers: Object.fromEntries(signed.map((name) => [name, String(headers[name])])),
      body: Buffer.from(raw),
    },
    known,
    { region, service, nowMs: Date.parse(time) },
  );
  return again.authorization === headers.authorization ? `${service} in ${region}` : null;
}

/** Answers like `then` if the request is signed with one of the credentials. */
export function verifies(credentials: readonly AwsCredentials[], then: Behaviour): Behaviour {
  return (exchange) => {
    const isSigned = signedFor(exchange.request, credentials) !== null;
    return (isSigned ? then : fails(403, { message: "The request signature does not match" }))(exchange);
  };
}
