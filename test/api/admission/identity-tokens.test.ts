// Tokens of an identity provider instead of an API key, on /v1 and /api.

import { createHmac } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { expectError } from "../../support/errors.ts";
import { HELLO, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { join as invited } from "../../support/gateway/signed-in.ts";
import { type IdentityServer, startIdentityServer } from "../../support/identity/identity-server.ts";

let idp: IdentityServer;
let gateway: TestGateway;
let account = "";
beforeAll(async () => {
  idp = await startIdentityServer();
  gateway = await startGateway({ yaml: yaml() });
  await idp.open(gateway.url);
  const made = await gateway.api("POST", "/api/accounts", { name: "research" });
  account = ((await made.json()) as { id: string }).id;
});
beforeEach(() => {
  idp.isDown = false;
  idp.person = { subject: "ci", claims: { groups: ["everyone"] } };
});
afterAll(async () => {
  await gateway.stop();
  await idp.close();
});

function yaml(rules = ""): string {
  return `
identityProviders:
  idp:
    issuer: ${idp.issuer}
    audiences: [switchyard-api, other-of-ours]
    rules:
      - { claim: groups, value: everyone, account: default, requestsPerMinute: 77 }
      - { claim: groups, value: admins, account: default, role: operator }
      - { claim: repository, value: acme/*, account: default, role: owner }
${rules}`;
}

function ask(token: string, to: TestGateway = gateway): Promise<Response> {
  return to.post("/v1/chat/completions", HELLO, { authorization: `Bearer ${token}` });
}

interface Listed {
  readonly data: readonly { id: string; name: string; prefix: string; requestsPerMinute: number | null }[];
}

async function keysNamed(name: string): Promise<Listed["data"]> {
  const answer = await gateway.api("GET", `/api/keys?limit=500`);
  return ((await answer.json()) as Listed).data.filter((key) => key.name === name);
}

describe("a valid token", () => {
  it("is taken on /v1 by bearer and by x-api-key, as one key named after its holder", async () => {
    idp.person = { subject: "job-1", claims: { groups: ["everyone"], email: "job@example.com", email_verified: true } };
    const [first, second] = await Promise.all([idp.token({ jti: "1" }), idp.token({ jti: "2" })]);
    const answers = await Promise.all([first, second, first].map((token) => ask(token)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(answers[0]?.headers.get("x-ratelimit-limit-requests")).toBe("77");
    const native = await fetch(`${gateway.url}/v1/messages`, {
      method: "POST",
      headers: { "x-api-key": first, "content-type": "application/json" },
      body: JSON.stringify({ ...HELLO, max_tokens: 50 }),
    });
    expect(native.status).toBe(200);
    const [key, ...more] = await keysNamed("job@example.com");
    expect(more).toEqual([]);
    expect(key).toMatchObject({ prefix: "token:idp", requestsPerMinute: 77 });
    await vi.waitFor(async () => {
      const log = await gateway.api("GET", `/api/requests?key=${key?.id}`);
      expect(((await log.json()) as { data: unknown[] }).data).toHaveLength(4);
    });
  });

  it("is charged, and its holder can be kept out by revoking the key, which cannot be rotated", async () => {
    idp.person = { subject: "job-2", claims: { groups: ["everyone"] } };
    const token = await idp.token();
    expect((await ask(token)).status).toBe(200);
    const [key] = await keysNamed("job-2");
    await expectError(await gateway.api("POST", `/api/keys/${key?.id}/rotate`, {}), {
      status: 409,
      code: "key_of_identity",
    });
    expect((await gateway.api("DELETE", `/api/keys/${key?.id}`)).status).toBe(204);
    expect((await ask(token)).status).toBe(401);
    expect((await ask(await idp.token({ jti: "new" }))).status).toBe(401);
  });

  it("follows its claims to another limit, and to another account with a key of its own", async () => {
    const folder = mkdtempSync(join(tmpdir(), "switchyard-identity-"));
    const database = `sqlite:${join(folder, "switchyard.db")}`;
    const before = await startGateway({ yaml: yaml(), database });
    const made = await before.api("POST", "/api/accounts", { name: "research" });
    const { id } = (await made.json()) as { id: string };
    idp.person = { subject: "mover", claims: { groups: ["everyone"] } };
    expect((await ask(await idp.token(), before)).headers.get("x-ratelimit-limit-requests")).toBe("77");
    await before.stop();
    const rules = `      - { claim: team, value: research, account: ${id} }\n`;
    const after = await startGateway({ yaml: yaml(rules).replace("77", "33"), database });
    try {
      const changed = await ask(await idp.token(), after);
      expect([changed.status, changed.headers.get("x-ratelimit-limit-requests")]).toEqual([200, "33"]);
      await after.api("POST", `/api/credits/topups?account=${id}`, { amountUsd: "5" });
      expect((await ask(await idp.token({ groups: [], team: "research" }), after)).status).toBe(200);
      const keys = await after.api("GET", `/api/keys?account=${id}`);
      expect(((await keys.json()) as Listed).data).toMatchObject([{ name: "mover", requestsPerMinute: null }]);
      const kept = await after.api("GET", "/api/keys");
      expect(((await kept.json()) as Listed).data.map(({ name }) => name)).toContain("mover");
    } finally {
      await after.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it("is known by its hash afterwards: the identity provider is asked for nothing", async () => {
    const token = await idp.token({ sub: "cached" });
    expect((await ask(token)).status).toBe(200);
    idp.asked.length = 0;
    for (let index = 0; index < 5; index += 1) expect((await ask(token)).status).toBe(200);
    expect(idp.asked).toEqual([]);
  });

  it("without a rule for its holder gives no access", async () => {
    await expectError(await ask(await idp.token({ groups: ["strangers"] })), {
      status: 401,
      code: "token_without_access",
    });
  });
});

describe("on /api", () => {
  const call = (path: string, token: string) => gateway.get(path, { authorization: `Bearer ${token}` });

  it("the role of a rule decides, and the ledger names the holder", async () => {
    const operator = await idp.token({ sub: "deploy", groups: ["admins"] });
    expect((await call("/api/users", operator)).status).toBe(200);
    const topUp = await gateway.post(
      "/api/credits/topups",
      { amountUsd: "1" },
      { authorization: `Bearer ${operator}` },
    );
    expect(topUp.status).toBe(201);
    expect(JSON.stringify(await (await gateway.api("GET", "/api/ledger")).json())).toContain('"deploy"');
    const owner = await idp.token({ sub: "repo:acme/app", repository: "acme/app" });
    expect((await call("/api/keys", owner)).status).toBe(200);
    expect((await call("/api/providers", owner)).status).toBe(403);
    expect((await call(`/api/keys?account=${account}`, owner)).status).toBe(404);
  });

  it("a token without a role, or that nobody signed, gets 401", async () => {
    await expectError(await call("/api/keys", await idp.token()), { status: 401, code: "token_without_access" });
    const forged = `${(await idp.token({ groups: ["admins"] })).slice(0, -8)}AAAAAAAA`;
    await expectError(await call("/api/keys", forged), { status: 401, code: "not_signed_in" });
  });
});

describe("a token of a person who is a user here", () => {
  const claims = { email: "ada@example.com", email_verified: true, groups: ["everyone"] };

  it("counts on the budget of that person, whatever key they use, and stays after they are gone", async () => {
    const ada = await invited(gateway, { email: "ada@example.com", role: "member", accountId: "default" });
    const { user } = (await (await ada.call("GET", "/api/session")).json()) as { user: { id: string } };
    const token = await idp.token({ ...claims, sub: "ada-at-work" });
    expect((await ask(token)).status).toBe(200);
    const own = await ada.call("GET", "/api/keys");
    const [key] = ((await own.json()) as { data: readonly { id: string; member: string; prefix: string }[] }).data;
    expect(key).toMatchObject({ member: user.id, prefix: "token:idp" });
    const refused = await ada.call("DELETE", `/api/keys/${key?.id}`);
    await expectError(refused, { status: 403, code: "not_permitted" });
    const lock = { name: "Each person", scope: "member", amountUsd: "0.000000001", period: "day" };
    const made = await gateway.api("POST", "/api/budgets", lock);
    const { id } = (await made.json()) as { id: string };
    await expectError(await ask(token), { status: 402, code: "budget_exceeded" });
    expect((await ask(await idp.token({ ...claims, sub: "a-robot" }))).status).toBe(402);
    await gateway.api("DELETE", `/api/budgets/${id}`);
    // Somebody who is removed here and comes back is not kept out for good.
    expect((await gateway.api("DELETE", `/api/users/${user.id}`)).status).toBe(204);
    expect((await ask(token)).status).toBe(200);
  });

  it("is of nobody where the address is not verified", async () => {
    const eve = await invited(gateway, { email: "eve@example.com", role: "member", accountId: "default" });
    const unverified = { ...claims, email: "eve@example.com", email_verified: false };
    expect((await ask(await idp.token({ ...unverified, sub: "not-eve" }))).status).toBe(200);
    expect(await (await eve.call("GET", "/api/keys")).json()).toMatchObject({ data: [] });
  });
});

it("a token from which groups were left out says so, where only they would give access", async () => {
  const claims = { groups: undefined, _claim_names: { groups: "src1" }, _claim_sources: { src1: { endpoint: "x" } } };
  const answer = await ask(await idp.token({ ...claims, sub: "hedy" }));
  const { message } = await expectError(answer, { status: 401, code: "token_without_access" });
  expect(message).toMatch(/left groups out because there are too many/);
});

describe("a bad token", () => {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const inSeconds = (seconds: number): number => Math.floor(Date.now() / 1000) + seconds;
  const claims = () => ({
    iss: idp.issuer,
    aud: "switchyard-api",
    sub: "forger",
    exp: inSeconds(600),
    groups: ["admins"],
  });

  it.each<readonly [string, string, () => string | Promise<string>]>([
    ["with alg none", "invalid_api_key", () => `${part({ alg: "none" })}.${part(claims())}.AA`],
    [
      "signed by HS256 with the public key",
      "invalid_api_key",
      () => {
        const signed = `${part({ alg: "HS256", kid: "key-1" })}.${part(claims())}`;
        return `${signed}.${createHmac("sha256", idp.publicPem()).update(signed).digest("base64url")}`;
      },
    ],
    [
      "whose claims were changed",
      "invalid_api_key",
      async () => {
        const [head, , signature] = (await idp.token()).split(".");
        return `${head}.${part(claims())}.${signature}`;
      },
    ],
    ["with an unknown key", "invalid_api_key", () => idp.token({}, { kid: "another" })],
    ["of another issuer", "invalid_api_key", () => idp.token({ iss: "https://evil.example.com" })],
    ["for another audience", "token_not_valid_here", () => idp.token({ aud: "another-api" })],
    ["that has expired", "token_expired", () => idp.token({ exp: inSeconds(-90) })],
    ["that is not valid yet", "token_not_valid_here", () => idp.token({ nbf: inSeconds(90) })],
    ["for signing out", "invalid_api_key", () => idp.token({ events: {} })],
    ["that is bound to a key", "invalid_api_key", () => idp.token({ cnf: { jkt: "x" } })],
    ["cut off", "invalid_api_key", async () => (await idp.token()).slice(0, -20)],
  ])("%s gets 401", async (_name, code, make) => {
    await expectError(await ask(await make()), { status: 401, code });
  });

  it.each([
    ["expired", () => ({ exp: inSeconds(-30) })],
    ["not valid yet", () => ({ nbf: inSeconds(30), exp: inSeconds(600) })],
  ])("of a clock that differs by half a minute is taken (%s)", async (_name, times) => {
    expect((await ask(await idp.token(times()))).status).toBe(200);
  });
});

it("a token ends when it says so, also when it is known already", async () => {
  const atMs = Date.now();
  const token = await idp.token({ exp: Math.floor(atMs / 1000) + 120 });
  expect((await ask(token)).status).toBe(200);
  vi.useFakeTimers({ toFake: ["Date"], now: atMs + 200_000 });
  try {
    await expectError(await ask(token), { status: 401, code: "token_expired" });
  } finally {
    vi.useRealTimers();
  }
});

it("a read of the identity provider whose connection breaks is tried again", async () => {
  const fresh = await startGateway({ yaml: yaml() });
  try {
    idp.breaks = 1;
    expect((await ask(await idp.token(), fresh)).status).toBe(200);
  } finally {
    await fresh.stop();
  }
});

describe("while the identity provider is down", () => {
  it("tokens are checked with the keys that are known, and 503 follows where none are", async () => {
    expect((await ask(await idp.token({ sub: "before" }))).status).toBe(200);
    const fresh = await startGateway({ yaml: yaml() });
    try {
      idp.isDown = true;
      expect((await ask(await idp.token({ sub: "during", jti: "another" }))).status).toBe(200);
      const answer = await ask(await idp.token(), fresh);
      await expectError(answer, { status: 503, code: "identity_provider_down" });
      expect((await fresh.post("/v1/chat/completions", HELLO)).status).toBe(200);
    } finally {
      await fresh.stop();
    }
  });
});

it("rotated keys are read when a token names one that is not known", async () => {
  expect((await ask(await idp.token())).status).toBe(200);
  const old = await idp.token({ jti: "of the old key" });
  const atMs = Date.now() + 15_000;
  vi.useFakeTimers({ toFake: ["Date"], now: atMs });
  try {
    await idp.rotate();
    expect((await ask(await idp.token({ jti: "of the new key" }))).status).toBe(200);
    expect((await ask(old)).status).toBe(401);
  } finally {
    vi.useRealTimers();
  }
});
