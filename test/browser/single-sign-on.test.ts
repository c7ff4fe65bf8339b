// Sign-in with an identity provider in a real browser: the button, the way back to the page, the linked identities,
// signing out there too, and what the sign-in page says when it fails.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CLIENT, startIdentityServer } from "../support/identity/identity-server.ts";
import { hasBrowser, startDashboard } from "./dashboard.ts";

const idp = hasBrowser ? await startIdentityServer() : null;
const YAML = `
identityProviders:
  idp:
    name: Acme SSO
    issuer: ${idp?.issuer}
    clientId: ${CLIENT.client_id}
    clientSecret: ${CLIENT.client_secret}
    defaultRole: owner
`;

describe.skipIf(idp === null)("single sign-on", () => {
  const { gateway, visit } = startDashboard({ yaml: YAML });
  const server = (): NonNullable<typeof idp> => idp as NonNullable<typeof idp>;
  beforeAll(async () => {
    await server().open(gateway().url);
    // Sets the gateway up.
    await visit("/");
  });
  afterAll(() => server().close());

  test("opens the page that was asked for, shows the identity, and signs out at the identity provider", async () => {
    server().person = { subject: "ada", claims: { email: "ada@example.com", email_verified: true } };
    const { page } = await visit("/keys", { isSignedIn: false });
    await page.getByRole("link", { name: "Continue with Acme SSO" }).click();
    await page.getByRole("heading", { level: 1, name: "Keys" }).waitFor();
    await page.goto(`${gateway().url}/settings`);
    await page.getByText("ada@example.com (ada), last used").waitFor();
    await page.getByRole("button", { name: "Remove" }).click();
    await page.getByText("This is your only way to sign in.").waitFor();
    const left = page.waitForRequest((request) => request.url().startsWith(`${server().issuer}/session/end`));
    await page.locator(".settings").getByRole("button", { name: "Sign out" }).click();
    expect(new URL((await left).url()).searchParams.get("id_token_hint")).toMatch(/^eyJ/);
  });

  test("says why somebody is kept out, and takes a password all the same", async () => {
    server().person = { subject: "eve", claims: { email: "eve@example.com", email_verified: false } };
    const { page } = await visit("/", { isSignedIn: false });
    await page.getByRole("link", { name: "Continue with Acme SSO" }).click();
    await page.getByText("does not say that your e-mail address is verified").waitFor();
    await page.getByLabel("Password").waitFor();
  });

  test("links an identity to a user who is signed in", async () => {
    server().person = { subject: "operator-of-acme", claims: {} };
    const { page } = await visit("/settings");
    await page.getByRole("link", { name: "Link Acme SSO" }).click();
    await page.getByText("(operator-of-acme), last used").waitFor();
    await page.getByRole("button", { name: "Remove" }).click();
    await page.getByRole("link", { name: "Link Acme SSO" }).waitFor();
  });
});
