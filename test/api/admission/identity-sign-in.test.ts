// Sign-in of people with an identity provider, against a real one on loopback.

import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { join, PASSWORD, setUpOperator } from "../../support/gateway/signed-in.ts";
import { type Browsing, browse } from "../../support/identity/browsing.ts";
import { CLIENT, type IdentityServer, startIdentityServer } from "../../support/identity/identity-server.ts";

let idp: IdentityServer;
let gateway: TestGateway;
beforeAll(async () => {
  idp = await startIdentityServer();
  gateway = await startGateway({ yaml: yaml(), creditsUsd: null });
  await idp.open(gateway.url);
  await setUpOperator(gateway);
});
beforeEach(() => {
  idp.isDown = false;
});
afterAll(async () => {
  await gateway.stop();
  await idp.close();
});

function yaml(more = ""): string {
  return `
identityProviders:
  idp:
    name: Test
    issuer: ${idp.issuer}
    clientId: ${CLIENT.client_id}
    clientSecret: ${CLIENT.client_secret}
    defaultRole: owner
    rules:
      - { claim: groups, value: platform, role: operator }
${more}`;
}

/** Somebody at the identity provider, with a verified address of their own. */
function comes(subject: string, claims: Record<string, unknown> = {}): void {
  idp.person = { subject, claims: { email: `${subject}@example.com`, email_verified: true, ...claims } };
}

async function signIn(browser: Browsing = browse(), query = ""): Promise<URL> {
  const isOver = (url: URL): boolean => url.origin === gateway.url && !url.pathname.startsWith("/api/");
  return (await browser.visit(`${gateway.url}/api/sign-in/idp${query}`, isOver)).url;
}

async function userOf(browser: Browsing): Promise<Record<string, unknown> | null> {
  const answer = await browser.fetch(`${gateway.url}/api/session`);
  return ((await answer.json()) as { user: Record<string, unknown> | null }).user;
}

describe("a first sign-in", () => {
  it("makes a user, opens the page that was asked for, and uses code, PKCE, state and nonce", async () => {
    comes("ada");
    const browser = browse();
    const to = await browser.visit(`${gateway.url}/api/sign-in/idp?to=/keys`, ({ origin }) => origin === idp.issuer);
    const asked = Object.fromEntries(to.url.searchParams);
    expect(asked).toMatchObject({ response_type: "code", code_challenge_method: "S256", client_id: CLIENT.client_id });
    for (const name of ["code_challenge", "state", "nonce"]) expect(asked[name]).toMatch(/^[\w-]{43}$/);
    expect((await signIn(browser, "?to=/keys")).pathname).toBe("/keys");
    expect(await userOf(browser)).toMatchObject({ email: "ada@example.com", role: "admin", accountId: "default" });
  });

  it("makes an operator of somebody in the group of a rule, and an owner again without it", async () => {
    comes("grace", { groups: ["staff", "platform"] });
    const browser = browse();
    await signIn(browser);
    expect(await userOf(browser)).toMatchObject({ role: "operator" });
    comes("grace", { groups: ["staff"] });
    await signIn(browser);
    expect(await userOf(browser)).toMatchObject({ role: "admin" });
  });

  it("two at once make one user", async () => {
    comes("twin");
    const browsers = [browse(), browse(), browse()];
    const ends = await Promise.all(browsers.map((browser) => signIn(browser)));
    expect(ends.map(({ hash }) => hash)).toEqual(["", "", ""]);
    const ids = await Promise.all(browsers.map(async (browser) => (await userOf(browser))?.id));
    expect(new Set(ids).size).toBe(1);
  });

  it("links to the user with the same verified address, and not to one with an unverified address", async () => {
    comes("operator", { email_verified: false });
    const refused = browse();
    expect((await signIn(refused)).hash).toBe("#/sign-in?problem=email_not_verified");
    expect(await userOf(refused)).toBeNull();
    comes("operator");
    const browser = browse();
    await signIn(browser);
    expect(await userOf(browser)).toMatchObject({ email: "operator@example.com", role: "operator" });
  });
});

describe("a missing claim", () => {
  it("demotes nobody, also with Entra's overage of groups, which is logged", async () => {
    comes("hedy", { groups: ["platform"] });
    const browser = browse();
    await signIn(browser);
    comes("hedy");
    await signIn(browser);
    expect(await userOf(browser)).toMatchObject({ role: "operator" });
    comes("hedy", { _claim_names: { groups: "src1" }, _claim_sources: { src1: { endpoint: "https://graph" } } });
    await signIn(browser);
    expect(await userOf(browser)).toMatchObject({ role: "operator" });
    expect(gateway.logged.map(({ fields }) => fields.event)).toContain("identity.groups_overage");
  });
});

