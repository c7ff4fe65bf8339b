// What somebody who means harm tries with an identity provider, and what several issuers, processes and versions share.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JWTPayload } from "jose";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { expectError } from "../../support/errors.ts";
import { HELLO, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { setUpOperator } from "../../support/gateway/signed-in.ts";
import { type Browsing, browse } from "../../support/identity/browsing.ts";
import { CLIENT, type IdentityServer, startIdentityServer } from "../../support/identity/identity-server.ts";

let idp: IdentityServer;
let second: IdentityServer;
let gateway: TestGateway;
let account = "";
let profile = "";
const folder = mkdtempSync(join(tmpdir(), "switchyard-attacks-"));
const database = `sqlite:${join(folder, "switchyard.db")}`;
beforeAll(async () => {
  [idp, second] = await Promise.all([startIdentityServer(), startIdentityServer()]);
  const before = await startGateway({ database });
  account = (await made(before, "/api/accounts", { name: "research" })).id;
  profile = (await made(before, "/api/profiles", { name: "Frugal" })).id;
  await setUpOperator(before);
  await before.stop();
  gateway = await startGateway({ yaml: yaml(), database });
  await Promise.all([idp.open(gateway.url), second.open(gateway.url, "second")]);
});
beforeEach(() => {
  idp.keepsConnections = true;
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all([idp.close(), second.close()]);
  rmSync(folder, { recursive: true, force: true });
});

async function made(to: TestGateway, path: string, body: object): Promise<{ readonly id: string }> {
  return (await (await to.api("POST", path, body)).json()) as { id: string };
}

function yaml(more = ""): string {
  return `
identityProviders:
  idp:
    issuer: ${idp.issuer}
    clientId: ${CLIENT.client_id}
    clientSecret: ${CLIENT.client_secret}
    defaultRole: owner
    audiences: [switchyard-api]
    rules:
      - { claim: email, value: boss@example.com, role: operator, account: default }
      - { claim: groups, value: admins, account: default, role: operator }
      - { claim: groups, value: frugal, account: default, profile: ${profile} }
      - { claim: groups, value: abroad, account: ${account}, profile: ${profile} }
      - { claim: groups, value: everyone, account: default }
      - { claim: team, value: research, account: ${account} }
  second:
    issuer: ${second.issuer}
    clientId: ${CLIENT.client_id}
    clientSecret: ${CLIENT.client_secret}
    defaultRole: owner
    audiences: [switchyard-api]
${more}`;
}

function comes(subject: string, claims: Record<string, unknown> = {}, to: IdentityServer = idp): void {
  to.person = { subject, claims: { email: `${subject}@example.com`, email_verified: true, ...claims } };
}

async function signIn(browser: Browsing = browse(), query = "", id = "idp", to = gateway): Promise<URL> {
  const isOver = (url: URL): boolean => url.origin === to.url && !url.pathname.startsWith("/api/");
  return (await browser.visit(`${to.url}/api/sign-in/${id}${query}`, isOver)).url;
}

async function userOf(browser: Browsing): Promise<Record<string, unknown> | null> {
  const answer = await browser.fetch(`${gateway.url}/api/session`);
  return ((await answer.json()) as { user: Record<string, unknown> | null }).user;
}

const isCallback = ({ pathname }: URL): boolean => pathname.endsWith("/callback");

function ask(token: string, body: object = HELLO): Promise<Response> {
  return gateway.post("/v1/chat/completions", body, { authorization: `Bearer ${token}` });
}

function call(path: string, token: string): Promise<Response> {
  return gateway.get(path, { authorization: `Bearer ${token}` });
}

async function keyNamed(name: string, of = "default") {
  const listed = await (await gateway.api("GET", `/api/keys?limit=500&account=${of}`)).json();
  return (listed as { data: { id: string; name: string }[] }).data.find((key) => key.name === name);
}

describe("somebody whose key was revoked", () => {
  it("is kept out of /api too, also with a token that is known", async () => {
    const claims = { sub: "dismissed", groups: ["admins"], email: undefined };
    const token = await idp.token(claims);
    expect((await call("/api/users", token)).status).toBe(200);
    const key = await keyNamed("dismissed");
    expect((await gateway.api("DELETE", `/api/keys/${key?.id}`)).status).toBe(204);
    await expectError(await call("/api/users", token), { status: 401, code: "not_signed_in" });
    const another = await idp.token({ ...claims, jti: "another" });
    await expectError(await call("/api/users", another), { status: 401, code: "not_signed_in" });
  });
});

describe("an address that is not verified", () => {
  const boss = { email: "boss@example.com", email_verified: false };

  it("gives a person nothing by a rule for addresses, also when the person is known already", async () => {
    comes("climber");
    const browser = browse();
    await signIn(browser);
    comes("climber", boss);
    await signIn(browser);
    expect(await userOf(browser)).toMatchObject({ email: "climber@example.com", role: "admin" });
  });

  it("gives a program nothing either, not even a name", async () => {
    const token = await idp.token({ sub: "pretender", ...boss });
    await expectError(await call("/api/users", token), { status: 401, code: "token_without_access" });
    const other = await idp.token({ sub: "pretender", groups: ["everyone"], ...boss });
    expect((await ask(other)).status).toBe(200);
    expect([await keyNamed("boss@example.com"), (await keyNamed("pretender"))?.name]).toEqual([undefined, "pretender"]);
    const right = await idp.token({ sub: "the-boss", email: "boss@example.com", email_verified: true });
    expect((await call("/api/users", right)).status).toBe(200);
  });
});

it("an address that only looks the same in lower case finds nobody", async () => {
  comes("frank");
  const frank = browse();
  await signIn(frank);
  comes("not-frank", { email: "fran\u212a@example.com" });
  expect((await signIn()).hash).toBe("#/sign-in?problem=no_email");
});

describe("linking", () => {
  it("is begun by the dashboard alone, not by a neighbouring site", async () => {
    comes("linker");
    const browser = browse();
    await signIn(browser);
    const headers = { "sec-fetch-site": "same-site" };
    const begun = await browser.fetch(`${gateway.url}/api/sign-in/second?link=1`, { headers });
    expect(begun.headers.get("location")).toBe("/#/sign-in?problem=cross_site");
  });
});

it("a sign-in is refused whose ID token has a signature that is not accepted", async () => {
  const strict = await startGateway({ yaml: yaml().replace("defaultRole", "algorithms: [ES256]\n    defaultRole") });
  try {
    await setUpOperator(strict);
    await idp.open(strict.url);
    comes("weak");
    expect((await signIn(browse(), "", "idp", strict)).hash).toBe("#/sign-in?problem=sign_in_failed");
  } finally {
    await strict.stop();
    await idp.open(gateway.url);
  }
});

it("an identity provider that closes each connection without a word disturbs nobody", async () => {
  comes("patient");
  const browser = browse();
  const { url } = await browser.visit(`${gateway.url}/api/sign-in/idp`, isCallback);
  idp.keepsConnections = false;
  expect((await browser.fetch(url.href)).headers.get("location")).toBe("/");
});

describe("two issuers", () => {
  it("keep people with the same subject apart, and a verified address joins them", async () => {
    comes("same", { email: "first@example.com" });
    comes("same", { email: "second@example.com" }, second);
    const [one, two, three] = [browse(), browse(), browse()];
    await signIn(one);
    await signIn(two, "", "second");
    const [first, other] = [await userOf(one), await userOf(two)];
    expect([first?.email, other?.email]).toEqual(["first@example.com", "second@example.com"]);
    comes("elsewhere", { email: "first@example.com" }, second);
    await signIn(three, "", "second");
    expect(await userOf(three)).toEqual(first);
  });

  it("cannot be mixed up: a callback of one is none of the other", async () => {
    comes("mixed");
    const browser = browse();
    const { url } = await browser.visit(`${gateway.url}/api/sign-in/idp`, isCallback);
    const moved = await browser.fetch(url.href.replace("/idp/", "/second/"));
    expect(moved.headers.get("location")).toBe("/#/sign-in?problem=sign_in_expired");
    expect(await userOf(browser)).toBeNull();
  });

  it("do not sign for each other, and give the same subject two keys", async () => {
    const forged = await second.token({ iss: idp.issuer, groups: ["admins"] });
    await expectError(await ask(forged), { status: 401, code: "invalid_api_key" });
    await expectError(await call("/api/users", forged), { status: 401, code: "not_signed_in" });
    await expectError(await ask(await second.token({ groups: ["everyone"] })), {
      status: 401,
      code: "token_without_access",
    });
  });
});

describe("a rule", () => {
  it("names the profile of a program, and never that of another account", async () => {
    const token = await idp.token({ sub: "saver", groups: ["frugal"], email: undefined });
    const answer = await ask(token);
    expect(answer.status).toBe(200);
    const key = await (await gateway.api("GET", `/api/keys/${(await keyNamed("saver"))?.id}`)).json();
    expect(key).toMatchObject({ profile });
    const abroad = await idp.token({ sub: "abroad", groups: ["abroad"] });
    await expectError(await ask(abroad), { status: 401, code: "profile_deleted" });
  });

  it("moves a person to another account with the next sign-in, also in sessions that are open", async () => {
    comes("mover");
    const [open, browser] = [browse(), browse()];
    await signIn(open);
    expect(await userOf(open)).toMatchObject({ accountId: "default" });
    comes("mover", { groups: ["abroad"] });
    await signIn(browser);
    expect(await userOf(open)).toMatchObject({ accountId: account });
  });
});

it.each([
  ["without an end", { exp: undefined }, "token_not_valid_here"],
  ["without an audience", { aud: undefined }, "token_not_valid_here"],
  ["without a subject", { sub: undefined }, "token_not_valid_here"],
  ["for others alone", { aud: ["a", "b"] }, "token_not_valid_here"],
])("a token %s is refused", async (_name, claims, code) => {
  const token = await idp.token({ groups: ["everyone"], ...claims } as unknown as JWTPayload);
  await expectError(await ask(token), { status: 401, code });
});

it.each([
  { jku: "http://127.0.0.1:1/keys" },
  { x5u: "http://127.0.0.1:1/keys" },
  { kid: "../../etc/passwd" },
  { kid: "' OR 1=1 --" },
])("a header that points elsewhere (%j) is followed nowhere", async (header) => {
  const forged = await second.token({ iss: idp.issuer, groups: ["admins"] }, header);
  await expectError(await ask(forged), { status: 401, code: "invalid_api_key" });
});

it("tokens that name unknown keys make no storm of reads", async () => {
  expect((await ask(await idp.token({ groups: ["everyone"] }))).status).toBe(200);
  idp.asked.length = 0;
  const tokens = await Promise.all(Array.from({ length: 20 }, (_, index) => idp.token({}, { kid: `no-${index}` })));
  await Promise.all(tokens.map((token) => ask(token)));
  expect(idp.asked.length).toBeLessThanOrEqual(1);
});

it("a key that was withdrawn during a quiet night signs nothing in the morning", async () => {
  const other = await startIdentityServer();
  const quiet = await startGateway({ yaml: yaml().replace(idp.issuer, other.issuer) });
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
  try {
    await other.open(quiet.url);
    const headers = async (jti: string) => ({
      authorization: `Bearer ${await other.token({ jti, groups: ["everyone"], exp: Math.floor(Date.now() / 1000) + 86_400 })}`,
    });
    expect((await quiet.post("/v1/chat/completions", HELLO, await headers("evening"))).status).toBe(200);
    const stolen = await headers("stolen");
    await other.rotate();
    vi.setSystemTime(Date.now() + 8 * 3_600_000);
    expect((await quiet.post("/v1/chat/completions", HELLO, stolen)).status).toBe(401);
  } finally {
    vi.useRealTimers();
    await quiet.stop();
    await other.close();
  }
});
