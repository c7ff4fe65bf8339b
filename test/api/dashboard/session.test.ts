// Signing in to the dashboard: the set-up link, sessions and their cookie, passwords, and pages of other sites.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openDb } from "../../../src/store/db.ts";
import { expectError } from "../../support/errors.ts";
import { startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { PASSWORD, setUpOperator, setupTokenOf, signIn, visit } from "../../support/gateway/signed-in.ts";

const EMAIL = "operator@example.com";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

async function sessionOf(person: ReturnType<typeof visit>): Promise<Record<string, unknown>> {
  const answer = await person.call("GET", "/api/session");
  expect(answer.status).toBe(200);
  return (await answer.json()) as Record<string, unknown>;
}

describe("before anybody has signed in", () => {
  it("the session says so without an error", async () => {
    expect(await sessionOf(visit(gateway))).toEqual({
      user: null,
      setupNeeded: true,
      sandbox: true,
      demo: false,
      readOnly: false,
      version: expect.any(String),
      commandPrefix: "npm start --",
      requestsPerMinute: null,
      untrustedProxy: null,
    });
  });

  it("the set-up link names the dashboard and keeps its token out of requests", () => {
    expect(gateway.setupLink).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#\/setup\?token=[\w-]{43}$/);
  });

  const good = { email: EMAIL, password: PASSWORD };
  it.each([
    ["a wrong token", { ...good, token: "x".repeat(43) }, "token"],
    ["no token of ours", { ...good, token: "' OR 1=1" }, "token"],
    ["no e-mail address", { ...good, email: "somebody" }, "email"],
    ["a short password", { ...good, password: "eleven char" }, "password"],
    ["a long password", { ...good, password: "ab1-".repeat(260) }, "password"],
    ["a common password", { ...good, password: "Password1234!" }, "password"],
    ["a password of one letter", { ...good, password: "aaaaaaaaaaaaaaaa" }, "password"],
    ["a run over the keyboard", { ...good, password: "qwertyuiopasdf" }, "password"],
    ["the address as password", { ...good, password: "operator@example.com" }, "password"],
    ["a field too many", { ...good, role: "operator" }, "role"],
    ["a field too few", { email: EMAIL }, "password"],
  ])("%s is refused", async (_name, body, param) => {
    const token = setupTokenOf(gateway);
    const answer = await visit(gateway).call("POST", "/api/setup", { token, ...body });
    expect(answer.headers.get("set-cookie")).toBeNull();
    await expectError(answer, { status: 400, param });
  });
});

describe("the set-up link", () => {
  it("says what is wrong with a mistyped token, and where the right one is", async () => {
    const body = { token: setupTokenOf(gateway).slice(0, -1), email: EMAIL, password: PASSWORD };
    const answer = await visit(gateway).call("POST", "/api/setup", body);
    const { message } = await expectError(answer, { status: 400, code: "wrong_setup_link", param: "token" });
    expect(message).toMatch(/^This is not the set-up link of this gateway\. .* printed when it started, or restart it/);
  });

  it("makes the first operator, signs them in, and works once", async () => {
    const token = setupTokenOf(gateway);
    const body = { token, email: " Operator@Example.com ", password: PASSWORD };
    const person = visit(gateway);
    const answers = await Promise.all([
      person.call("POST", "/api/setup", body),
      visit(gateway).call("POST", "/api/setup", { ...body, email: "late@example.com" }),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400]);
    await expectError(await visit(gateway).call("POST", "/api/setup", body), { status: 400, param: "token" });
    const { data } = (await (await gateway.api("GET", "/api/users")).json()) as { data: { email: string }[] };
    expect(data).toHaveLength(1);
    expect(await sessionOf(visit(gateway))).toMatchObject({ setupNeeded: false });
  });
});

describe("with an operator", () => {
  let dashboard: TestGateway;
  beforeAll(async () => {
    dashboard = await startGateway({ database: "file" });
    await setUpOperator(dashboard);
  });
  afterAll(() => dashboard.stop());

  it("signing in sets a cookie that scripts and other sites cannot use", async () => {
    const person = visit(dashboard);
    const answer = await person.call("POST", "/api/session", { email: "OPERATOR@example.com", password: PASSWORD });
    expect(answer.status).toBe(204);
    const [cookie, device] = answer.headers.getSetCookie();
    expect(cookie).toMatch(/^switchyard_session=[\w-]{43}; Max-Age=7776000; Path=\/; HttpOnly; SameSite=Strict$/);
    expect(device).toMatch(/^switchyard_device=[\w.-]{74}; Max-Age=31536000; Path=\/; HttpOnly; SameSite=Strict$/);
    expect(await sessionOf(person)).toMatchObject({
      user: { id: expect.stringMatching(/^user_/), email: EMAIL, role: "operator", accountId: "default" },
      setupNeeded: false,
    });
    expect((await person.call("GET", "/api/keys")).status).toBe(200);
  });

  it("the cookie is Secure where the connection is", async () => {
    const answer = await visit(dashboard).call(
      "POST",
      "/api/session",
      { email: EMAIL, password: PASSWORD },
      { "x-forwarded-proto": "https" },
    );
    expect(answer.headers.get("set-cookie")).toMatch(/^__Host-switchyard_session=.*; Path=\/;.*; Secure/);
  });

  it("over https a cookie that a neighbour could have planted opens nothing", async () => {
    const person = visit(dashboard);
    await person.call("POST", "/api/session", { email: EMAIL, password: PASSWORD });
    const whoIs = async (cookie: string, proto: string): Promise<unknown> => {
      const answer = await fetch(`${dashboard.url}/api/session`, { headers: { cookie, "x-forwarded-proto": proto } });
      return ((await answer.json()) as { user: unknown }).user;
    };
    expect(await whoIs(`switchyard_session=${person.cookie}`, "http")).not.toBeNull();
    expect(await whoIs(`switchyard_session=${person.cookie}`, "https")).toBeNull();
    expect(await whoIs(`switchyard_session=x; __Host-switchyard_session=${person.cookie}`, "https")).not.toBeNull();
  });

  it("a wrong password and an unknown address are answered alike", async () => {
    const person = visit(dashboard);
    const wrong = await person.call("POST", "/api/session", { email: EMAIL, password: "not this one, sorry" });
    const unknown = await person.call("POST", "/api/session", { email: "nobody@x.example", password: PASSWORD });
    const first = await expectError(wrong, { status: 401, code: "wrong_credentials" });
    const second = await expectError(unknown, { status: 401, code: "wrong_credentials" });
    expect(first.message).toBe(second.message);
    expect(person.cookie).toBeNull();
  });

  it.each([
    [{ email: EMAIL }],
    [{ email: EMAIL, password: 5 }],
    [{ email: EMAIL, password: PASSWORD, admin: true }],
    ["[]"],
  ])("%j is not a sign-in", async (body) => {
    await expectError(await visit(dashboard).call("POST", "/api/session", body), { status: 400 });
  });

  it("only JSON is read", async () => {
    const answer = await visit(dashboard).call("POST", "/api/session", "email=a&password=b", {
      "content-type": "application/x-www-form-urlencoded",
    });
    await expectError(answer, { status: 415 });
  });

  it("signing out ends the session itself, not only the cookie", async () => {
    const person = await signIn(dashboard, EMAIL);
    const stolen = visit(dashboard, person.cookie);
    const answer = await person.call("DELETE", "/api/session");
    expect([answer.status, person.cookie]).toEqual([204, null]);
    await expectError(await stolen.call("GET", "/api/keys"), { status: 401 });
    expect(await sessionOf(stolen)).toMatchObject({ user: null });
    expect((await person.call("DELETE", "/api/session")).status).toBe(204);
  });

  it.each(["", "x", "x".repeat(43), "'; DROP TABLE users; --", "é"])("the cookie %j opens nothing", async (cookie) => {
    const person = visit(dashboard, encodeURIComponent(cookie));
    await expectError(await person.call("GET", "/api/keys"), { status: 401, code: "not_signed_in" });
  });

  it("the token of a session is stored nowhere, and a wrong bearer token is not saved by a cookie", async () => {
    const person = await signIn(dashboard, EMAIL);
    const answer = await person.call("GET", "/api/keys", undefined, { authorization: "Bearer wrong" });
    await expectError(answer, { status: 401 });
    const db = await openDb(dashboard.database);
    const rows = [...(await db.query("SELECT * FROM sessions")), ...(await db.query("SELECT * FROM users"))];
    await db.close();
    expect(JSON.stringify(rows)).not.toContain(person.cookie);
    expect(JSON.stringify(rows)).not.toContain(PASSWORD);
  });

  it.each([
    ["seen", 14],
    ["created", 90],
  ])("a session ends: %s %s days ago", async (column, days) => {
    const person = await signIn(dashboard, EMAIL);
    const db = await openDb(dashboard.database);
    const age = async (ms: number): Promise<void> => {
      const fresh = column === "seen" ? "created_at" : "seen_at";
      await db.query(`UPDATE sessions SET ${column}_at = $1, ${fresh} = $2`, [Date.now() - ms, Date.now()]);
    };
    await age(days * 86_400_000 - 60_000);
    expect((await person.call("GET", "/api/keys")).status).toBe(200);
    await age(days * 86_400_000 + 1);
    await db.close();
    await expectError(await person.call("GET", "/api/keys"), { status: 401 });
  });
});

describe("pages of other sites", () => {
  let dashboard: TestGateway;
  let cookie: string | null;
  beforeAll(async () => {
    dashboard = await startGateway({ database: "file" });
    ({ cookie } = await setUpOperator(dashboard));
  });
  afterAll(() => dashboard.stop());

  const hostile: readonly Record<string, string>[] = [
    { "sec-fetch-site": "cross-site", origin: "https://evil.example" },
    { "sec-fetch-site": "same-site", origin: "http://127.0.0.1:1" },
    { "sec-fetch-site": "none" },
    { origin: "https://evil.example" },
    { origin: "null" },
    { origin: "http://127.0.0.1:1" },
  ];

  async function send(method: string, path: string, headers: Record<string, string>, body?: object): Promise<Response> {
    const written = body === undefined ? {} : { body: JSON.stringify(body) };
    const type = body === undefined ? {} : { "content-type": "application/json" };
    return fetch(`${dashboard.url}${path}`, {
      method,
      headers: { cookie: `switchyard_session=${cookie}`, ...type, ...headers },
      ...written,
    });
  }

  it.each(hostile)("cannot write with the cookie: %j", async (headers) => {
    for (const [method, path, body] of [
      ["POST", "/api/keys", { name: "stolen" }],
      ["DELETE", "/api/keys/key_first"],
      ["POST", "/api/session/password", { current: PASSWORD, next: "another good one 77" }],
      ["POST", "/api/session", { email: EMAIL, password: PASSWORD }],
      ["DELETE", "/api/session"],
    ] as const) {
      await expectError(await send(method, path, headers, body), {
        status: 403,
        type: "permission_error",
        code: "cross_site",
      });
    }
    expect((await send("GET", "/api/keys", {})).status).toBe(200);
  });

  it("our own page may, and so may a program that is no person", async () => {
    const { host, origin } = new URL(dashboard.url);
    for (const headers of [{ "sec-fetch-site": "same-origin" }, { origin, host }, {}] as Record<string, string>[]) {
      expect((await send("POST", "/api/keys", headers, { name: "ours" })).status).toBe(201);
    }
  });

  it("the admin token is nobody's cookie and needs no such proof", async () => {
    const headers = { authorization: "Bearer test-admin-token", origin: "https://evil.example" };
    expect((await send("POST", "/api/keys", headers, { name: "automation" })).status).toBe(201);
  });
});

describe("changing the password", () => {
  it("ends the other sessions, keeps this one, and the old password is gone", async () => {
    const dashboard = await startGateway();
    const here = await setUpOperator(dashboard);
    const there = await signIn(dashboard, EMAIL);
    const next = "a quite different phrase";
    const change = (body: object): Promise<Response> => here.call("POST", "/api/session/password", body);
    await expectError(await change({ current: "wrong, wrong", next }), { status: 400, param: "current" });
    await expectError(await change({ current: PASSWORD, next: "short" }), { status: 400, param: "next" });
    await expectError(await change({ current: PASSWORD, next, role: "operator" }), { status: 400, param: "role" });
    expect((await there.call("GET", "/api/keys")).status).toBe(200);
    expect((await change({ current: PASSWORD, next })).status).toBe(204);
    expect((await here.call("GET", "/api/keys")).status).toBe(200);
    await expectError(await there.call("GET", "/api/keys"), { status: 401 });
    await expectError(await visit(dashboard).call("POST", "/api/session", { email: EMAIL, password: PASSWORD }), {
      status: 401,
    });
    await signIn(dashboard, EMAIL, next);
    const byToken = await dashboard.api("POST", "/api/session/password", { current: next, next: PASSWORD });
    await expectError(byToken, { status: 403, type: "permission_error", code: "no_session" });
    await dashboard.stop();
  });
});
