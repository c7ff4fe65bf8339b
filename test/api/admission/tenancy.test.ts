// An owner and another account: every call responds as if that account did not exist. Operators see all.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectError } from "../../support/errors.ts";
import { HELLO, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { join, type Person, setUpOperator } from "../../support/gateway/signed-in.ts";

let gateway: TestGateway;
let operator: Person;
let owner: Person;
let ownAccount: string;
const theirs = { key: "", profile: "", team: "", request: "" };

beforeAll(async () => {
  gateway = await startGateway();
  operator = await setUpOperator(gateway);
  const made = (await (await gateway.api("POST", "/api/accounts", { name: "Acme" })).json()) as { id: string };
  ownAccount = made.id;
  owner = await join(gateway, { email: "owner@acme.example", role: "owner", accountId: ownAccount });
  theirs.key = await idOf(await gateway.api("POST", "/api/keys", { name: "secret project" }));
  theirs.profile = await idOf(await gateway.api("POST", "/api/profiles", { name: "secret rules" }));
  theirs.team = await idOf(await gateway.api("POST", "/api/teams", { name: "secret team" }));
  const answer = await gateway.post("/v1/chat/completions", HELLO);
  await answer.text();
  theirs.request = answer.headers.get("x-request-id") ?? "";
});
afterAll(() => gateway.stop());

async function idOf(answer: Response): Promise<string> {
  return ((await answer.json()) as { id: string }).id;
}

describe("an owner", () => {
  const calls: readonly (readonly [string, string, object?])[] = [
    ["DELETE", "/api/keys/KEY"],
    ["PATCH", "/api/keys/KEY", { name: "stolen" }],
    ["POST", "/api/keys/KEY/rotate", { graceHours: 1 }],
    ["POST", "/api/keys/KEY/reset-spend"],
    ["GET", "/api/profiles/PROFILE"],
    ["PUT", "/api/profiles/PROFILE", { name: "stolen" }],
    ["DELETE", "/api/profiles/PROFILE"],
    ["DELETE", "/api/profiles/PROFILE?keysTo=none"],
    ["GET", "/api/profiles/PROFILE/keys"],
    ["GET", "/api/teams/TEAM"],
    ["PATCH", "/api/teams/TEAM", { name: "stolen" }],
    ["DELETE", "/api/teams/TEAM"],
    ["POST", "/api/playground/decide", { prompt: "Hi", profileId: "PROFILE" }],
    ["POST", "/api/playground/run", { prompt: "Hi", profileId: "PROFILE" }],
    ["GET", "/api/requests/REQUEST"],
    ["POST", "/api/requests/REQUEST/feedback", { tier: "NANO" }],
  ];

  it.each(calls)("%s %s treats another account's id like a missing one", async (...call) => {
    const [method, path, body] = call as unknown as readonly [string, string, object?];
    const fill = (ids: typeof theirs): [string, object | undefined] => {
      const put = (text: string): string =>
        text
          .replace("KEY", ids.key)
          .replace("PROFILE", ids.profile)
          .replace("TEAM", ids.team)
          .replace("REQUEST", ids.request);
      return [put(path), body === undefined ? undefined : (JSON.parse(put(JSON.stringify(body))) as object)];
    };
    const absent = { key: "key_0", profile: "profile_0", team: "team_0", request: "req_0" };
    const known = await expectError(await owner.call(method, ...fill(theirs)), { status: 404 });
    const unknown = await expectError(await owner.call(method, ...fill(absent)), { status: 404 });
    const bare = (text: string): string => text.replace(/'[^']*'/, "ID");
    expect(bare(known.message)).toBe(bare(unknown.message));
  });

  const listing = [
    "/api/keys",
    "/api/profiles",
    "/api/teams",
    "/api/credits",
    "/api/ledger",
    "/api/ledger/export",
    "/api/ledger/months",
    "/api/ledger/days",
    "/api/requests",
    "/api/requests/export?format=csv",
    "/api/usage",
  ];
  it.each(listing)("%s of another account is 404, as of a missing one", async (path) => {
    const joint = path.includes("?") ? "&" : "?";
    for (const account of ["default", "account_0"]) {
      const answer = await owner.call("GET", `${path}${joint}account=${account}`);
      const { message } = await expectError(answer, { status: 404, param: "account" });
      expect(message).toBe(`No account '${account}'.`);
    }
    expect((await owner.call("GET", `${path}${joint}account=${ownAccount}`)).status).toBe(200);
  });

  it("cannot write into another account either", async () => {
    for (const [path, body] of [
      ["/api/keys", { name: "x" }],
      ["/api/profiles", { name: "x" }],
      ["/api/teams", { name: "x" }],
      ["/api/playground/decide", { prompt: "x" }],
      ["/api/playground/run", { prompt: "x" }],
      ["/api/profiles/replay", { profile: {} }],
    ] as const) {
      await expectError(await owner.call("POST", `${path}?account=default`, body), { status: 404, param: "account" });
    }
  });

  it("cannot give a key of theirs another account's profile", async () => {
    const key = await idOf(await owner.call("POST", "/api/keys", { name: "curious" }));
    const profile = await idOf(await owner.call("POST", "/api/profiles", { name: "own" }));
    for (const id of [theirs.profile, "profile_0"]) {
      const changed = await owner.call("PATCH", `/api/keys/${key}`, { profile: id });
      const { message } = await expectError(changed, { status: 400, param: "profile" });
      expect(message).toContain(`The account has no profile "${id}".`);
      const deleted = await owner.call("DELETE", `/api/profiles/${profile}?keysTo=${id}`);
      await expectError(deleted, { status: 400, param: "keysTo" });
    }
    await owner.call("DELETE", `/api/keys/${key}`);
    await owner.call("DELETE", `/api/profiles/${profile}`);
  });

  it("cannot put a key into another account's team, or a team below it", async () => {
    for (const team of [theirs.team, "team_0"]) {
      const key = await expectError(await owner.call("POST", "/api/keys", { name: "k", team }), { status: 400 });
      expect(key.message).toContain(`The account has no team "${team}".`);
      const below = await owner.call("POST", "/api/teams", { name: "below", parent: team });
      await expectError(below, { status: 400, param: "parent" });
    }
  });

  it("works in their own account without naming it", async () => {
    const key = await owner.call("POST", "/api/keys", { name: "mine" });
    expect(key.status).toBe(201);
    const { data } = (await (await owner.call("GET", "/api/keys")).json()) as { data: { name: string }[] };
    expect(data.map(({ name }) => name)).toContain("mine");
    expect(data.map(({ name }) => name)).not.toContain("secret project");
    expect(await (await owner.call("GET", "/api/credits")).json()).toMatchObject({ availableUsd: "0" });
    expect(await (await owner.call("GET", "/api/requests")).json()).toEqual({ data: [], next: null });
    expect((await owner.call("GET", "/api/models")).status).toBe(200);
    const session = (await (await owner.call("GET", "/api/session")).json()) as object;
    expect(session).toMatchObject({ user: { role: "admin", accountId: ownAccount } });
  });

  const operators: readonly (readonly [string, string, object?])[] = [
    ["GET", "/api/accounts"],
    ["POST", "/api/accounts", { name: "x" }],
    ["PATCH", "/api/accounts/default", { billingMode: "metered" }],
    ["POST", "/api/credits/topups", { amountUsd: "5" }],
    ["POST", "/api/credits/adjustments", { amountUsd: "5" }],
    ["GET", "/api/ledger/verify"],
    ["GET", "/api/requests/feedback"],
    ["PUT", "/api/profiles/profile_0/shadow", { model: "gpt-4o", share: 1, budgetUsdPerDay: "1" }],
    ["DELETE", "/api/profiles/profile_0/shadow"],
    ["GET", "/api/providers"],
    ["POST", "/api/providers/sandbox/test"],
    ["GET", "/api/settings"],
  ];
  it.each(operators)("may not %s %s", async (...call) => {
    const [method, path, body] = call as unknown as readonly [string, string, object?];
    await expectError(await owner.call(method, path, body), { status: 403, code: "operators_only" });
    const allowed = await operator.call(method, path, body);
    expect([200, 201, 404]).toContain(allowed.status);
  });
});

describe("an operator", () => {
  it("sees every account, their own when none is named", async () => {
    const own = (await (await operator.call("GET", "/api/keys")).json()) as { data: { id: string }[] };
    expect(own.data.map(({ id }) => id)).toContain(theirs.key);
    const other = await operator.call("GET", `/api/keys?account=${ownAccount}`);
    expect(other.status).toBe(200);
    await expectError(await operator.call("GET", "/api/keys?account=account_0"), { status: 404 });
  });
});
