// /api/keys: made once, listed without the text, revoked. Behaviour 8.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectError } from "../../support/errors.ts";
import { HELLO, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

interface Key {
  readonly id: string;
  readonly key?: string;
  readonly status: string;
  readonly [field: string]: unknown;
}

async function create(body: object): Promise<Key & { key: string }> {
  const answer = await gateway.api("POST", "/api/keys", body);
  expect(answer.status).toBe(201);
  return (await answer.json()) as Key & { key: string };
}

/** As in the list, without what only the list adds. */
async function listed(id: string): Promise<Key | undefined> {
  const answer = await gateway.api("GET", "/api/keys?limit=500");
  const found = ((await answer.json()) as { data: Key[] }).data.find((key) => key.id === id);
  if (found === undefined) return undefined;
  const { profileName: _, teamName: __, last30Days: ___, ...key } = found;
  return key as Key;
}

describe("a new key", () => {
  it("shows its text once and works at once", async () => {
    const key = await create({ name: "production" });
    expect(key).toEqual({
      id: expect.stringMatching(/^key_/),
      key: expect.stringMatching(/^sk-service-[0-9A-Za-z]{43}$/),
      name: "production",
      prefix: key.key.slice(0, 16),
      status: "active",
      profile: null,
      team: null,
      member: null,
      requestsPerMinute: null,
      requires: null,
      spendLimitUsd: null,
      spendReset: "never",
      spentUsd: null,
      spentSince: null,
      spendResetsAt: null,
      expiresAt: null,
      revokedAt: null,
      lastUsedAt: null,
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    });
    const { key: text, ...shown } = key;
    expect(await listed(key.id)).toEqual(shown);
    expect(await (await gateway.api("GET", "/api/keys?limit=500")).text()).not.toContain(text);
    const answer = await gateway.post("/v1/chat/completions", HELLO, { authorization: `Bearer ${text}` });
    expect(answer.status).toBe(200);
    expect((await listed(key.id))?.lastUsedAt).toEqual(expect.any(String));
  });

  it("keeps its limits", async () => {
    const expiresAt = "2099-01-02T03:04:05.678Z";
    const key = await create({ name: "x", requestsPerMinute: 9, spendLimitUsd: 12.5, expiresAt });
    expect(await listed(key.id)).toMatchObject({ requestsPerMinute: 9, spendLimitUsd: "12.5", expiresAt });
  });

  it.each<[object, string]>([
    [{}, "name"],
    [{ name: "" }, "name"],
    [{ name: " " }, "name"],
    [{ name: "x".repeat(201) }, "name"],
    [{ name: null }, "name"],
    [{ name: "a\u0000b" }, "name"],
    [{ name: "x", profile: "profile_nothing" }, "profile"],
    [{ name: "x", profile: 5 }, "profile"],
    [{ name: "x", requestsPerMinute: 0 }, "requestsPerMinute"],
    [{ name: "x", requestsPerMinute: 1.5 }, "requestsPerMinute"],
    [{ name: "x", requestsPerMinute: "9" }, "requestsPerMinute"],
    [{ name: "x", spendLimitUsd: "-1" }, "spendLimitUsd"],
    [{ name: "x", spendLimitUsd: "1e3" }, "spendLimitUsd"],
    [{ name: "x", spendLimitUsd: "0.0000000001" }, "spendLimitUsd"],
    [{ name: "x", spendLimitUsd: true }, "spendLimitUsd"],
    [{ name: "x", expiresAt: "tomorrow" }, "expiresAt"],
    [{ name: "x", expiresAt: "2001-01-01T00:00:00Z" }, "expiresAt"],
    [{ name: "x", expiresAt: 5 }, "expiresAt"],
    [{ name: "x", accountId: "other" }, "accountId"],
    [{ name: "x", key: "sk-service-mine" }, "key"],
  ])("%j is refused", async (body, param) => {
    const error = await expectError(await gateway.api("POST", "/api/keys", body), { status: 400, param });
    expect(error.message).toMatch(/[.!]$/);
  });

  it.each(["", "[]", "{", "null"])("a body %j is refused", async (body) => {
    await expectError(await gateway.api("POST", "/api/keys", body), { status: 400 });
  });
});

describe("changing", () => {
  const patch = (id: string, body: unknown): Promise<Response> => gateway.api("PATCH", `/api/keys/${id}`, body);

  it("changes what is named, leaves the rest, and null takes a limit away", async () => {
    const { id, key, ...old } = await create({ name: "before", requestsPerMinute: 9, spendLimitUsd: "3" });
    const answer = await patch(id, { name: " after ", spendLimitUsd: null, expiresAt: "2099-01-02T03:04:05.678Z" });
    expect(answer.status).toBe(200);
    const limit = { spendLimitUsd: null, spentUsd: null };
    const changed = { ...old, id, name: "after", ...limit, expiresAt: "2099-01-02T03:04:05.678Z" };
    expect(await answer.json()).toEqual(changed);
    expect(await listed(id)).toEqual(changed);
    expect((await gateway.post("/v1/chat/completions", HELLO, { authorization: `Bearer ${key}` })).status).toBe(200);
  });

  it("counts with the next request: a lower limit, and a profile that was gone", async () => {
    const { id: profile } = (await (await gateway.api("POST", "/api/profiles", { name: "p" })).json()) as Key;
    const { id, key } = await create({ name: "tied", profile });
    const call = async (): Promise<number> =>
      (await gateway.post("/v1/chat/completions", HELLO, { authorization: `Bearer ${key}` })).status;
    await gateway.api("DELETE", `/api/profiles/${profile}`);
    expect(await call()).toBe(401);
    expect((await patch(id, { profile: null })).status).toBe(200);
    expect(await call()).toBe(200);
    expect((await patch(id, { requestsPerMinute: 1 })).status).toBe(200);
    expect(await call()).toBe(429);
  });

  it.each<[unknown, string | null]>([
    [{}, ""],
    [{ name: "" }, "name"],
    [{ name: null }, "name"],
    [{ profile: "profile_nothing" }, "profile"],
    [{ requestsPerMinute: 0 }, "requestsPerMinute"],
    [{ spendLimitUsd: "-1" }, "spendLimitUsd"],
    [{ expiresAt: "2001-01-01T00:00:00Z" }, "expiresAt"],
    [{ spendReset: "daily" }, "spendReset"],
    [{ spendReset: null }, "spendReset"],
    [{ spentUsd: "0" }, "spentUsd"],
    [{ spentSince: null }, "spentSince"],
    [{ spendResetsAt: null }, "spendResetsAt"],
    [{ accountId: "other" }, "accountId"],
    [{ id: "key_other" }, "id"],
    [{ key: "sk-service-mine" }, "key"],
    [{ hash: "00" }, "hash"],
    [{ prefix: "x" }, "prefix"],
    [{ status: "active" }, "status"],
    [{ revokedAt: null }, "revokedAt"],
    [{ lastUsedAt: null }, "lastUsedAt"],
    [{ createdAt: null }, "createdAt"],
  ])("%j is refused and changes nothing", async (body, param) => {
    const { id, key: _, ...made } = await create({ name: "firm" });
    await expectError(await patch(id, body), { status: 400, ...(param === "" ? {} : { param }) });
    expect(await listed(id)).toEqual({ id, ...made });
  });

  it("of a revoked key is 409, of none 404", async () => {
    const { id } = await create({ name: "over" });
    await gateway.api("DELETE", `/api/keys/${id}`);
    await expectError(await patch(id, { name: "back" }), { status: 409, code: "key_not_active" });
    await expectError(await patch("key_nothing", { name: "x" }), { status: 404, param: "id" });
  });
});

describe("revoking", () => {
  it("is 204, shows in the list, and twice is no error", async () => {
    const { id } = await create({ name: "short" });
    expect((await gateway.api("DELETE", `/api/keys/${id}`)).status).toBe(204);
    const first = await listed(id);
    expect(first).toMatchObject({ status: "revoked", revokedAt: expect.any(String) });
    expect((await gateway.api("DELETE", `/api/keys/${id}`)).status).toBe(204);
    expect(await listed(id)).toEqual(first);
  });

  it.each(["key_nothing", "%00", "'%20OR%20''='", "a%2Fb", "x".repeat(150)])("%s is 404", async (id) => {
    await expectError(await gateway.api("DELETE", `/api/keys/${id}`), { status: 404, param: "id" });
  });
});
