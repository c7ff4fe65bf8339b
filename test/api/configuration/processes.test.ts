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
import { promisedMs } from "../../support/random.ts";
import { chargesOf, decimal, owed } from "../../support/stores/money.ts";
import { createTestDatabase } from "../../support/stores/postgres.ts";
import { everyRow } from "../../support/stores/rows.ts";

const env = { SWITCHYARD_SECRET: "a-secret-for-several-processes" };
const KEY = "sk-canary-0123456789-WXYZ";
const FOLLOW_MS = promisedMs(5_000);
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

/** So many requests are held at each version, and as many clients ask beside them. */
const AT_ONCE = 4;
const HELD = "Hold me";

/** Requests to `beta` while versions come and go, each with the versions that it may have begun with. */
function startLoad(gateway: TestGateway, first: number) {
  const begun = new Map<string, readonly number[]>();
  const held: Promise<void>[] = [];
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let onArrived = (): void => undefined;
  lab.on("beta", async (exchange) => {
    if (exchange.request.raw.includes(HELD)) {
      onArrived();
      await released;
    }
    return answers("ok")(exchange);
  });
  let serving = first;
  let newest = first;
  let isOver = false;

  async function send(id: string, content: string): Promise<void> {
    const body = { ...direct("beta"), messages: [{ role: "user", content }] };
    const response = await gateway.post("/v1/chat/completions", body, { "x-request-id": id });
    expect(response.status, await response.text()).toBe(200);
  }

  const clients = Array.from({ length: AT_ONCE }, async (_, client) => {
    for (let count = 0; !isOver; count += 1) {
      const from = serving;
      const id = `free-${first}-${client}-${count}`;
      await send(id, "Hi");
      begun.set(
        id,
        Array.from({ length: newest - from + 1 }, (__, index) => from + index),
      );
    }
  });

  return {
    /** Resolves when these requests have reached the provider, which keeps them until the end. */
    async hold() {
      for (let index = 0; index < AT_ONCE; index += 1) {
        const arrived = new Promise<void>((resolve) => {
          onArrived = resolve;
        });
        const id = `held-${serving}-${index}`;
        begun.set(id, [serving]);
        held.push(send(id, HELD));
        await arrived;
      }
    },
    /** From the first moment at which a request may begin with the new version until the last with the old one. */
    async publish(publish: () => Promise<{ version: { number: number } }>): Promise<number> {
      newest = serving + 1;
      const { version } = await publish();
      expect(version.number).toBe(newest);
      serving = newest;
      return serving;
    },
    async end() {
      isOver = true;
      release();
      await Promise.all([...held, ...clients]);
      return begun;
    },
  };
}

const STORES = [
  ["SQLite", undefined],
  ["PostgreSQL", database?.url],
] as const;

describe.each(STORES.filter(([name, url]) => name === "SQLite" || url !== undefined))("on %s", (_name, url) => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway({ yaml: labYaml(lab.url, ["alpha"]), env, database: url ?? "file" });
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

  test("under load, each charge is the price of the version that its request began with", async () => {
    await change(gateway, "POST", "/api/versions/0/rollback");
    await addOther(gateway);
    const { version, document } = await change(gateway, "GET", "/api/configuration");
    const [cheap, dear] = [
      { input: "2", output: "6" },
      { input: "7.7", output: "31" },
    ];
    const dearer = { id: "beta", provider: "other", price: { input: 7.7, output: 31 } };
    const models = [dearer, ...document.models.filter(({ id }: { id: string }) => id !== "beta")];
    const prices = new Map([[version, cheap]]);
    const load = startLoad(gateway, version);
    await load.hold();
    for (let round = 0; round < 3; round += 1) {
      const base = [...prices.keys()].at(-1);
      const body = { document: { ...document, models }, base };
      prices.set(await load.publish(() => change(gateway, "PUT", "/api/configuration", body)), dear);
      await load.hold();
      prices.set(await load.publish(() => change(gateway, "POST", `/api/versions/${version}/rollback`)), cheap);
      await load.hold();
    }
    const begun = await load.end();
    const charges = new Map((await chargesOf(gateway)).map((line) => [line.requestId, -decimal(line.amountUsd, 9)]));
    const owedBy = (number: number): bigint => owed({ input: 12, output: 5 }, prices.get(number) ?? cheap);
    const isRight = ([id, numbers]: readonly [string, readonly number[]]): boolean =>
      numbers.some((number) => charges.get(id) === owedBy(number));
    expect([...begun].filter((each) => !isRight(each))).toEqual([]);
    // Those that were held began with one version for certain, and lived through all that came after it.
    const certain = [...begun.values()].filter((numbers) => numbers.length === 1);
    expect(certain.length).toBeGreaterThanOrEqual(7 * AT_ONCE);
    expect(new Set(certain.map(([number]) => prices.get(number as number)))).toEqual(new Set([cheap, dear]));
    console.info(`${begun.size} requests, ${certain.length} of one version for certain, 6 changes`);
    expect(await change(gateway, "GET", "/api/ledger/verify")).toMatchObject({ ok: true, openHolds: 0 });
  });

  test("a key set at run time is nowhere in clear in the database", async () => {
    const dump = await everyRow(gateway.database);
    // The key was called with, so it is there, sealed.
    expect(lab.requests.some(({ headers }) => headers.authorization === `Bearer ${KEY}`)).toBe(true);
    expect(dump).toContain('\\"sealed\\"');
    const logged = JSON.stringify(gateway.logged, (_, value) => (value instanceof Error ? value.message : value));
    for (const text of [dump, logged]) {
      expect(text).not.toContain(KEY);
      expect(text).not.toContain(Buffer.from(KEY).toString("base64").replace(/=+$/, ""));
      expect(text).not.toContain(Buffer.from(KEY).toString("hex"));
    }
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
  const gateway = await startGateway({ yaml, env, database: "file" });
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
      expect(beta.chains).toContainEqual(expect.objectContaining({ tier: "SIMPLE", place: 1, of: 1 }));
    }, GENEROUS);
    lab.once("beta", fails(500));
    expect(await ask(gateway, "alpha")).toBe(200);
  } finally {
    await gateway.stop();
  }
});
