// Keys of an issuer, as its metadata names them.

import { afterEach, expect, it, vi } from "vitest";
import { createIssuer } from "../../../src/accounts/identity/issuer.ts";
import type { IdentityProvider } from "../../../src/core/people.ts";

afterEach(() => {
  vi.unstubAllGlobals();
});

const issuer = "https://issuer.example.com";
const provider: IdentityProvider = {
  ...{ id: "idp", name: "Test", issuer, clientId: null, clientSecret: null, deviceClientId: null },
  ...{ scopes: [], domains: [], trustsEmail: false, defaultRole: null, account: null, rules: [] },
  ...{ audiences: ["a"], algorithms: ["RS256"] },
};

it("keys that come without https are not read", async () => {
  const asked: string[] = [];
  vi.stubGlobal("fetch", async (url: string | URL) => {
    asked.push(new URL(url).pathname);
    return Response.json({ issuer, jwks_uri: "http://issuer.example.com/keys", keys: [] });
  });
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const token = `${part({ alg: "RS256", kid: "x" })}.${part({ iss: issuer, aud: "a", sub: "s", exp: 9e9 })}.AA`;
  await expect(createIssuer(provider).claimsOf(token)).rejects.toMatchObject({
    details: { code: "identity_provider_down" },
  });
  expect(asked).toEqual(["/.well-known/openid-configuration"]);
});
