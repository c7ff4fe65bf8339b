// No privilege by an added field: every write of an owner rejects fields they may not set, and nothing has changed
// afterwards. The same holds for calls that need no session.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { join, PASSWORD, type Person, setUpOperator, visit } from "../../support/gateway/signed-in.ts";

let gateway: TestGateway;
let owner: Person;
let ids: Record<string, string>;
let before: unknown;
beforeAll(async () => {
  gateway = await startGateway();
  await setUpOperator(gateway);
  const account = await (await gateway.api("POST", "/api/accounts", { name: "theirs" })).json();
  const accountId = (account as { id: string }).id;
  owner = await join(gateway, { email: "owner@example.com", role: "owner", accountId });
  const made = async (path: string, body: object): Promise<string> =>
    ((await (await owner.call("POST", path, body)).json()) as { id: string }).id;
  ids = {
    key: await made("/api/keys", { name: "mine" }),
    profile: await made("/api/profiles", { name: "mine" }),
    account: accountId,
  };
  before = await everything();
});
afterAll(() => gateway.stop());

/** What an intruder would want to change. */
async function everything(): Promise<unknown> {
  const paths = ["/api/users", "/api/accounts", "/api/invitations", "/api/credits", "/api/keys", "/api/profiles"];
  const scoped = paths.flatMap((path) => [path, `${path}?account=${ids.account}`]);
  return Promise.all(scoped.map(async (path) => (await gateway.api("GET", path)).json()));
}

const EXTRAS = {
  role: "operator",
  accountId: "default",
  account: "default",
  account_id: "default",
  tenant_id: "default",
  id: "chosen",
  userId: "chosen",
  balance: "1000000",
  availableUsd: "1000000",
  allowed_routes: ["*"],
  isAdmin: true,
  hash: "x",
  key: "sk-service-chosen",
  prefix: "sk-service-x",
  createdAt: "2020-01-01T00:00:00Z",
  revokedAt: null,
  __proto__x: 1,
};

const writes = (): readonly (readonly [string, string, object])[] => [
  ["POST", "/api/keys", { name: "more" }],
  ["PATCH", `/api/keys/${ids.key}`, { name: "more" }],
  ["POST", "/api/profiles", { name: "more" }],
  ["PUT", `/api/profiles/${ids.profile}`, { name: "more" }],
  ["POST", "/api/session/password", { current: PASSWORD, next: "another good password 77" }],
];

describe("an owner", () => {
  it.each(Object.entries(EXTRAS))("cannot add %s to anything they write", async (field, value) => {
    for (const [method, path, body] of writes()) {
      const answer = await owner.call(method, path, { ...body, [field]: value });
      expect([method, path, field, answer.status]).toEqual([method, path, field, 400]);
    }
  });

  it("cannot call what is for operators, whatever they add", async () => {
    for (const [method, path, body] of [
      ["POST", "/api/accounts", { name: "more" }],
      ["PATCH", "/api/accounts/default", { billingMode: "metered" }],
      ["POST", "/api/credits/topups", { amountUsd: "5", account: ids.account }],
      ["POST", "/api/invitations", { email: "x@example.com", role: "operator" }],
      ["GET", "/api/settings", undefined],
    ] as const) {
      expect([path, (await owner.call(method, path, body)).status]).toEqual([path, 403]);
    }
  });

  it("has changed nothing", async () => {
    expect(await everything()).toEqual(before);
    expect((await owner.call("GET", "/api/session")).status).toBe(200);
    const self = (await (await owner.call("GET", "/api/session")).json()) as { user: { role: string } };
    expect(self.user.role).toBe("admin");
  });
});

describe("a caller without a session", () => {
  it.each(["role", "accountId", "id"])("cannot add %s when signing in", async (field) => {
    const body = { email: "owner@example.com", password: PASSWORD, [field]: "operator" };
    expect((await visit(gateway).call("POST", "/api/session", body)).status).toBe(400);
  });

  it("sees no dashboard data, and the session cookie opens nothing at /v1", async () => {
    expect((await visit(gateway).call("GET", "/api/keys")).status).toBe(401);
    expect((await owner.call("GET", "/v1/models")).status).toBe(401);
  });

  it("an API key opens nothing at /api", async () => {
    for (const path of ["/api/keys", "/api/credits", "/api/settings", "/api/requests"]) {
      const answer = await fetch(`${gateway.url}${path}`, { headers: { authorization: `Bearer ${gateway.key}` } });
      expect([path, answer.status]).toEqual([path, 401]);
    }
  });
});
