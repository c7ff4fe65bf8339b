// Claims that an identity provider writes at its userinfo endpoint alone.

import { afterAll, beforeAll, expect, it } from "vitest";
import { startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { setUpOperator } from "../../support/gateway/signed-in.ts";
import { browse } from "../../support/identity/browsing.ts";
import { CLIENT, type IdentityServer, startIdentityServer } from "../../support/identity/identity-server.ts";

const userinfo = { email: "ada@example.com", email_verified: true, groups: ["platform"] };
let inIdToken: Record<string, unknown> = {};
let idp: IdentityServer;
let gateway: TestGateway;
beforeAll(async () => {
  const claims = (use: string) => ({ sub: "ada", ...(use === "userinfo" ? userinfo : inIdToken) });
  idp = await startIdentityServer({ findAccount: (_context: unknown, accountId: string) => ({ accountId, claims }) });
  gateway = await startGateway({
    yaml: `
identityProviders:
  idp:
    issuer: ${idp.issuer}
    clientId: ${CLIENT.client_id}
    clientSecret: ${CLIENT.client_secret}
    defaultRole: owner
    rules:
      - { claim: groups, value: platform, role: operator }
`,
  });
  await idp.open(gateway.url);
  await setUpOperator(gateway);
});
afterAll(async () => {
  await gateway.stop();
  await idp.close();
});

it.each([
  [
    "of another address count for that one alone",
    { email: "boss@example.com" },
    "#/sign-in?problem=email_not_verified",
  ],
  ["of the same address are taken", { email: "ada@example.com" }, ""],
  ["stand in for an ID token without any", {}, ""],
])("%s", async (_name, claims, end) => {
  inIdToken = claims;
  const browser = browse();
  const isOver = (url: URL): boolean => url.origin === gateway.url && !url.pathname.startsWith("/api/");
  expect((await browser.visit(`${gateway.url}/api/sign-in/idp`, isOver)).url.hash).toBe(end);
  const { user } = (await (await browser.fetch(`${gateway.url}/api/session`)).json()) as { user: unknown };
  if (end === "") expect(user).toMatchObject({ email: "ada@example.com", role: "operator" });
  else expect(user).toBeNull();
});
