// Members of an organisation: they make their own keys and see no others, admins manage their own people, and the last
// admin stays.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectError } from "../../support/errors.ts";
import { HELLO, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { join, PASSWORD, type Person, setUpOperator, tokenIn, visit } from "../../support/gateway/signed-in.ts";

let gateway: TestGateway;
let operator: Person;
let admin: Person;
let acme: string;
let team: string;
let otherTeam: string;

async function read<Body>(answer: Response, status = 200): Promise<Body> {
  expect(answer.status).toBe(status);
  return (await answer.json()) as Body;
}

interface Key {
  readonly id: string;
  readonly key: string;
}

beforeAll(async () => {
  gateway = await startGateway();
  operator = await setUpOperator(gateway);
  acme = (await read<Key>(await gateway.api("POST", "/api/accounts", { name: "Acme" }), 201)).id;
  await gateway.api("POST", `/api/credits/topups?account=${acme}`, { amountUsd: "10" });
  admin = await join(gateway, { email: "admin@acme.example", role: "admin", accountId: acme });
  team = (await read<Key>(await admin.call("POST", "/api/teams", { name: "search" }), 201)).id;
  otherTeam = (await read<Key>(await admin.call("POST", "/api/teams", { name: "sales" }), 201)).id;
});
afterAll(() => gateway.stop());

let people = 0;
/** Somebody who was invited by the admin, and their id. */
async function invited(role: string, teams: readonly string[] = []): Promise<{ person: Person; id: string }> {
  people += 1;
  const body = { email: `p${people}@acme.example`, role, teams };
  const { link } = await read<{ link: string }>(await admin.call("POST", "/api/invitations", body), 201);
  const person = visit(gateway);
  const accepted = await person.call("POST", "/api/invitations/accept", { token: tokenIn(link), password: PASSWORD });
  const { user } = await read<{ user: { id: string } }>(accepted, 201);
  return { person, id: user.id };
}

const bearer = ({ key }: Key): Record<string, string> => ({ authorization: `Bearer ${key}` });

describe("a member", () => {
  it("makes keys of their own in their team, and sees no others", async () => {
    const [ada, bob] = [await invited("member", [team]), await invited("member")];
    const key = await read<Key>(await ada.person.call("POST", "/api/keys", { name: "laptop" }), 201);
    expect(key).toMatchObject({ team, member: ada.id });
    await (await gateway.post("/v1/chat/completions", HELLO, bearer(key))).text();
    const keys = async (person: Person) => (await read<{ data: Key[] }>(await person.call("GET", "/api/keys"))).data;
    expect((await keys(ada.person)).map(({ id }) => id)).toEqual([key.id]);
    expect(await keys(bob.person)).toEqual([]);
    for (const [method, path, body] of [
      ["GET", `/api/keys/${key.id}`],
      ["PATCH", `/api/keys/${key.id}`, { name: "stolen" }],
      ["DELETE", `/api/keys/${key.id}`],
      ["POST", `/api/keys/${key.id}/rotate`, {}],
      ["POST", "/api/keys/revoke", { ids: [key.id] }],
    ] as const) {
      await expectError(await bob.person.call(method, path, body), { status: 404 });
    }
    type Lines = { data: { id: string; member: string }[] };
    const [line] = (await read<Lines>(await ada.person.call("GET", "/api/requests"))).data;
    expect(line?.member).toBe(ada.id);
    expect((await read<Lines>(await bob.person.call("GET", `/api/requests?member=${ada.id}`))).data).toEqual([]);
    await expectError(await bob.person.call("GET", `/api/requests/${line?.id}`), { status: 404 });
    const explored = await bob.person.call("GET", "/api/explore?by=key&metric=cost");
    expect((await read<{ data: unknown[] }>(explored)).data).toEqual([]);
  });

  it.each([
    [{ member: "user_0" }, "member"],
    [{ profile: "profile_0" }, "profile"],
  ])("cannot make a key with %j", async (fields, param) => {
    const { person } = await invited("member");
    const answer = await person.call("POST", "/api/keys", { name: "k", ...fields });
    await expectError(answer, { status: 403, code: "not_permitted", param });
  });

  it("cannot leave the bounds of their team, nor lift what an admin has set", async () => {
    const { person } = await invited("member", [team]);
    const key = await read<Key>(await person.call("POST", "/api/keys", { name: "k", team }), 201);
    for (const [change, param] of [
      [{ team: null }, "team"],
      [{ team: otherTeam }, "team"],
      [{ spendLimitUsd: null }, "spendLimitUsd"],
      [{ profile: null }, "profile"],
    ] as const) {
      const answer = await person.call("PATCH", `/api/keys/${key.id}`, change);
      await expectError(answer, { status: 403, code: "not_permitted", param });
    }
    expect((await person.call("PATCH", `/api/keys/${key.id}`, { name: "renamed" })).status).toBe(200);
  });

  it("who is removed while streaming gets the stream to its end, charged, and then nothing more", async () => {
    const { person, id } = await invited("member", [team]);
    const key = await read<Key>(await person.call("POST", "/api/keys", { name: "stream" }), 201);
    const stream = await gateway.post("/v1/chat/completions", { ...HELLO, stream: true }, bearer(key));
    expect((await admin.call("DELETE", `/api/users/${id}`)).status).toBe(204);
    expect(await stream.text()).toContain("[DONE]");
    await expectError(await gateway.post("/v1/chat/completions", HELLO, bearer(key)), { status: 401 });
    await expectError(await person.call("GET", "/api/keys"), { status: 401 });
    type Lines = { data: { status: number; chargeUsd: string; ending: string }[] };
    const lines = await read<Lines>(await admin.call("GET", `/api/requests?key=${key.id}`));
    expect(lines.data).toMatchObject([{ status: 200, ending: "complete" }]);
    expect(Number(lines.data[0]?.chargeUsd)).toBeGreaterThan(0);
  });
});

describe("an admin", () => {
  it("sees and changes people of the own account alone, and appoints no operator", async () => {
    const emails = (await read<{ data: { email: string }[] }>(await admin.call("GET", "/api/users"))).data;
    expect(emails.map(({ email }) => email)).not.toContain("operator@example.com");
    const all = await read<{ data: { id: string; role: string }[] }>(await operator.call("GET", "/api/users?limit=99"));
    const boss = all.data.find(({ role }) => role === "operator")?.id;
    for (const [method, path, body] of [
      ["PATCH", `/api/users/${boss}`, { role: "viewer" }],
      ["DELETE", `/api/users/${boss}`],
      ["POST", `/api/users/${boss}/reset`],
    ] as const) {
      await expectError(await admin.call(method, path, body), { status: 404 });
    }
    const { id } = await invited("viewer");
    const promote = await admin.call("PATCH", `/api/users/${id}`, { role: "operator" });
    await expectError(promote, { status: 403, code: "operators_only", param: "role" });
    const invite = { email: "x@acme.example", role: "operator" };
    await expectError(await admin.call("POST", "/api/invitations", invite), { status: 403, param: "role" });
    const foreign = { email: "x@acme.example", role: "viewer", accountId: "default" };
    await expectError(await admin.call("POST", "/api/invitations", foreign), { status: 400, param: "accountId" });
    const teams = { email: "x@acme.example", role: "member", teams: ["team_0"] };
    await expectError(await admin.call("POST", "/api/invitations", teams), { status: 400, param: "teams" });
  });

  it("a changed role counts from the next request on", async () => {
    const { person, id } = await invited("viewer");
    await expectError(await person.call("POST", "/api/teams", { name: "x" }), { status: 403, code: "not_permitted" });
    expect((await admin.call("PATCH", `/api/users/${id}`, { role: "admin" })).status).toBe(200);
    expect((await person.call("GET", "/api/users")).status).toBe(200);
    expect((await admin.call("PATCH", `/api/users/${id}`, { role: "billing" })).status).toBe(200);
    await expectError(await person.call("GET", "/api/users"), { status: 403, code: "not_permitted" });
    expect((await person.call("GET", "/api/credits")).status).toBe(200);
  });

  it("the last of an organisation is neither demoted nor deleted", async () => {
    const other = await invited("admin");
    const self = (await read<{ user: { id: string } }>(await admin.call("GET", "/api/session"))).user.id;
    // Each demotes the other, who may be gone by then.
    const answers = await Promise.all([
      admin.call("PATCH", `/api/users/${other.id}`, { role: "viewer" }),
      other.person.call("PATCH", `/api/users/${other.id}`, { role: "viewer" }),
    ]);
    expect(answers.map(({ status }) => status)).toContain(200);
    const demoted = await admin.call("PATCH", `/api/users/${self}`, { role: "viewer" });
    await expectError(demoted, { status: 409, code: "last_admin" });
    await expectError(await admin.call("DELETE", `/api/users/${self}`), { status: 409, code: "last_admin" });
  });

  it("cannot delete a team with a member in it", async () => {
    const empty = await read<Key>(await admin.call("POST", "/api/teams", { name: "kept" }), 201);
    const { id } = await invited("member", [empty.id]);
    const refused = await admin.call("DELETE", `/api/teams/${empty.id}`);
    await expectError(refused, { status: 409, code: "team_not_empty" });
    expect((await admin.call("PATCH", `/api/users/${id}`, { teams: [] })).status).toBe(200);
    expect((await admin.call("DELETE", `/api/teams/${empty.id}`)).status).toBe(204);
  });
});