it("never demotes the last operator with a password", async () => {
  comes("operator", { groups: [] });
  const browser = browse();
  await signIn(browser);
  expect(await userOf(browser)).toMatchObject({ email: "operator@example.com", role: "operator" });
});

it("finds a subject whose address has changed, and gives nobody else's user to the old address", async () => {
  comes("moved");
  const browser = browse();
  await signIn(browser);
  const before = await userOf(browser);
  comes("moved", { email: "new-name@example.com" });
  await signIn(browser);
  expect(await userOf(browser)).toEqual({ ...before, email: "new-name@example.com" });
  comes("other", { email: "new-name@example.com" });
  expect((await signIn()).hash).toBe("#/sign-in?problem=identity_taken");
});

describe("a callback", () => {
  it("works once, and in the browser that began alone", async () => {
    comes("ada");
    const browser = browse();
    const isCallback = ({ pathname }: URL): boolean => pathname.endsWith("/callback");
    const { url } = await browser.visit(`${gateway.url}/api/sign-in/idp`, isCallback);
    const secret = browser.cookies(gateway.url);
    const stranger = await browse().fetch(url.href);
    expect(stranger.headers.get("location")).toBe("/#/sign-in?problem=sign_in_expired");
    const first = await browser.fetch(url.href);
    expect(first.headers.get("location")).toBe("/");
    const again = await browse().fetch(url.href, { headers: { cookie: secret } });
    expect(again.headers.get("location")).toBe("/#/sign-in?problem=sign_in_expired");
  });

  it("with an error of the identity provider, or another's code, signs nobody in", async () => {
    comes("ada");
    const browser = browse();
    const isCallback = ({ pathname }: URL): boolean => pathname.endsWith("/callback");
    for (const [change, problem] of [
      [{ error: "access_denied", code: null }, "sign_in_refused"],
      [{ code: "x".repeat(43) }, "sign_in_failed"],
      [{ iss: "https://evil.example.com" }, "sign_in_failed"],
      [{ state: "x".repeat(43) }, "sign_in_expired"],
    ] as const) {
      const { url } = await browser.visit(`${gateway.url}/api/sign-in/idp`, isCallback);
      for (const [name, value] of Object.entries(change)) {
        if (value === null) url.searchParams.delete(name);
        else url.searchParams.set(name, value);
      }
      const answer = await browser.fetch(url.href);
      expect(answer.headers.get("location")).toBe(`/#/sign-in?problem=${problem}`);
      expect(await userOf(browser)).toBeNull();
    }
  });

  it.each([
    "https://evil.example.com",
    "//evil.example.com",
    "/\\evil.example.com",
    "/\t/evil.example.com",
    "/api/keys",
  ])("never leads to %j", async (to) => {
    comes("ada");
    const end = await signIn(browse(), `?to=${encodeURIComponent(to)}`);
    expect(end.href).toBe(`${gateway.url}/`);
  });
});

it("signing out leads to the end of the session at the identity provider", async () => {
  comes("ada");
  const browser = browse();
  await signIn(browser);
  const answer = await browser.fetch(`${gateway.url}/api/session/end`, { method: "POST" });
  const { url } = (await answer.json()) as { url: string };
  expect(url.startsWith(`${idp.issuer}/session/end?`)).toBe(true);
  const params = new URL(url).searchParams;
  expect(params.get("post_logout_redirect_uri")).toBe(`${gateway.url}/`);
  expect(params.get("id_token_hint")).toMatch(/^eyJ/);
  expect(await userOf(browser)).toBeNull();
});

describe("identities of a user", () => {
  it("are listed, and the only way to sign in cannot be removed", async () => {
    comes("lise");
    const browser = browse();
    await signIn(browser);
    const list = await (await browser.fetch(`${gateway.url}/api/session/identities`)).json();
    const [identity] = (list as { data: { id: string }[] }).data;
    expect(identity).toMatchObject({ issuer: idp.issuer, subject: "lise", email: "lise@example.com" });
    const path = `${gateway.url}/api/session/identities/${identity?.id}`;
    const removed = await browser.fetch(path, { method: "DELETE" });
    expect(removed.status).toBe(409);
  });

  it("can be linked by a user who is signed in, and removed again", async () => {
    comes("second-self", { email_verified: false });
    const browser = browse();
    const credentials = JSON.stringify({ email: "operator@example.com", password: PASSWORD });
    const headers = { "content-type": "application/json" };
    const signed = await browser.fetch(`${gateway.url}/api/session`, { method: "POST", body: credentials, headers });
    expect(signed.status).toBe(204);
    const linkedBefore = await identitiesOf(browser);
    for (const { id } of linkedBefore) {
      const removed = await browser.fetch(`${gateway.url}/api/session/identities/${id}`, { method: "DELETE" });
      expect(removed.status).toBe(204);
    }
    await signIn(browser, "?link=1&to=/settings");
    expect(await identitiesOf(browser)).toMatchObject([{ subject: "second-self" }]);
    expect((await signIn(browse(), "?link=1")).hash).toBe("#/sign-in?problem=sign_in_expired");
    const other = browse();
    await signIn(other);
    expect(await userOf(other)).toMatchObject({ email: "operator@example.com" });
  });

  async function identitiesOf(browser: Browsing): Promise<readonly { id: string; subject: string }[]> {
    const answer = await browser.fetch(`${gateway.url}/api/session/identities`);
    return ((await answer.json()) as { data: { id: string; subject: string }[] }).data;
  }
});

