// Invitations and users: links that work once, and an operator who cannot lock everybody out.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openDb } from "../../../src/store/db.ts";
import { expectError } from "../../support/errors.ts";
import { startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { join, PASSWORD, type Person, setUpOperator, signIn, tokenIn, visit } from "../../support/gateway/signed-in.ts";

let gateway: TestGateway;
let operator: Person;
beforeAll(async () => {
  gateway = await startGateway({ database: "file" });
  operator = await setUpOperator(gateway);
});
afterAll(() => gateway.stop());

/** As many wrong tokens as one address may send in a minute. */
const WRONG_TOKENS = 300;

interface Invitation {
  readonly id: string;
  readonly link: string;
}

async function invite(body: object): Promise<Invitation> {
  const answer = await operator.call("POST", "/api/invitations", body);
  expect(answer.status).toBe(201);
  return (await answer.json()) as Invitation;
}

function accept(token: string, extra: object = {}): Promise<Response> {
  return visit(gateway).call("POST", "/api/invitations/accept", { token, password: PASSWORD, ...extra });
}

async function emails(): Promise<readonly string[]> {
  const { data } = (await (await operator.call("GET", "/api/users")).json()) as { data: { email: string }[] };
  return data.map(({ email }) => email);
}

describe("an invitation", () => {
  it("makes one user, once, even when several try at the same time", async () => {
    const { link, ...shown } = await invite({ email: "Ada@Example.com", role: "owner", accountId: "default" });
    expect(shown).toMatchObject({ email: "ada@example.com", role: "admin", accountId: "default" });
    expect(link).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#\/invite\?token=[\w-]{43}$/);
    const answers = await Promise.all([accept(tokenIn(link)), accept(tokenIn(link)), accept(tokenIn(link))]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400]);
    await expectError(await accept(tokenIn(link)), { status: 400, code: "invalid_token" });
    expect((await emails()).filter((email) => email === "ada@example.com")).toHaveLength(1);
    expect((await signIn(gateway, "ada@example.com")).cookie).not.toBeNull();
  });

  it("is shown as long as it is open, without its token, and can be withdrawn", async () => {
    const { id, link } = await invite({ email: "open@example.com" });
    const listed = await (await operator.call("GET", "/api/invitations")).text();
    expect(listed).toContain(id);
    expect(listed).not.toContain(tokenIn(link));
    expect((await operator.call("DELETE", `/api/invitations/${id}`)).status).toBe(204);
    await expectError(await operator.call("DELETE", `/api/invitations/${id}`), { status: 404 });
    await expectError(await accept(tokenIn(link)), { status: 400, code: "invalid_token" });
  });

  it("says who is invited into which account and by whom, and is not used up by it", async () => {
    const account = (await (await operator.call("POST", "/api/accounts", { name: "Team Blue" })).json()) as {
      id: string;
    };
    const { link } = await invite({ email: "blue@example.com", accountId: account.id });
    const read = async (token: string): Promise<Response> =>
      visit(gateway).call("POST", "/api/invitations/read", { token });
    const answer = await read(tokenIn(link));
    expect([answer.status, await answer.json()]).toEqual([
      200,
      {
        ...{ email: "blue@example.com", role: "admin", account: "Team Blue", invitedBy: "operator@example.com" },
        expiresAt: expect.stringMatching(/Z$/),
      },
    ]);
    // Made by the admin token, it names nobody.
    const nobodys = await gateway.api("POST", "/api/invitations", { email: "token@example.com" });
    const { link: other } = (await nobodys.json()) as Invitation;
    expect(await (await read(tokenIn(other))).json()).toMatchObject({ invitedBy: null });
    expect((await accept(tokenIn(link))).status).toBe(201);
    const used = await read(tokenIn(link));
    const unknown = await read("x".repeat(43));
    const errors = await Promise.all(
      [used, unknown].map(async (each) => ({ ...(await each.json()).error, request_id: "" })),
    );
    expect([used.status, unknown.status]).toEqual([400, 400]);
    expect(errors[0]).toEqual(errors[1]);
    expect(errors[0]).toMatchObject({ code: "invalid_token" });
  });

  it("cannot be guessed: many wrong tokens get 429, and the right one still passes", async () => {
    const { link } = await invite({ email: "patient@example.com" });
    const statuses = new Set<number>();
    for (let guess = 0; guess <= WRONG_TOKENS; guess += 1) {
      const token = String(guess).padStart(43, "g");
      statuses.add((await visit(gateway).call("POST", "/api/invitations/read", { token })).status);
    }
    expect([...statuses]).toEqual([400, 429]);
    const right = await visit(gateway).call("POST", "/api/invitations/read", { token: tokenIn(link) });
    expect(right.status).toBe(200);
  });

  it("expires", async () => {
    const { id, link } = await invite({ email: "late@example.com" });
    const db = await openDb(gateway.database);
    await db.query("UPDATE invitations SET expires_at = $1 WHERE id = $2", [Date.now(), id]);
    await db.close();
    await expectError(await accept(tokenIn(link)), { status: 400, code: "invalid_token" });
  });

  it("is not used up by a password that is refused", async () => {
    const token = tokenIn((await invite({ email: "careless@example.com" })).link);
    await expectError(await accept(token, { password: "careless1234" }), { status: 400, param: "password" });
    expect((await accept(token)).status).toBe(201);
  });

  it("cannot be accepted as somebody else or as more", async () => {
    const token = tokenIn((await invite({ email: "modest@example.com" })).link);
    for (const extra of [{ role: "operator" }, { email: "x@x.example" }, { accountId: "default" }]) {
      await expectError(await accept(token, extra), { status: 400, param: Object.keys(extra)[0] ?? null });
    }
  });

  it("does not work as a set-up link", async () => {
    const token = tokenIn((await invite({ email: "sly@example.com" })).link);
    const body = { token, email: "sly@example.com", password: PASSWORD };
    await expectError(await visit(gateway).call("POST", "/api/setup", body), { status: 400, code: "invalid_token" });
  });

  it.each([
    [{}, 400],
    [{ email: "no address" }, 400],
    [{ email: "a@b.example", role: "boss" }, 400],
    [{ email: "a@b.example", accountId: "account_0" }, 400],
    [{ email: "a@b.example", id: "user_1" }, 400],
    [{ email: "operator@example.com" }, 409],
  ])("%j is %s", async (body, status) => {
    await expectError(await operator.call("POST", "/api/invitations", body), { status });
  });
});

