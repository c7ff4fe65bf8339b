// Authentication. Every invalid key gets the same response. Behaviour 3.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectError } from "../../support/errors.ts";
import { HELLO, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

async function createKey(wanted: object): Promise<{ id: string; key: string }> {
  const answer = await gateway.api("POST", "/api/keys", { name: "test", ...wanted });
  expect(answer.status).toBe(201);
  return (await answer.json()) as { id: string; key: string };
}

const chat = (authorization: string | undefined): Promise<Response> =>
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "x-request-id": "same-id",
      ...(authorization === undefined ? {} : { authorization }),
    },
    body: JSON.stringify(HELLO),
  });

const MISSING = [undefined, "", "Bearer", "Bearer    "];
const bad: readonly (readonly [string, () => string | undefined])[] = [
  ["Basic", () => "Basic dXNlcjpwYXNz"],
  ["the key without Bearer", () => gateway.key],
  ["another vendor's key", () => "Bearer sk-proj-abcdefghijklmnopqrstuvwxyz0123456789"],
  ["an unknown key of the right shape", () => `Bearer sk-service-${"A".repeat(43)}`],
  ["a key with one letter changed", () => `Bearer ${gateway.key.slice(0, -1)}${gateway.key.endsWith("x") ? "y" : "x"}`],
  ["a key with a letter more", () => `Bearer ${gateway.key}x`],
  ["a key cut short", () => `Bearer ${gateway.key.slice(0, -1)}`],
  ["a key in other case", () => `Bearer ${gateway.key.toUpperCase()}`],
  ["two keys", () => `Bearer ${gateway.key} ${gateway.key}`],
  ["the admin token", () => "Bearer test-admin-token"],
  ["an SQL injection", () => "Bearer sk-service-' OR 1=1--"],
  ["a key of 30 KB", () => `Bearer sk-service-${"a".repeat(30 * 1024)}`],
];

describe("a missing key", () => {
  it("gets a 401 of its own, which says how to send one", async () => {
    for (const authorization of MISSING) {
      const { message } = await expectError(await chat(authorization), { status: 401, code: "missing_api_key" });
      expect(message).toContain("Authorization: Bearer sk-service-…");
    }
    const elsewhere = { "x-api-key": gateway.key, "content-type": "application/json" };
    const url = `${gateway.url}/v1/chat/completions`;
    const answer = await fetch(url, { method: "POST", headers: elsewhere, body: JSON.stringify(HELLO) });
    await expectError(answer, { status: 401, code: "missing_api_key" });
  });
});

describe("a bad key", () => {
  it("gets one and the same 401 body, whatever is bad about it", async () => {
    const bodies = new Map<string, string>();
    for (const [name, authorization] of bad) {
      const answer = await chat(authorization());
      expect([name, answer.status]).toEqual([name, 401]);
      expect(answer.headers.get("x-ratelimit-limit-requests")).toBeNull();
      bodies.set(name, await answer.text());
    }
    expect(new Set(bodies.values()).size).toBe(1);
    expect(JSON.parse([...bodies.values()][0] as string)).toMatchObject({
      error: { type: "authentication_error", code: "invalid_api_key", param: null, request_id: "same-id" },
    });
  });

  it.each([
    ["POST", "/v1/chat/completions"],
    ["POST", "/v1/routing/debug"],
    ["GET", "/v1/models"],
    ["GET", "/v1/models/gpt-4o-mini"],
  ])("is refused at %s %s", async (method, path) => {
    const answer = await fetch(`${gateway.url}${path}`, { method, headers: { authorization: "Bearer sk-service-no" } });
    await expectError(answer, { status: 401, code: "invalid_api_key" });
  });

  it("is refused before its body is looked at", async () => {
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, { method: "POST", body: "{not json" });
    await expectError(answer, { status: 401 });
  });

  it("does not appear in the log", async () => {
    await chat("Bearer sk-service-canaryCanaryCanary");
    expect(JSON.stringify(gateway.logged)).not.toContain("canaryCanary");
    expect(JSON.stringify(gateway.logged)).not.toContain(gateway.key);
  });
});

describe("a good key", () => {
  it.each(["Bearer", "bearer", "BEARER", "Bearer  "])("is taken after %o", async (scheme) => {
    expect((await chat(`${scheme} ${gateway.key}`)).status).toBe(200);
  });
});

describe("a revoked key", () => {
  it("is refused from that moment on, like an unknown one", async () => {
    const { id, key } = await createKey({});
    expect((await chat(`Bearer ${key}`)).status).toBe(200);
    expect((await gateway.api("DELETE", `/api/keys/${id}`)).status).toBe(204);
    const revoked = await chat(`Bearer ${key}`);
    const unknown = await chat("Bearer nonsense");
    expect(revoked.status).toBe(401);
    expect(await revoked.text()).toBe(await unknown.text());
  });
});

describe("an expired key", () => {
  it("is refused like an unknown one", async () => {
    const { id, key } = await createKey({ expiresAt: new Date(Date.now() + 3_600_000).toISOString() });
    expect((await chat(`Bearer ${key}`)).status).toBe(200);
    const soon = { expiresAt: new Date(Date.now() + 2_000).toISOString() };
    expect((await gateway.api("PATCH", `/api/keys/${id}`, soon)).status).toBe(200);
    await expect.poll(async () => (await chat(`Bearer ${key}`)).status).toBe(401);
    const expired = await chat(`Bearer ${key}`);
    const unknown = await chat("Bearer nonsense");
    expect(expired.status).toBe(401);
    expect(await expired.text()).toBe(await unknown.text());
  });
});

describe("a key whose profile was deleted", () => {
  it("is refused with a message that says so", async () => {
    const created = await gateway.api("POST", "/api/profiles", { name: "short-lived" });
    const profile = (await created.json()) as { id: string };
    const { key } = await createKey({ profile: profile.id });
    expect((await chat(`Bearer ${key}`)).status).toBe(200);
    expect((await gateway.api("DELETE", `/api/profiles/${profile.id}`)).status).toBe(204);
    const error = await expectError(await chat(`Bearer ${key}`), { status: 401, code: "profile_deleted" });
    expect(error.message).toMatch(/profile .*deleted/i);
  });
});
