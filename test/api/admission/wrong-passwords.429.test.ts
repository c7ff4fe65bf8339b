// Guessing passwords: bounded for an account and for an address, and no way to lock its owner out.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectError } from "../../support/errors.ts";
import { ADMIN_TOKEN, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { join, PASSWORD, type Person, setUpOperator, visit } from "../../support/gateway/signed-in.ts";
import { createTestDatabase } from "../../support/stores/postgres.ts";

const WRONG = "wrong, wrong, wrong";
const TOO_MANY = { status: 429, code: "too_many_attempts" };

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ env: { SWITCHYARD_TRUSTED_PROXIES: "127.0.0.0/8, ::1" } });
});
afterAll(() => gateway.stop());

interface Attempt {
  readonly email: string;
  readonly password?: string;
  readonly address: string;
  readonly person?: Person;
}

function attempt({ email, password = WRONG, address, person = visit(gateway) }: Attempt): Promise<Response> {
  return person.call("POST", "/api/session", { email, password }, { "x-forwarded-for": address });
}

/** How many of so many guesses, made at once, were looked at. */
async function guess(email: string, addresses: readonly string[], each = 12): Promise<number> {
  const guesses = addresses.flatMap((address) => Array.from({ length: each }, () => attempt({ email, address })));
  const statuses = (await Promise.all(guesses)).map(({ status }) => status);
  expect(statuses.filter((status) => status !== 401 && status !== 429)).toEqual([]);
  return statuses.filter((status) => status === 401).length;
}

