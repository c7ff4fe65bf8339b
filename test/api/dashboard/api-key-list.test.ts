// /api/keys at scale: search, sort, filters, pages with a total, one key, several revoked at once, and safe names.

import { afterAll, beforeAll, expect, it } from "vitest";
import { expectError } from "../../support/errors.ts";
import { HELLO, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";

interface Key {
  readonly id: string;
  readonly key: string;
  readonly name: string;
  readonly [field: string]: unknown;
}
interface KeyPage {
  readonly data: readonly Key[];
  readonly next: string | null;
  readonly total: number;
}

let gateway: TestGateway;
const made: Key[] = [];
beforeAll(async () => {
  gateway = await startGateway();
  for (const name of ["Zeta", "alpha", "Customer 7", "customer 70"]) made.push(await create({ name }));
});
afterAll(() => gateway.stop());

const create = async (body: object): Promise<Key> =>
  (await (await gateway.api("POST", "/api/keys", body)).json()) as Key;
const list = async (query: string): Promise<KeyPage> =>
  (await (await gateway.api("GET", `/api/keys?${query}`)).json()) as KeyPage;

it("finds keys by a part of their name and says how many there are", async () => {
  const first = await list("q=CUSTOMER&sort=name&limit=1");
  expect(first.data.map(({ name }) => name)).toEqual(["Customer 7"]);
  expect(first.total).toBe(2);
  const second = await list(`q=CUSTOMER&sort=name&limit=1&after=${first.next}`);
  expect(second.data.map(({ name }) => name)).toEqual(["customer 70"]);
  expect(second.next).toBeNull();
});

it("sorts by name in both directions", async () => {
  const names = (await list("sort=name")).data.map(({ name }) => name);
  expect(names.filter((name) => made.some((key) => key.name === name))).toEqual([
    "alpha",
    "Customer 7",
    "customer 70",
    "Zeta",
  ]);
  expect((await list("sort=-name")).data.map(({ name }) => name)).toEqual(names.toReversed());
});

it.each([
  ["sort", "sort=size"],
  ["status", "status=gone"],
  ["limit", "limit=0"],
])("refuses a wrong %s", async (param, query) => {
  expect((await expectError(await gateway.api("GET", `/api/keys?${query}`), { status: 400 })).param).toBe(param);
});

it("shows a key with its profile's name and what it did in 30 days", async () => {
  const profile = (await (await gateway.api("POST", "/api/profiles", { name: "cheap" })).json()) as { id: string };
  const key = await create({ name: "busy", profile: profile.id });
  const answer = await gateway.post("/v1/chat/completions", HELLO, { authorization: `Bearer ${key.key}` });
  expect(answer.status).toBe(200);
  await answer.text();
  await gateway.api("GET", "/api/usage");
  const shown = (await (await gateway.api("GET", `/api/keys/${key.id}`)).json()) as Key & {
    last30Days: { requests: number; chargeUsd: string; requestsPerDay: number[]; chargeUsdPerDay: string[] };
  };
  expect(shown).toMatchObject({ name: "busy", profileName: "cheap", status: "active" });
  expect(shown).not.toHaveProperty("key");
  const { last30Days } = shown;
  expect(last30Days.requests).toBe(1);
  expect(Number(last30Days.chargeUsd)).toBeGreaterThan(0);
  expect(last30Days.requestsPerDay).toHaveLength(31);
  expect(last30Days.requestsPerDay.at(-1)).toBe(1);
  expect(last30Days.chargeUsdPerDay.at(-1)).toBe(last30Days.chargeUsd);
  expect((await list("sort=-spend&limit=1")).data[0]?.id).toBe(key.id);
  expect((await list(`profile=${profile.id}`)).total).toBe(1);
  await expectError(await gateway.api("GET", "/api/keys/key_none"), { status: 404 });
});

it("revokes several keys at once and answers for each", async () => {
  const [one, two] = [await create({ name: "one" }), await create({ name: "two" })];
  const answer = await gateway.api("POST", "/api/keys/revoke", { ids: [one.id, two.id, "key_none", one.id] });
  expect(answer.status).toBe(200);
  expect(await answer.json()).toEqual({
    data: [
      { id: one.id, result: "revoked" },
      { id: two.id, result: "revoked" },
      { id: "key_none", result: "not_found" },
    ],
  });
  const refused = await gateway.post("/v1/chat/completions", HELLO, { authorization: `Bearer ${two.key}` });
  expect(refused.status).toBe(401);
  expect((await list("status=revoked")).total).toBe(2);
});

it("takes at most 500 ids at once, and at least one", async () => {
  const ids = Array.from({ length: 501 }, (_, n) => `key_${n}`);
  await expectError(await gateway.api("POST", "/api/keys/revoke", { ids }), { status: 400 });
  await expectError(await gateway.api("POST", "/api/keys/revoke", { ids: [] }), { status: 400 });
});

it.each([
  ["keys", "/api/keys"],
  ["profiles", "/api/profiles"],
  ["accounts", "/api/accounts"],
])("refuses control and format characters in names of %s, and says which", async (_what, path) => {
  for (const [character, code] of [
    ["\u202e", "U+202E"],
    ["\u0007", "U+0007"],
    ["\u200b", "U+200B"],
    ["\u{e0001}", "U+E0001"],
  ] as const) {
    const error = await expectError(await gateway.api("POST", path, { name: `live${character}evil` }), { status: 400 });
    expect(error.param).toBe("name");
    expect(error.message).toContain(code);
  }
  const kept = await gateway.api("POST", path, { name: "سلام 👩‍💻 東京" });
  expect(kept.status).toBe(201);
});

it("refuses such a name when a key is changed", async () => {
  const error = await expectError(await gateway.api("PATCH", `/api/keys/${made[0]?.id}`, { name: "a\u2066b" }), {
    status: 400,
  });
  expect(error.message).toContain("U+2066");
});
