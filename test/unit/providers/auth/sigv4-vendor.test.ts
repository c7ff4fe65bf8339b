// Signature Version 4, byte for byte as AWS's own signer makes it, over methods, paths, queries, headers, bodies, scopes and
// session tokens.

import { Sha256 } from "@aws-crypto/sha256-js";
import { SignatureV4 } from "@smithy/signature-v4";
import { expect, test } from "vitest";
import { signAws } from "../../../../src/providers/auth/sigv4.ts";
import { fc } from "../../../support/property.ts";

const KEYS = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY" };

/** Every character that a URL changes, and some that it does not. */
const text = fc.string({ unit: fc.constantFrom(..."aZ09-_.~:!'()*&=+/?#%;,@$ |^`\"<>[]{}\\äé漢🙂"), maxLength: 12 });
/** Dots alone would be a way to another folder, which no URL keeps. */
const segment = text.filter((part) => part !== "" && !/^\.+$/.test(part));
const headerName = fc.stringMatching(/^[Xx]-[A-Za-z][A-Za-z0-9-]{0,10}$/).filter((name) => !/^x-amz/i.test(name));
const given = fc.record({
  method: fc.constantFrom("GET", "POST", "PUT", "DELETE"),
  service: fc.constantFrom("bedrock", "bedrock-mantle", "sts"),
  region: fc.constantFrom("eu-central-1", "us-gov-west-1", "ap-southeast-2"),
  segments: fc.array(segment, { maxLength: 5 }),
  endsInSlash: fc.boolean(),
  query: fc.uniqueArray(fc.tuple(segment, fc.array(text, { minLength: 1, maxLength: 3 })), {
    selector: ([name]) => name,
    maxLength: 4,
  }),
  headers: fc.uniqueArray(fc.tuple(headerName, fc.stringMatching(/^[ -~]{0,20}$/)), {
    selector: ([name]) => name.toLowerCase(),
    maxLength: 4,
  }),
  body: fc.option(fc.uint8Array({ maxLength: 200 }), { nil: null }),
  sessionToken: fc.option(fc.stringMatching(/^[A-Za-z0-9+/=]{1,80}$/), { nil: undefined }),
  /** AWS's clients send a hash of the body as a header, which is signed like any other. */
  namesBodyHash: fc.boolean(),
  nowMs: fc.integer({ min: Date.parse("2000-01-01"), max: Date.parse("2099-12-31") }),
});

const encoded = (part: string): string => encodeURIComponent(part);

test("signs as AWS's own signer does", async () => {
  await fc.assert(
    fc.asyncProperty(given, async (sent) => {
      const { method, service, region, sessionToken, nowMs, body } = sent;
      const credentials = { ...KEYS, ...(sessionToken === undefined ? {} : { sessionToken }) };
      const pairs = sent.query.flatMap(([name, values]) => values.map((value) => [name, value] as const));
      const search = pairs.map(([name, value]) => `${encoded(name)}=${encoded(value)}`).join("&");
      const end = sent.endsInSlash && sent.segments.length > 0 ? "/" : "";
      const url = new URL(`https://${service}.${region}.amazonaws.com/${sent.segments.map(encoded).join("/")}${end}`);
      url.search = search;
      const headers = Object.fromEntries(sent.headers);
      const signer = new SignatureV4({
        ...{ credentials, region, service, sha256: Sha256 },
        applyChecksum: sent.namesBodyHash,
      });
      const theirs = await signer.sign(
        {
          ...{ method, protocol: url.protocol, hostname: url.hostname, path: url.pathname },
          query: Object.fromEntries(sent.query),
          headers: { ...headers, host: url.host },
          body: body ?? "",
        },
        { signingDate: new Date(nowMs) },
      );
      const hash = theirs.headers["x-amz-content-sha256"];
      const unsigned = {
        ...{ method, url: url.href, body: body === null ? null : Buffer.from(body) },
        headers: { ...headers, ...(hash === undefined ? {} : { "x-amz-content-sha256": hash }) },
      };
      const ours = signAws(unsigned, credentials, { region, service, nowMs });
      expect(ours.authorization).toBe(theirs.headers.authorization);
      expect(ours["x-amz-date"]).toBe(theirs.headers["x-amz-date"]);
      expect(ours["x-amz-security-token"]).toBe(theirs.headers["x-amz-security-token"]);
    }),
    { numRuns: 400 },
  );
});
