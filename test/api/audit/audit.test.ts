// The audit log over HTTP: every changing route has an entry, a sign-in that fails too, secrets are in none, and an owner
// sees their own account alone.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isRecorded } from "../../../src/http/api/audit/record.ts";
import { ROUTES } from "../../../src/http/api/routes.ts";
import { expectError } from "../../support/errors.ts";
import { startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { join, PASSWORD, type Person, setUpOperator, visit } from "../../support/gateway/signed-in.ts";
import { everyRow } from "../../support/stores/rows.ts";

interface Entry {
  readonly id: string;
  readonly actor: { readonly kind: string; readonly name: string };
  readonly action: string;
  readonly object: string;
  readonly account: string | null;
  readonly outcome: string;
  readonly before: unknown;
  readonly after: unknown;
  readonly address: string | null;
  readonly requestId: string | null;
  readonly objectName: string | null;
  readonly accountName: string | null;
}

/** They change nothing that an operator could miss; each route says why. */
const NOT_RECORDED = [
  ...["testProvider", "discoverProviders", "checkPrices", "decideInPlayground", "runInPlayground"],
  ...["replayProfile", "replayConfiguration", "markRequest", "endSession", "signOut", "readInvitation"],
  ...["beginPasskey", "beginPasskeySignIn"],
];

let gateway: TestGateway;
let ada: Person;
let owner: Person;
let account: string;
beforeAll(async () => {
  gateway = await startGateway();
  ada = await setUpOperator(gateway, "ada@example.com");
  const made = await gateway.api("POST", "/api/accounts", { name: "Acme" });
  account = ((await made.json()) as { id: string }).id;
  owner = await join(gateway, { email: "owner@acme.example", role: "owner", accountId: account });
});
afterAll(() => gateway.stop());

const entries = async (query = "", person: Person = ada): Promise<readonly Entry[]> => {
  const answer = await person.call("GET", `/api/audit${query}`);
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { data: readonly Entry[] }).data;
};

