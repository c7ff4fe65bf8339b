// Versions across requests, processes and starts: what is under way finishes as it began, others follow within seconds,
// and a version that cannot be used stops nobody. On SQLite and PostgreSQL.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { chains } from "../../../src/cli/versions.ts";
import { openDb } from "../../../src/store/db.ts";
import { createVersionStore } from "../../../src/store/versions/versions.ts";
import { HELLO, labYaml, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { recordTerminal } from "../../support/gateway/terminal.ts";
import { answers, type FakeProvider, fails, startFakeProvider } from "../../support/providers/fake-provider.ts";
import { createTestDatabase } from "../../support/stores/postgres.ts";

const env = { SWITCHYARD_SECRET: "a-secret-for-several-processes" };
const KEY = "sk-canary-0123456789-WXYZ";
const FOLLOW_MS = 5_000;
const GENEROUS = { timeout: 60_000, interval: 50 };

const database = await createTestDatabase();
let lab: FakeProvider;
beforeAll(async () => {
  lab = await startFakeProvider(answers("ok"));
});
afterAll(async () => {
  await lab.close();
  await database?.drop();
});

async function change(gateway: TestGateway, method: string, path: string, body?: object) {
  const response = await gateway.api(method, path, body);
  const text = await response.text();
  expect(response.status, text).toBeLessThan(300);
  return JSON.parse(text);
}

const direct = (model: string) => ({ ...HELLO, model, service_profile: "direct" });
const ask = async (gateway: TestGateway, model: string) =>
  (await gateway.post("/v1/chat/completions", direct(model))).status;

async function addOther(gateway: TestGateway): Promise<void> {
  await change(gateway, "POST", "/api/providers", { id: "other", kind: "openai", baseUrl: lab.url, apiKey: KEY });
  const price = { input: 2, output: 6 };
  const { version, document } = await change(gateway, "GET", "/api/configuration");
  const models = ["beta", "gamma"].map((id) => ({ id, provider: "other", price }));
  await change(gateway, "PUT", "/api/configuration", { document: { ...document, models }, base: version });
}

/** The charge of a request in the log, once it can be read. */
async function chargeOf(gateway: TestGateway, id: string): Promise<string> {
  const { chargeUsd } = await change(gateway, "GET", `/api/requests/${id}`);
  expect(chargeUsd).toMatch(/^0\.\d*[1-9]/);
  return chargeUsd;
}

const STORES = [
  ["SQLite", undefined],
  ["PostgreSQL", database?.url],
] as const;

describe.each(STORES.filter(([name, url]) => name === "SQLite" || url !== undefined))("on %s", (_name, url) => {
  let gateway: TestGateway;
  beforeAll(async () => {
    const options = { yaml: labYaml(lab.url, ["alpha"]), env, ...(url === undefined ? {} : { database: url }) };
    gateway = await startGateway(options);
  });
  afterAll(() => gateway.stop());

  test("a request under way keeps its provider, its key and its price", async () => {
    await addOther(gateway);
    const { version } = await change(gateway, "GET", "/api/configuration");
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    lab.once("beta", async (exchange) => {
      await released;
      return answers("late")(exchange);
    });
    const headers = { "x-request-id": `kept-${version}` };
    const came = lab.nextRequest();
    const pending = gateway.post("/v1/chat/completions", direct("beta"), headers);
    await came;
    await change(gateway, "PATCH", "/api/routing", { markup: 3 });
    await change(gateway, "POST", "/api/versions/0/rollback");
    expect(await ask(gateway, "beta")).toBe(404);
    release();
    const response = await pending;
    expect(response.status).toBe(200);
    await response.text();
    await change(gateway, "POST", `/api/versions/${version}/rollback`);
    await gateway.post("/v1/chat/completions", direct("beta"), { "x-request-id": `plain-${version}` });
    expect(await chargeOf(gateway, `kept-${version}`)).toBe(await chargeOf(gateway, `plain-${version}`));
  });

  test("under load, changing back and forth fails no request and charges each exactly", async () => {
    await addOther(gateway).catch(() => undefined);
    let isOver = false;
    const statuses: number[] = [];
    const clients = Array.from({ length: 8 }, async () => {
      while (!isOver) {
        const response = await gateway.post("/v1/chat/completions", HELLO);
        await response.text();
        statuses.push(response.status);
      }
    });
    const { version } = await change(gateway, "GET", "/api/configuration");
    for (let round = 0; round < 6; round += 1) {
      await change(gateway, "PATCH", "/api/providers/other", { timeouts: { totalMs: 60_000 + round } });
      await change(gateway, "POST", `/api/versions/${version}/rollback`);
    }
    isOver = true;
    await Promise.all(clients);
    expect(statuses.length).toBeGreaterThan(12);
    expect(new Set(statuses)).toEqual(new Set([200]));
    const verdict = await change(gateway, "GET", "/api/ledger/verify");
    expect(verdict).toMatchObject({ ok: true, openHolds: 0 });
  });

  test("a version that cannot be used is reported, and the last good one serves", async () => {
    const { version } = await change(gateway, "POST", "/api/versions/0/rollback");
    await change(gateway, "PATCH", "/api/routing", { markup: 0.5 });
    const db = await openDb(gateway.database);
    const number = (await createVersionStore(db).newest()) + 1;
    const document = { tiers: { UNHEARD: ["alpha"] } };
    await createVersionStore(db).insert({ number, author: "newer release", atMs: Date.now(), note: "", document });
    await db.close();
    await vi.waitFor(async () => {
      const { serving, problems } = await change(gateway, "GET", "/api/configuration");
      expect([serving, problems.length]).toEqual([number - 1, 1]);
    }, GENEROUS);
    expect(await ask(gateway, "alpha")).toBe(200);
    expect(gateway.logged.some(({ fields }) => fields.event === "config.version_unusable")).toBe(true);
    await change(gateway, "POST", `/api/versions/${version.number}/rollback`);
    expect((await change(gateway, "GET", "/api/configuration")).problems).toEqual([]);
  });
});

test.skipIf(database === null)(
  "two processes on one database see a change within five seconds, key included",
  async () => {
    const start = () => startGateway({ yaml: labYaml(lab.url, ["alpha"]), env, database: database?.url ?? "" });
    const [one, two] = [await start(), await start()];
    try {
      await change(one, "POST", "/api/versions/0/rollback");
      await addOther(one);
      const changedAtMs = performance.now();
      const { key } = one.key === "" ? await change(one, "POST", "/api/keys", { name: "k" }) : one;
      const headers = { authorization: `Bearer ${key}` };
      const askTwo = async () => (await two.post("/v1/chat/completions", direct("beta"), headers)).status;
      await vi.waitFor(async () => expect(await askTwo()).toBe(200), GENEROUS);
      expect(performance.now() - changedAtMs).toBeLessThan(FOLLOW_MS);
      expect(lab.requests.at(-1)?.headers.authorization).toBe(`Bearer ${KEY}`);
    } finally {
      await one.stop();
      await two.stop();
    }
  },
);

test("a command beside a server on SQLite changes what it serves with, and a start finds it again", async () => {
  const yaml = labYaml(lab.url, ["alpha", "beta"]).replace(/^ {2}SIMPLE.*$/m, "");
  const gateway = await startGateway({ yaml, env });
  try {
    const terminal = recordTerminal({ env: { ...env, DATABASE_URL: gateway.database } });
    writeFileSync(join(terminal.cwd, "switchyard.yaml"), yaml);
    const words = ["set", "SIMPLE", "beta"];
    expect(await chains({ command: "chains", words, flags: {} }, terminal), terminal.takeSaid()).toBe(0);
    await vi.waitFor(async () => {
      const { data } = await change(gateway, "GET", "/api/versions");
      expect(data[0]).toMatchObject({ author: "command line", summary: "tiers.SIMPLE: not set → beta" });
      const { data: models } = await change(gateway, "GET", "/api/models");
      const beta = models.find(({ id }: { id: string }) => id === "beta");
      expect(beta.chains).toContainEqual({ tier: "SIMPLE", place: 1, of: 1 });
    }, GENEROUS);
    lab.once("beta", fails(500));
    expect(await ask(gateway, "alpha")).toBe(200);
  } finally {
    await gateway.stop();
  }
});
