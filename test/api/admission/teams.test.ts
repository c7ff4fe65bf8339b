// Teams: a default profile and bounds for the requests of their keys, a history that stays, and no look at other accounts.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectError } from "../../support/errors.ts";
import { HELLO, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { join, setUpOperator } from "../../support/gateway/signed-in.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

interface Made {
  readonly id: string;
  readonly key: string;
}

async function make(path: string, body: object): Promise<Made> {
  const answer = await gateway.api("POST", path, body);
  expect(answer.status).toBe(201);
  return (await answer.json()) as Made;
}

let names = 0;
const team = (fields: object = {}): Promise<Made> => {
  names += 1;
  return make("/api/teams", { name: `team ${names}`, ...fields });
};
const bearer = ({ key }: Made): Record<string, string> => ({ authorization: `Bearer ${key}` });

async function decide(key: Made, extra: object = {}): Promise<{ tier: string; filteredChain: readonly string[] }> {
  const answer = await gateway.post("/v1/routing/debug", { prompt: "Hi there!", ...extra }, bearer(key));
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { decision: { tier: string; filteredChain: readonly string[] } }).decision;
}

const PROOF = "Prove that there are infinitely many primes of the form 4k+3, step by step, and discuss each lemma.";
const SMALL = ["NANO", "SIMPLE"];

describe("a team's bounds", () => {
  it("hold for its keys beside those of their profile, and of the team around it", async () => {
    const outer = await team({ tierCeiling: "SIMPLE" });
    const inner = await team({ parent: outer.id, tierCeiling: "STANDARD" });
    const floor = await make("/api/profiles", { name: "floor", tierFloor: "COMPLEX" });
    const key = await make("/api/keys", { name: "k", team: inner.id, profile: floor.id });
    expect(SMALL).toContain((await decide(key, { prompt: PROOF })).tier);
    expect((await gateway.api("PATCH", `/api/keys/${key.id}`, { team: null })).status).toBe(200);
    expect((await decide(key, { prompt: PROOF })).tier).toBe("COMPLEX");
  });

  it("leave only models that both lists name, whatever the lists call them", async () => {
    const { data } = (await (await gateway.get("/v1/models", {})).json()) as { data: { id: string }[] };
    const [first, second, third] = data.map(({ id }) => id).filter((id) => id !== "auto");
    const outer = await team({ allowedModels: [first, second] });
    const inner = await team({ parent: outer.id, allowedModels: [second, third] });
    const key = await make("/api/keys", { name: "k", team: inner.id });
    const listed = await gateway.get("/v1/models", bearer(key));
    const { data: offered } = (await listed.json()) as { data: { id: string }[] };
    expect(offered.map(({ id }) => id)).toEqual([second]);
    const direct = { ...HELLO, service_profile: "direct", model: first };
    await expectError(await gateway.post("/v1/chat/completions", direct, bearer(key)), { status: 404 });
  });

  it("give a default profile to keys without one, which cannot be deleted under them", async () => {
    const profile = await make("/api/profiles", { name: "default", tierFloor: "COMPLEX" });
    const { id } = await team({ profile: profile.id });
    const key = await make("/api/keys", { name: "k", team: id });
    expect((await decide(key)).tier).toBe("COMPLEX");
    const refused = await gateway.api("DELETE", `/api/profiles/${profile.id}`);
    await expectError(refused, { status: 409, code: "profile_in_use" });
    expect((await gateway.api("DELETE", `/api/profiles/${profile.id}?keysTo=none`)).status).toBe(204);
    expect(SMALL).toContain((await decide(key)).tier);
  });
});

