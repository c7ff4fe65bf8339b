// Signature Version 4: byte for byte as in AWS's published examples, and as an independent implementation signs.

import { AwsRequestSigner } from "google-auth-library/build/src/auth/awsrequestsigner.js";
import { expect, test, vi } from "vitest";
import type { UnsignedRequest } from "../../../../src/providers/auth/auth.ts";
import { signAws } from "../../../../src/providers/auth/sigv4.ts";
import { fc } from "../../../support/property.ts";

const KEYS = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY" };
const NOW_MS = Date.parse("2015-08-30T12:36:00Z");
const SCOPE = { region: "us-east-1", service: "service", nowMs: NOW_MS };

function request(method: string, path: string, headers = {}, body: string | null = null): UnsignedRequest {
  const url = `https://example.amazonaws.com${path}`;
  return { method, url, headers, body: body === null ? null : Buffer.from(body) };
}

function signatureOf(headers: Readonly<Record<string, string>>): string | undefined {
  return /Signature=(\w{64})$/.exec(headers.authorization ?? "")?.[1];
}

// The names are those of AWS's test suite for Signature Version 4.
test.each([
  ["get-vanilla", request("GET", "/"), "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"],
  [
    "get-vanilla-query-order-key-case",
    request("GET", "/?Param2=value2&Param1=value1"),
    "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
  ],
  ["post-vanilla", request("POST", "/"), "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"],
  [
    "post-x-www-form-urlencoded",
    request("POST", "/", { "Content-Type": "application/x-www-form-urlencoded" }, "Param1=value1"),
    "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a",
  ],
])("%s", (_name, unsigned, signature) => {
  expect(signatureOf(signAws(unsigned, KEYS, SCOPE))).toBe(signature);
});

test("the example of AWS's documentation, with a query and a content type", () => {
  const unsigned = {
    ...request("GET", "/", { "content-type": "application/x-www-form-urlencoded; charset=utf-8" }),
    url: "https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08",
  };
  const signed = signAws(unsigned, KEYS, { ...SCOPE, service: "iam" });
  expect(signed.authorization).toBe(
    "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, " +
      "SignedHeaders=content-type;host;x-amz-date, " +
      "Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7",
  );
});

test("signs as an independent implementation does, over bodies, queries, services, regions and session tokens", async () => {
  const word = fc.stringMatching(/^[A-Za-z0-9._~-]{1,12}$/);
  const query = fc.uniqueArray(fc.tuple(word, word), { selector: ([name]) => name, maxLength: 4 });
  const given = fc.record({
    service: fc.constantFrom("bedrock", "bedrock-mantle", "sts"),
    region: fc.constantFrom("eu-central-1", "us-gov-west-1", "ap-southeast-2"),
    path: fc.array(word, { maxLength: 4 }),
    query,
    body: fc.string({ minLength: 1, unit: "binary" }),
    token: fc.option(fc.stringMatching(/^[A-Za-z0-9+/=]{1,80}$/), { nil: undefined }),
    nowMs: fc.integer({ min: Date.parse("2000-01-01"), max: Date.parse("2099-12-31") }),
  });
  vi.useFakeTimers();
  try {
    await fc.assert(
      fc.asyncProperty(given, async ({ service, region, path, query: pairs, body, token, nowMs }) => {
        vi.setSystemTime(nowMs);
        const search = [...pairs]
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([name, value]) => `${name}=${value}`)
          .join("&");
        const url = new URL(`https://${service}.${region}.amazonaws.com/${path.join("/")}${search && `?${search}`}`)
          .href;
        const credentials = { ...KEYS, ...(token === undefined ? {} : { sessionToken: token }) };
        const other = new AwsRequestSigner(
          async () => ({
            accessKeyId: KEYS.accessKeyId,
            secretAccessKey: KEYS.secretAccessKey,
            ...(token && { token }),
          }),
          region,
        );
        const theirs = await other.getRequestOptions({ url, method: "POST", data: body } as never);
        const expected = new Headers(theirs.headers as HeadersInit).get("authorization");
        const unsigned = { method: "POST", url, headers: {}, body: Buffer.from(body) };
        expect(signAws(unsigned, credentials, { region, service, nowMs }).authorization).toBe(expected);
      }),
      { numRuns: 200 },
    );
  } finally {
    vi.useRealTimers();
  }
});

test("a path that is sent encoded is encoded once more, and a query is sorted by its bytes", () => {
  const sign = (path: string) => signatureOf(signAws(request("POST", path, {}, "{}"), KEYS, SCOPE));
  expect(sign("/model/us.some%3A0/invoke")).not.toBe(sign("/model/us.some:0/invoke"));
  expect(sign("/a//b/")).toBe(sign("/a/b/"));
  expect(sign("/?b=2&a=1&a=0&B=%2F")).toBe(sign("/?B=%2f&a=0&a=1&b=2"));
});

test("headers that a proxy may change are left out, and all others are signed", () => {
  const headers = { Accept: " text/event-stream ", "x-own": "a   b", "User-Agent": "one", traceparent: "00-1" };
  const signed = signAws(request("POST", "/", headers, "{}"), { ...KEYS, sessionToken: "t" }, SCOPE);
  expect(signed.authorization).toContain("SignedHeaders=accept;host;x-amz-date;x-amz-security-token;x-own,");
  expect(signed["x-amz-security-token"]).toBe("t");
  const plain = { ...headers, Accept: "text/event-stream", "x-own": "a b", "User-Agent": "two" };
  expect(signatureOf(signAws(request("POST", "/", plain, "{}"), { ...KEYS, sessionToken: "t" }, SCOPE))).toBe(
    signatureOf(signed),
  );
});
