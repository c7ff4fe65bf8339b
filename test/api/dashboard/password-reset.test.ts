// A forgotten password: an operator makes a link that works once, for a day, and ends what was open.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openDb } from "../../../src/store/db.ts";
import { expectError } from "../../support/errors.ts";
import { startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { join, PASSWORD, type Person, setUpOperator, signIn, tokenIn, visit } from "../../support/gateway/signed-in.ts";

const NEXT = "a completely new secret 7";
const EMAIL = "ada@example.com";

let gateway: TestGateway;
let operator: Person;
let ada: Person;
let adaId: string;
beforeAll(async () => {
  gateway = await startGateway({ database: "file" });
  operator = await setUpOperator(gateway);
  ada = await join(gateway, { email: EMAIL });
  const { user } = (await (await ada.call("GET", "/api/session")).json()) as { user: { id: string } };
  adaId = user.id;
});
afterAll(() => gateway.stop());

interface Made {
  readonly email: string;
  readonly link: string;
  readonly expiresAt: string;
}

async function makeLink(id = adaId): Promise<Made> {
  const answer = await operator.call("POST", `/api/users/${id}/reset`);
  expect(answer.status).toBe(201);
  return (await answer.json()) as Made;
}

function redeem(token: string, extra: object = {}): Promise<Response> {
  return visit(gateway).call("POST", "/api/password-reset", { token, password: NEXT, ...extra });
}

async function messageOf(answer: Response): Promise<string> {
  return (await expectError(answer, { status: 400, code: "invalid_token", param: "token" })).message;
}

describe("a reset link", () => {
  it("sets the password once, signs in, and ends every other session", async () => {
    const made = await makeLink();
    expect(made).toEqual({
      email: EMAIL,
      link: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/#\/reset\?token=[\w-]{43}$/),
      expiresAt: expect.any(String),
    });
    expect(Date.parse(made.expiresAt) - Date.now()).toBeGreaterThan(23 * 3_600_000);
    // Nothing has happened yet.
    expect((await ada.call("GET", "/api/keys")).status).toBe(200);
    const answers = await Promise.all([1, 2, 3].map(() => redeem(tokenIn(made.link))));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400]);
    expect((await ada.call("GET", "/api/keys")).status).toBe(401);
    const old = await visit(gateway).call("POST", "/api/session", { email: EMAIL, password: PASSWORD });
    await expectError(old, { status: 401, code: "wrong_credentials" });
    expect((await signIn(gateway, EMAIL, NEXT)).cookie).not.toBeNull();
    expect((await operator.call("GET", "/api/keys")).status).toBe(200);
  });

  it("signs in the user who used it", async () => {
    const person = visit(gateway);
    const token = tokenIn((await makeLink()).link);
    const answer = await person.call("POST", "/api/password-reset", { token, password: NEXT });
    expect(await answer.json()).toMatchObject({ user: { id: adaId, email: EMAIL, role: "admin" } });
    expect((await person.call("GET", "/api/keys")).status).toBe(200);
  });

  it("that was never made, was used, was replaced or has expired is one and the same refusal", async () => {
    const replaced = tokenIn((await makeLink()).link);
    const used = tokenIn((await makeLink()).link);
    const never = await messageOf(await redeem("x".repeat(43)));
    expect(await messageOf(await redeem(replaced))).toBe(never);
    expect((await redeem(used)).status).toBe(201);
    expect(await messageOf(await redeem(used))).toBe(never);
    const late = tokenIn((await makeLink()).link);
    const db = await openDb(gateway.database);
    await db.query("UPDATE password_resets SET expires_at = $1", [Date.now()]);
    await db.close();
    expect(await messageOf(await redeem(late))).toBe(never);
    for (const odd of ["", "x", "\u0000", "x".repeat(4_000)]) expect(await messageOf(await redeem(odd))).toBe(never);
  });

  it("ends when the user changes the password by themselves, and with the user", async () => {
    const person = await signIn(gateway, EMAIL, NEXT);
    const first = tokenIn((await makeLink()).link);
    const change = { current: NEXT, next: `${NEXT}!` };
    expect((await person.call("POST", "/api/session/password", change)).status).toBe(204);
    await messageOf(await redeem(first));
    await join(gateway, { email: "brief@example.com" });
    const { data } = (await (await operator.call("GET", "/api/users")).json()) as {
      data: { id: string; email: string }[];
    };
    const { id } = data.find(({ email }) => email === "brief@example.com") as { id: string };
    const second = tokenIn((await makeLink(id)).link);
    await operator.call("DELETE", `/api/users/${id}`);
    await messageOf(await redeem(second));
  });

  it("is not used up by a password that is refused, and takes nothing but token and password", async () => {
    const token = tokenIn((await makeLink()).link);
    await expectError(await redeem(token, { password: "short" }), { status: 400, param: "password" });
    for (const extra of [{ email: "x@x.example" }, { role: "operator" }, { userId: "user_1" }]) {
      await expectError(await redeem(token, extra), { status: 400, param: Object.keys(extra)[0] ?? null });
    }
    expect((await redeem(token)).status).toBe(201);
  });

  it("does not work as an invitation or a set-up link, nor they as one", async () => {
    const token = tokenIn((await makeLink()).link);
    await messageOf(await visit(gateway).call("POST", "/api/invitations/accept", { token, password: NEXT }));
    const setUp = { token, email: EMAIL, password: NEXT };
    await messageOf(await visit(gateway).call("POST", "/api/setup", setUp));
    const invited = await operator.call("POST", "/api/invitations", { email: "new@example.com" });
    await messageOf(await redeem(tokenIn(((await invited.json()) as Made).link)));
  });

  it("is for those who manage people to make, and for nobody of another site to use", async () => {
    const owner = await join(gateway, { email: "owner@example.com", role: "viewer" });
    for (const id of [adaId, "user_0"]) {
      const answer = await owner.call("POST", `/api/users/${id}/reset`);
      await expectError(answer, { status: 403, code: "not_permitted" });
    }
    await expectError(await visit(gateway).call("POST", `/api/users/${adaId}/reset`), { status: 401 });
    await expectError(await operator.call("POST", "/api/users/user_0/reset"), { status: 404, param: "id" });
    const token = tokenIn((await makeLink()).link);
    const body = { token, password: NEXT };
    const foreign = await visit(gateway).call("POST", "/api/password-reset", body, { "sec-fetch-site": "cross-site" });
    await expectError(foreign, { status: 403, code: "cross_site" });
  });

  it("is in no log and no list", async () => {
    const token = tokenIn((await makeLink()).link);
    await redeem(token);
    expect(JSON.stringify(gateway.logged)).not.toContain(token);
    expect(await (await operator.call("GET", "/api/users")).text()).not.toContain(token);
  });
});

describe("inviting again", () => {
  it("somebody who is a user already says what to do instead", async () => {
    const answer = await operator.call("POST", "/api/invitations", { email: EMAIL.toUpperCase() });
    const { message } = await expectError(answer, { status: 409, code: "email_taken", param: "email" });
    expect(message).toContain("reset link");
  });

  it("somebody who has not come yet makes a new link, and the old one ends", async () => {
    const invite = async (role: string): Promise<string> => {
      const answer = await operator.call("POST", "/api/invitations", { email: "slow@example.com", role });
      expect(answer.status).toBe(201);
      return tokenIn(((await answer.json()) as Made).link);
    };
    const [first, second] = [await invite("operator"), await invite("owner")];
    const { data } = (await (await operator.call("GET", "/api/invitations")).json()) as { data: { email: string }[] };
    expect(data.filter(({ email }) => email === "slow@example.com")).toMatchObject([{ role: "admin" }]);
    const accept = (token: string) =>
      visit(gateway).call("POST", "/api/invitations/accept", { token, password: PASSWORD });
    await messageOf(await accept(first));
    expect((await accept(second)).status).toBe(201);
  });
});