it("lets only verified addresses of the listed domains in, and nobody new without a role", async () => {
  const fresh = await startGateway({
    yaml: yaml("    domains: [example.com]").replace("owner", "operator"),
    creditsUsd: null,
  });
  const strict = await startGateway({ yaml: yaml().replace("    defaultRole: owner\n", ""), creditsUsd: null });
  const signInTo = async ({ url: to }: TestGateway): Promise<string> => {
    await idp.open(to);
    const isOver = (url: URL): boolean => url.origin === to && !url.pathname.startsWith("/api/");
    return (await browse().visit(`${to}/api/sign-in/idp`, isOver)).url.hash;
  };
  try {
    comes("early");
    expect(await signInTo(fresh)).toBe("#/sign-in?problem=setup_needed");
    await Promise.all([setUpOperator(fresh), setUpOperator(strict)]);
    comes("eve", { email: "eve@evil.example" });
    expect(await signInTo(fresh)).toBe("#/sign-in?problem=domain_not_allowed");
    comes("eve", { email: "eve@example.com", email_verified: false });
    expect(await signInTo(fresh)).toBe("#/sign-in?problem=domain_not_allowed");
    comes("eve", { email: undefined });
    expect(await signInTo(strict)).toBe("#/sign-in?problem=no_email");
    comes("eve");
    expect(await signInTo(strict)).toBe("#/sign-in?problem=no_access");
    expect(await signInTo(fresh)).toBe("");
  } finally {
    await Promise.all([fresh.stop(), strict.stop()]);
    await idp.open(gateway.url);
  }
});

it("a viewer to whom no rule gives a role stays one, and the password of the invitation ends", async () => {
  const strict = await startGateway({ yaml: yaml().replace("    defaultRole: owner\n", ""), creditsUsd: null });
  try {
    await setUpOperator(strict);
    const invited = await join(strict, { email: "vera@example.com", role: "viewer", accountId: "default" });
    await idp.open(strict.url);
    comes("vera", { groups: ["staff"] });
    const browser = browse();
    const isOver = (url: URL): boolean => url.origin === strict.url && !url.pathname.startsWith("/api/");
    await browser.visit(`${strict.url}/api/sign-in/idp`, isOver);
    const session = (await (await browser.fetch(`${strict.url}/api/session`)).json()) as { user: object | null };
    expect(session.user).toMatchObject({ email: "vera@example.com", role: "viewer" });
    const before = (await (await invited.call("GET", "/api/session")).json()) as { user: object | null };
    expect(before.user).toBeNull();
  } finally {
    await strict.stop();
    await idp.open(gateway.url);
  }
});

it("while the identity provider is down, passwords work and the sign-in page says so", async () => {
  const fresh = await startGateway({ yaml: yaml(), creditsUsd: null });
  try {
    idp.isDown = true;
    const person = await setUpOperator(fresh);
    const begun = await fetch(`${fresh.url}/api/sign-in/idp`, { redirect: "manual" });
    expect(begun.headers.get("location")).toBe("/#/sign-in?problem=identity_provider_down");
    expect((await person.call("GET", "/api/keys")).status).toBe(200);
  } finally {
    await fresh.stop();
  }
});

it("keys that were rotated, and clocks that differ by less than a minute, do not matter", async () => {
  comes("ada");
  await signIn();
  const atMs = Date.now() + 11 * 60_000;
  vi.useFakeTimers({ toFake: ["Date"], now: atMs });
  try {
    await idp.rotate();
    const browser = browse();
    const isCallback = ({ pathname }: URL): boolean => pathname.endsWith("/callback");
    vi.setSystemTime(atMs + 40_000);
    const { url } = await browser.visit(`${gateway.url}/api/sign-in/idp`, isCallback);
    vi.setSystemTime(atMs);
    const end = await browser.fetch(url.href);
    expect(end.headers.get("location")).toBe("/");
  } finally {
    vi.useRealTimers();
  }
});