describe("the audit log", () => {
  it("has every route that is not a GET, but for those that change nothing", () => {
    const changing = ROUTES.filter(({ method }) => method !== "get");
    expect(changing.length).toBeGreaterThan(40);
    const left = changing.filter((route) => !isRecorded(route)).map(({ id }) => id);
    expect(left.sort()).toEqual([...NOT_RECORDED].sort());
    expect(ROUTES.filter((route) => route.method === "get" && isRecorded(route)).map(({ id }) => id)).toEqual([
      "finishSignIn",
    ]);
  });

  it("says who did what to what, from where, by which request, before and after", async () => {
    const created = await owner.call("POST", "/api/keys", { name: "first" }, { "x-request-id": "req-create" });
    const { id, key } = (await created.json()) as { id: string; key: string };
    await owner.call("PATCH", `/api/keys/${id}`, { name: "second", requestsPerMinute: 60 });
    await owner.call("DELETE", `/api/keys/${id}`);
    const found = await entries(`?object=${id}`);
    expect(found.map(({ action, outcome }) => [action, outcome])).toEqual([
      ["revokeKey", "done"],
      ["changeKey", "done"],
      ["createKey", "done"],
    ]);
    const [revoked, changed, first] = found;
    expect(found.map(({ objectName, accountName }) => [objectName, accountName])).toEqual(
      found.map(() => ["second", "Acme"]),
    );
    expect(first).toMatchObject({
      ...{ actor: { kind: "user", name: "owner@acme.example" }, object: `keys/${id}`, account, before: null },
      ...{ after: { id, name: "first", status: "active" }, address: "127.0.0.1", requestId: expect.any(String) },
    });
    expect(first?.requestId).toBe(created.headers.get("x-request-id"));
    expect(changed?.before).toEqual({ name: "first", requestsPerMinute: null });
    expect(changed?.after).toEqual({ name: "second", requestsPerMinute: 60 });
    expect(revoked?.before).toMatchObject({ status: "active" });
    expect(revoked?.after).toMatchObject({ status: "revoked" });
    expect(JSON.stringify(found)).not.toContain(key);
  });

  it("tells money, people and the configuration", async () => {
    await ada.call("POST", `/api/credits/topups?account=${account}`, { amountUsd: "5", note: "January" });
    await ada.call("PATCH", "/api/settings", { options: { "logging.retentionDays": 7 }, note: "less" });
    await ada.call("PATCH", `/api/accounts/${account}`, { billingMode: "metered" });
    const users = (await (await ada.call("GET", "/api/users")).json()) as { data: { id: string; email: string }[] };
    const grace = await join(gateway, { email: "grace@example.com", role: "operator" });
    await grace.call("POST", "/api/session/password", { current: PASSWORD, next: `${PASSWORD} 2` });
    const all = await entries("?limit=10");
    const of = (action: string) => all.find((entry) => entry.action === action);
    expect(users.data.length).toBeGreaterThan(1);
    expect(of("topUp")).toMatchObject({ account, after: { amountUsd: "5", note: "January" } });
    expect(of("changeSettings")?.after).toEqual({ version: 1, changes: ["logging.retentionDays: not set → 7"] });
    expect(of("changeAccount")).toMatchObject({ before: { billingMode: null }, after: { billingMode: "metered" } });
    expect(of("acceptInvitation")).toMatchObject({ actor: { kind: "user", name: "grace@example.com" } });
    expect(of("changePassword")).toMatchObject({ actor: { name: "grace@example.com" }, after: {} });
  });

  it("has sign-ins, and those that failed with the address that was given", async () => {
    await visit(gateway).call("POST", "/api/session", { email: "ada@example.com", password: PASSWORD });
    await visit(gateway).call("POST", "/api/session", { email: "ada@example.com", password: "wrong" });
    const [failed, fine] = await entries("?action=signIn");
    expect(fine).toMatchObject({ actor: { kind: "user", name: "ada@example.com" }, outcome: "done" });
    expect(failed).toMatchObject({ actor: { kind: "anonymous", name: "ada@example.com" }, outcome: "refused" });
  });

  it("has nothing of what was refused or not found", async () => {
    const before = (await entries())[0]?.id;
    await ada.call("DELETE", "/api/keys/key_unknown");
    await ada.call("PATCH", "/api/settings", { options: { "logging.retentionDays": -1 } });
    await owner.call("POST", "/api/accounts", { name: "Mine" });
    await visit(gateway).call("DELETE", "/api/session");
    expect((await entries())[0]?.id).toBe(before);
  });

  it("shows an owner the own account alone, and no operator by name", async () => {
    const own = await entries("?limit=100", owner);
    expect(own.length).toBeGreaterThan(3);
    expect(new Set(own.map((entry) => entry.account))).toEqual(new Set([account]));
    expect(JSON.stringify(own)).not.toMatch(/ada@example|grace@example|admin token/);
    expect(own.find(({ action }) => action === "topUp")).toMatchObject({ actor: { name: "operator" }, address: null });
    await expectError(await owner.call("GET", "/api/audit?account=default"), { status: 404 });
    await expectError(await owner.call("GET", "/api/audit/export?account=default"), { status: 404 });
    await expectError(await visit(gateway).call("GET", "/api/audit"), { status: 401 });
  });

  it("comes in pages, and whole as NDJSON", async () => {
    const all = await entries("?limit=500");
    const read: Entry[] = [];
    for (let next: string | null = ""; next !== null; ) {
      const answer = await ada.call("GET", `/api/audit?limit=3${next === "" ? "" : `&after=${next}`}`);
      const page = (await answer.json()) as { data: readonly Entry[]; next: string | null };
      read.push(...page.data);
      next = page.next;
    }
    expect(read).toEqual(all);
    const file = await ada.call("GET", "/api/audit/export?action=key");
    expect(file.headers.get("content-type")).toContain("ndjson");
    const lines = (await file.text()).trimEnd().split("\n");
    expect(lines.map((line) => (JSON.parse(line) as Entry).action)).toEqual([
      ...["revokeKey", "changeKey", "createKey"],
    ]);
    await expectError(await ada.call("GET", "/api/audit?after=x"), { status: 400 });
    await expectError(await ada.call("GET", "/api/audit?actor=%00"), { status: 400 });
  });

  it("is part of the ledger's audit", async () => {
    const verdict = (await (await ada.call("GET", "/api/ledger/verify")).json()) as { auditEntries: number };
    expect(verdict).toMatchObject({ ok: true, problems: [] });
    expect(verdict.auditEntries).toBe((await entries("?limit=500")).length);
  });
});

it("no secret gets into the log or its notes, whatever the route", async () => {
  const own = await startGateway({ database: "file", env: { SWITCHYARD_SECRET: "a-secret-for-this-test-only" } });
  const operator = await setUpOperator(own);
  const secrets: string[] = [PASSWORD];
  const keep = async (answer: Response, field: string): Promise<void> => {
    const text = ((await answer.json()) as Record<string, string>)[field] ?? "";
    expect(text.length).toBeGreaterThan(20);
    secrets.push(text);
  };
  const added = await operator.call("POST", "/api/providers", {
    id: "openai",
    apiKey: "sk-lab-0123456789-secret",
    headers: { "x-team": "header-value-secret" },
  });
  expect(await added.text()).toContain("added provider openai");
  secrets.push("sk-lab-0123456789-secret", "header-value-secret");
  await keep(await operator.call("POST", "/api/keys", { name: "app" }), "key");
  await keep(await operator.call("POST", "/api/invitations", { email: "bob@example.com" }), "link");
  const { data } = (await (await operator.call("GET", "/api/users")).json()) as { data: { id: string }[] };
  await keep(await operator.call("POST", `/api/users/${data[0]?.id}/reset`), "link");
  const audit = await (await operator.call("GET", "/api/audit?limit=100")).text();
  expect(audit).toContain("addProvider");
  const rows = await everyRow(own.database);
  await own.stop();
  for (const secret of secrets) {
    const part = secret.split("token=").at(-1) as string;
    expect(audit).not.toContain(part);
    expect(rows).not.toContain(part);
  }
});