describe("users", () => {
  it("are listed without their password's hash", async () => {
    const text = await (await operator.call("GET", "/api/users")).text();
    expect(text).not.toContain("scrypt");
    expect(JSON.parse(text).data.at(-1)).toEqual({
      id: expect.stringMatching(/^user_/),
      email: "operator@example.com",
      role: "operator",
      accountId: "default",
      teams: [],
      createdAt: expect.any(String),
      lastSignInAt: expect.any(String),
      deactivatedAt: null,
    });
  });

  it("are deleted with their sessions, but not the last operator", async () => {
    const { data } = (await (await operator.call("GET", "/api/users")).json()) as {
      data: { id: string; role: string }[];
    };
    const self = data.find(({ role }) => role === "operator")?.id ?? "";
    await expectError(await operator.call("DELETE", `/api/users/${self}`), { status: 409, code: "last_operator" });
    const second = await join(gateway, { email: "second@example.com", role: "operator" });
    const session = (await (await second.call("GET", "/api/session")).json()) as { user: { id: string } };
    expect((await operator.call("DELETE", `/api/users/${session.user.id}`)).status).toBe(204);
    await expectError(await second.call("GET", "/api/keys"), { status: 401 });
    await expectError(await operator.call("DELETE", `/api/users/${session.user.id}`), { status: 404 });
    await expectError(await operator.call("DELETE", `/api/users/${self}`), { status: 409 });
  });
});

describe("an operator made by invitation", () => {
  it("ends the set-up link", async () => {
    const fresh = await startGateway();
    await join(fresh, { email: "first@example.com", role: "operator" });
    const body = { token: tokenIn(fresh.setupLink ?? ""), email: "x@x.example", password: PASSWORD };
    await expectError(await visit(fresh).call("POST", "/api/setup", body), { status: 400, code: "invalid_token" });
    await fresh.stop();
  });
});