const addresses = (network: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${network}.${index + 1}`);

describe("an outsider at one address", () => {
  it("gets ten guesses for an account, known or not, and its owner signs in from elsewhere", async () => {
    await join(gateway, { email: "one@example.com" });
    for (const email of ["one@example.com", "nobody@example.com"]) {
      expect(await guess(email, ["6.6.1.1"])).toBe(10);
      const refused = await attempt({ email, password: PASSWORD, address: "6.6.1.1" });
      expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
      await expectError(refused, TOO_MANY);
      await guess(email, ["6.6.1.1"], 40);
    }
    expect((await attempt({ email: "one@example.com", password: PASSWORD, address: "9.9.1.1" })).status).toBe(204);
  });

  it("gets fifty guesses over all accounts, and other addresses go on", async () => {
    for (let index = 0; index < 50; index += 1) {
      expect((await attempt({ email: `user${index}@example.com`, address: "6.6.2.1" })).status).toBe(401);
    }
    await expectError(await attempt({ email: "another@example.com", address: "6.6.2.1" }), TOO_MANY);
    expect((await attempt({ email: "another@example.com", address: "6.6.2.2" })).status).toBe(401);
  });

  it("is a network, where it has IPv6 addresses", async () => {
    const own = Array.from({ length: 12 }, (_, index) => `2001:db8:6:6::${index + 1}`);
    expect(await guess("six@example.com", own, 1)).toBe(10);
    expect((await attempt({ email: "six@example.com", address: "2001:db8:6:7::1" })).status).toBe(401);
  });
});

describe("outsiders at many addresses", () => {
  it("get thirty guesses for an account, and its owner signs in at once with a known device", async () => {
    const email = "many@example.com";
    const owner = await join(gateway, { email });
    await owner.call("DELETE", "/api/session");
    expect(await guess(email, addresses("6.7.1", 10))).toBe(30);
    // One of them even shares the owner's address.
    await expectError(await attempt({ email, password: PASSWORD, address: "6.7.1.1" }), TOO_MANY);
    await expectError(await attempt({ email, password: PASSWORD, address: "9.9.2.1" }), TOO_MANY);
    for (const address of ["6.7.1.1", "9.9.2.1"]) {
      expect((await attempt({ email, password: PASSWORD, address, person: owner })).status).toBe(204);
    }
    expect(await guess(email, addresses("6.7.2", 3), 1)).toBe(0);
  });

  it("do not keep a signed-in user from changing the password, and the device stays known", async () => {
    const email = "change@example.com";
    const owner = await join(gateway, { email });
    expect(await guess(email, addresses("6.7.3", 4))).toBe(30);
    const next = "quite another phrase 7";
    const change = { current: PASSWORD, next };
    expect((await owner.call("POST", "/api/session/password", change)).status).toBe(204);
    await expectError(await attempt({ email, password: next, address: "9.9.3.1" }), TOO_MANY);
    expect((await attempt({ email, password: next, address: "9.9.3.1", person: owner })).status).toBe(204);
  });

  it("do not keep a reset link from working, and it makes the device known", async () => {
    const email = "reset@example.com";
    await join(gateway, { email });
    expect(await guess(email, addresses("6.7.4", 4))).toBe(30);
    const users = (await (await gateway.api("GET", "/api/users?limit=200")).json()) as {
      data: { id: string; email: string }[];
    };
    const id = users.data.find((user) => user.email === email)?.id;
    const { link } = (await (await gateway.api("POST", `/api/users/${id}/reset`)).json()) as { link: string };
    const person = visit(gateway);
    const body = { token: new URLSearchParams(link.split("?")[1]).get("token"), password: "a third phrase, new" };
    expect((await person.call("POST", "/api/password-reset", body)).status).toBe(201);
    expect((await attempt({ email, password: body.password, address: "9.9.4.1", person })).status).toBe(204);
  });
});

describe("a known device", () => {
  it("gets ten guesses of its own", async () => {
    const email = "device@example.com";
    const person = await join(gateway, { email });
    const tries = Array.from({ length: 12 }, () => attempt({ email, address: "9.9.5.1", person }));
    const statuses = (await Promise.all(tries)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 401)).toHaveLength(10);
    await expectError(await attempt({ email, password: PASSWORD, address: "9.9.5.2", person }), TOO_MANY);
    // Its failures do not count against others.
    expect((await attempt({ email, password: PASSWORD, address: "9.9.5.1" })).status).toBe(204);
  });

  it("is known for its own user only", async () => {
    const mallory = await join(gateway, { email: "mallory@example.com" });
    await join(gateway, { email: "victim@example.com" });
    expect(await guess("victim@example.com", ["6.8.1.1"])).toBe(10);
    const stolen = { email: "victim@example.com", password: PASSWORD, address: "6.8.1.1", person: mallory };
    await expectError(await attempt(stolen), TOO_MANY);
  });

  it("is no longer known after the password was changed elsewhere", async () => {
    const email = "elsewhere@example.com";
    const [here, there] = [await join(gateway, { email }), visit(gateway)];
    expect((await attempt({ email, password: PASSWORD, address: "9.9.6.1", person: there })).status).toBe(204);
    const next = "quite another phrase 8";
    expect((await here.call("POST", "/api/session/password", { current: PASSWORD, next })).status).toBe(204);
    expect(await guess(email, ["6.8.2.1"])).toBe(10);
    await expectError(await attempt({ email, password: next, address: "6.8.2.1", person: there }), TOO_MANY);
    expect((await attempt({ email, password: next, address: "6.8.2.1", person: here })).status).toBe(204);
  });
});

const database = await createTestDatabase();
afterAll(() => database?.drop());

describe.skipIf(database === null)("two processes on PostgreSQL", () => {
  it("count attempts together and know the same devices", async () => {
    const env = { SWITCHYARD_TRUSTED_PROXIES: "127.0.0.0/8, ::1" };
    const first = await startGateway({ env, database: database?.url ?? "" });
    const second = await startGateway({ env, database: database?.url ?? "" });
    const email = "shared@example.com";
    await join(first, { email });
    const from = (at: TestGateway, address: string, password: string, headers = {}): Promise<Response> =>
      visit(at).call("POST", "/api/session", { email, password }, { "x-forwarded-for": address, ...headers });
    const cookies = (await from(first, "9.9.8.1", PASSWORD)).headers.getSetCookie();
    const cookie = cookies.find((each) => each.startsWith("switchyard_device="))?.split(";")[0] ?? "";
    for (let guesses = 0; guesses < 5; guesses += 1) {
      for (const at of [first, second]) expect((await from(at, "6.9.2.1", WRONG)).status).toBe(401);
    }
    await expectError(await from(first, "6.9.2.1", PASSWORD), TOO_MANY);
    await expectError(await from(second, "6.9.2.1", PASSWORD), TOO_MANY);
    expect((await from(second, "6.9.2.1", PASSWORD, { cookie })).status).toBe(204);
    await Promise.all([first.stop(), second.stop()]);
  });
});

it("attempts come in small bodies only", async () => {
  const answer = await attempt({ email: `${"x".repeat(100_000)}@example.com`, address: "6.9.1.1" });
  await expectError(answer, { status: 413 });
});

describe("a proxy that is not trusted", () => {
  it("is logged once and shown to operators only", async () => {
    const direct = await startGateway();
    const operator = await setUpOperator(direct);
    const owner = await join(direct, { email: "owner@example.com" });
    const forwarded = { "x-forwarded-for": "9.9.9.9" };
    const shownTo = async (person: Person, headers: Record<string, string>): Promise<unknown> => {
      const answer = await person.call("GET", "/api/session", undefined, headers);
      return ((await answer.json()) as { untrustedProxy: unknown }).untrustedProxy;
    };
    expect(await shownTo(operator, {})).toBeNull();
    expect(await shownTo(operator, forwarded)).toBe("127.0.0.1");
    expect(await shownTo(owner, forwarded)).toBeNull();
    const lines = direct.logged.filter(({ fields }) => fields.event === "proxy.untrusted");
    expect(lines).toMatchObject([{ level: "warn", fields: { address: "127.0.0.1" } }]);
    await direct.stop();
  });

  it("is none where it is configured", async () => {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, "x-forwarded-for": "9.9.9.9" };
    expect((await gateway.get("/api/credits", headers)).status).toBe(200);
    expect(gateway.logged.filter(({ fields }) => fields.event === "proxy.untrusted")).toEqual([]);
  });
});