describe("teams", () => {
  it("nest once, and not in circles", async () => {
    const [a, b, c] = [await team(), await team(), await team()];
    expect((await gateway.api("PATCH", `/api/teams/${b.id}`, { parent: a.id })).status).toBe(200);
    for (const [id, parent] of [
      [c.id, b.id],
      [a.id, c.id],
      [c.id, c.id],
      [c.id, "team_0"],
    ]) {
      const moved = await gateway.api("PATCH", `/api/teams/${id}`, { parent });
      await expectError(moved, { status: 400, param: "parent" });
    }
  });

  it("move below each other at the same moment, and one of both succeeds", async () => {
    const [a, b] = [await team(), await team()];
    const moves = await Promise.all([
      gateway.api("PATCH", `/api/teams/${a.id}`, { parent: b.id }),
      gateway.api("PATCH", `/api/teams/${b.id}`, { parent: a.id }),
    ]);
    expect(moves.map(({ status }) => status).sort()).toEqual([200, 400]);
  });

  it("have names of their own", async () => {
    await make("/api/teams", { name: "search" });
    const again = await gateway.api("POST", "/api/teams", { name: "search" });
    await expectError(again, { status: 409, code: "team_exists", param: "name" });
    const wrong = await gateway.api("POST", "/api/teams", { name: "x", allowedModels: ["no-such-model"] });
    await expectError(wrong, { status: 400, param: "allowedModels" });
  });

  it("are deleted when no key is left that works, and revoked keys leave them", async () => {
    const { id } = await team();
    const key = await make("/api/keys", { name: "k", team: id });
    await expectError(await gateway.api("DELETE", `/api/teams/${id}`), { status: 409, code: "team_not_empty" });
    expect((await gateway.api("DELETE", `/api/keys/${key.id}`)).status).toBe(204);
    expect((await gateway.api("DELETE", `/api/teams/${id}`)).status).toBe(204);
    await expectError(await gateway.api("GET", `/api/teams/${id}`), { status: 404 });
    const left = await gateway.api("GET", `/api/keys/${key.id}`);
    expect(await left.json()).toMatchObject({ team: null, teamName: null });
    await expectError(await gateway.api("POST", "/api/keys", { name: "k", team: id }), { status: 400, param: "team" });
  });
});

it("a key that moves leaves its history in the team it was in, and its text stays valid", async () => {
  const [before, after] = [await team(), await team()];
  const key = await make("/api/keys", { name: "mover", team: before.id });
  const answer = await gateway.post("/v1/chat/completions", HELLO, bearer(key));
  await answer.text();
  expect((await gateway.api("PATCH", `/api/keys/${key.id}`, { team: after.id })).status).toBe(200);
  await (await gateway.post("/v1/chat/completions", HELLO, bearer(key))).text();
  const requests = async (id: string): Promise<readonly object[]> => {
    const listed = await gateway.api("GET", `/api/requests?team=${id}`);
    return ((await listed.json()) as { data: object[] }).data;
  };
  expect(await requests(before.id)).toMatchObject([{ team: before.id, member: null, key: key.id }]);
  expect(await requests(after.id)).toMatchObject([{ team: after.id }]);
  const csv = await (await gateway.api("GET", `/api/requests/export?format=csv&team=${before.id}`)).text();
  expect(csv.trim().split("\n")).toHaveLength(2);
  expect(csv).toContain(before.id);
  const explored = await gateway.api("GET", `/api/explore?by=team&metric=requests&key=${key.id}`);
  const rows = ((await explored.json()) as { data: { by: { label?: string }[]; value: string }[] }).data;
  expect(rows.map(({ by, value }) => [by[0]?.label?.startsWith("team "), value])).toEqual([
    [true, "1"],
    [true, "1"],
  ]);
  const listed = await gateway.api("GET", `/api/keys?team=${after.id}`);
  expect(await listed.json()).toMatchObject({ total: 1, data: [{ id: key.id, team: after.id }] });
});

it("a key of a person ends when the person is deleted", async () => {
  const operator = await setUpOperator(gateway);
  await join(gateway, { email: "ada@example.com", role: "owner", accountId: "default" });
  const { data } = (await (await operator.call("GET", "/api/users")).json()) as {
    data: { id: string; email: string }[];
  };
  const ada = data.find(({ email }) => email === "ada@example.com");
  const key = await make("/api/keys", { name: "ada", member: ada?.id });
  expect((await gateway.post("/v1/chat/completions", HELLO, bearer(key))).status).toBe(200);
  expect((await operator.call("DELETE", `/api/users/${ada?.id}`)).status).toBe(204);
  await expectError(await gateway.post("/v1/chat/completions", HELLO, bearer(key)), { status: 401 });
  const stranger = await gateway.api("POST", "/api/keys", { name: "k", member: ada?.id });
  await expectError(stranger, { status: 400, param: "member" });
});
