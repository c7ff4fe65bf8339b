// Two workers of one gateway are one gateway to its users: keys, limits, sign-ins, metrics, the live log and money, on
// SQLite and, in the long run, on PostgreSQL. Every request comes on a connection of its own, so both workers get their share.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { get as httpGet, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { ensureBuild } from "../../../scripts/setup.mjs";
import { openDb } from "../../../src/store/db.ts";
import { createVersionStore } from "../../../src/store/versions/versions.ts";
import { ADMIN_TOKEN } from "../../support/gateway/gateway.ts";
import { CHEAP_PASSWORDS } from "../../support/gateway/gateway-process.ts";
import { scrape } from "../../support/gateway/scrape.ts";
import { whileShared } from "../../support/gateway/shared-limits.ts";
import {
  type Answer,
  askFresh,
  isRunning,
  startWorkers,
  statusesOf,
  type WorkersGateway,
} from "../../support/gateway/workers.ts";
import { type FakeProvider, startFakeProvider } from "../../support/providers/fake-provider.ts";
import { isLong, promisedMs } from "../../support/random.ts";
import { bankYaml, owed, PRICES, postedOf } from "../../support/stores/money.ts";
import { createTestDatabase } from "../../support/stores/postgres.ts";
import { killUnderLoad } from "./kill-under-load.ts";

vi.setConfig({ testTimeout: 900_000, hookTimeout: 900_000 });

const postgres = isLong ? await createTestDatabase() : null;
const COST = owed({ input: 12, output: 5 }, PRICES.alpha);
const ANSWERED = 'switchyard_requests_total{route="/v1/chat/completions",status="200",tier="';

/** On PostgreSQL in the long run only: there, one worker is usual, and many-processes.test.ts has two gateways. */
const STORES = [
  { name: "SQLite", database: "" },
  ...(postgres === null ? [] : [{ name: "PostgreSQL", database: postgres.url }]),
];

describe.each(STORES)("two workers on $name", ({ database }) => {
  const folder = mkdtempSync(join(tmpdir(), "switchyard-workers-"));
  let provider: FakeProvider;
  let gateway: WorkersGateway;
  let key: string;

  beforeAll(async () => {
    await ensureBuild();
    provider = await startFakeProvider();
    writeFileSync(join(folder, "switchyard.yaml"), bankYaml(provider.url, { chain: ["alpha"] }));
    const env = { ...CHEAP_PASSWORDS, ...(database === "" ? {} : { DATABASE_URL: database }) };
    gateway = await startWorkers({ folder, env });
    key = gateway.firstKey ?? "";
    await gateway.api("POST", "/api/credits/topups", { amountUsd: "100" });
  });
  afterAll(async () => {
    expect(await gateway.stop()).toBe(0);
    await provider.close();
    rmSync(folder, { recursive: true, force: true });
    if (database !== "") await postgres?.drop();
  });

  /** What the log says of a version that was followed: one line for all workers. */
  function delaysOf(version: number): readonly number[] {
    const line = new RegExp(`"event":"config.followed","version":${version},"delayMs":(\\d+)`, "g");
    return [...gateway.output().matchAll(line)].map((found) => Number(found[1]));
  }

  async function made(path: string, body: object): Promise<Record<string, string>> {
    return (await (await gateway.api("POST", path, body)).json()) as Record<string, string>;
  }

  /** As /metrics has it. */
  async function answered(): Promise<number> {
    const lines = (await (await fetch(`${gateway.url}/metrics`)).text()).split("\n");
    const counts = lines.filter((line) => line.startsWith(ANSWERED)).map((line) => Number(line.split(" ").at(-1)));
    return counts.reduce((sum, count) => sum + count, 0);
  }

  test("the first screen comes once, with one key and the number of workers", () => {
    expect(gateway.banner.match(/Base URL/g)).toHaveLength(1);
    expect(gateway.banner).toMatch(/workers 2 {3}ready in/);
    expect(key).toMatch(/^sk-service-/);
    expect(gateway.output()).not.toContain("Base URL");
    expect(gateway.workers().filter(isRunning)).toHaveLength(2);
  });

  test("a new key is good on both, and on neither when it is revoked", async () => {
    const { id, key: text = "" } = await made("/api/keys", { name: "short-lived" });
    expect(await statusesOf(gateway, { key: text }, 8)).toEqual(Array(8).fill(200));
    expect((await gateway.api("DELETE", `/api/keys/${id}`)).status).toBe(204);
    const all = async (): Promise<unknown> => [...new Set(await statusesOf(gateway, { key: text }, 6))];
    await expect.poll(all, { interval: 100, timeout: promisedMs(5_000) }).toEqual([401]);
  });

  // From 120 on, a worker takes some calls ahead; what it does not use is refused to the other for a moment.
  test.each([
    { limit: 7, atLeast: 7 },
    { limit: 130, atLeast: 104 },
  ])("a limit of $limit requests a minute is that many on both together", async ({ limit, atLeast }) => {
    const statuses = await whileShared([gateway], async () => {
      const { key: text = "" } = await made("/api/keys", { name: "limited", requestsPerMinute: limit });
      return statusesOf(gateway, { key: text }, limit + 13);
    });
    const allowed = statuses.filter((status) => status === 200).length;
    expect(allowed).toBeLessThanOrEqual(limit);
    expect(allowed).toBeGreaterThanOrEqual(atLeast);
    expect(statuses.filter((status) => status === 429)).toHaveLength(limit + 13 - allowed);
  });

  test("ten wrong passwords are ten, whichever worker hears them", async () => {
    let people = 0;
    const statuses = await whileShared([gateway], async () => {
      people += 1;
      const body = { email: `eve${people}@example.com`, password: "not the password 1" };
      const wrong = { key: "", path: "/api/session", headers: { origin: gateway.url }, body };
      const all: number[] = [];
      for (let count = 0; count < 13; count += 1) all.push((await askFresh(gateway, wrong)).status);
      return all;
    });
    expect(statuses).toEqual(statuses.map((_, index) => (index < 10 ? 401 : 429)));
  });

  test("each request is charged once, and a scrape of either worker counts all of them", async () => {
    const before = await answered();
    const moneyBefore = await postedOf(gateway);
    expect(await statusesOf(gateway, { key }, 40)).toEqual(Array(40).fill(200));
    expect(moneyBefore - (await postedOf(gateway))).toBe(40n * COST);
    for (let count = 0; count < 4; count += 1) {
      expect(await answered()).toBe(before + 40);
      const { families, value } = await scrape(gateway.url);
      expect(families.has("switchyard_process_start_time_seconds")).toBe(true);
      expect(value('switchyard_models{state="usable"}')).toBe(Object.keys(PRICES).length);
    }
  });

  test("one Idempotency-Key is answered once, whichever worker it reaches", async () => {
    const before = await postedOf(gateway);
    const headers = { "idempotency-key": "over-both" };
    const first = await askFresh(gateway, { key, headers });
    for (let count = 0; count < 4; count += 1) expect(await askFresh(gateway, { key, headers })).toEqual(first);
    expect(before - (await postedOf(gateway))).toBe(COST);
  });

  test("the live log and the request log have the requests of both", async () => {
    const events = await openEvents(gateway);
    await events.until(/event: ready/);
    const rounds: (readonly string[])[] = [];
    const isTold = (ids: readonly string[]): boolean =>
      ids.every((id) => events.text().includes(`"requestId":"${id}"`));
    const playRound = async (): Promise<boolean> => {
      const ids = Array.from({ length: 8 }, (_, index) => `live-${rounds.length}-${index}`);
      rounds.push(ids);
      for (const id of ids) {
        expect((await askFresh(gateway, { key, headers: { "x-request-id": id } })).status).toBe(200);
      }
      return rounds.some(isTold);
    };
    // The other worker begins to tell within a moment of the first watcher.
    await expect.poll(playRound, { timeout: 300_000, interval: 500 }).toBe(true);
    events.close();
    const { data } = (await (await gateway.api("GET", "/api/requests?limit=50")).json()) as {
      data: readonly { requestId: string }[];
    };
    expect(data.map(({ requestId }) => requestId)).toEqual(expect.arrayContaining([...(rounds.find(isTold) ?? [])]));
  });

  test("a session that one of them has started is known to both", async () => {
    const named = { service_session: `shared-${database}` };
    const { text } = await askFresh(gateway, { key, body: named });
    expect((JSON.parse(text) as { service: { session: string } }).service.session).toBe("started");
    // Asking for a decision leaves nothing behind: a worker knows the session by the other, or not at all.
    const asked = { key, path: "/v1/routing/debug", body: { prompt: "Hi", ...named } };
    const stateOf = (answer: Answer): unknown =>
      (JSON.parse(answer.text) as { decision: { session: string } }).decision.session;
    // News travel beside the response, so the very next request may be quicker.
    await vi.waitFor(
      async () => {
        const answers = await Promise.all(Array.from({ length: 8 }, () => askFresh(gateway, asked)));
        expect(answers.map(stateOf)).toEqual(Array(8).fill("stayed"));
      },
      { timeout: 300_000 },
    );
  });

  test("a price and a model set at run time are served with by both within five seconds", async () => {
    const added = { id: "delta", provider: "lab", price: { input: 2, output: 6 } };
    const { version } = (await (await gateway.api("POST", "/api/models", added)).json()) as {
      version: { number: number };
    };
    const asked = { key, body: { model: "delta", service_profile: "direct" } };
    const all = async (): Promise<unknown> => [...new Set(await statusesOf(gateway, asked, 8))];
    await expect.poll(all, { interval: 200 }).toEqual([200]);
    // It is said how long the worker took that did not publish it, whatever the machine did to the requests above.
    await expect.poll(() => delaysOf(version.number)).toEqual([expect.any(Number)]);
    expect(delaysOf(version.number)[0]).toBeLessThan(promisedMs(5_000));
    const paid = await postedOf(gateway);
    expect(await statusesOf(gateway, asked, 8)).toEqual(Array(8).fill(200));
    expect(paid - (await postedOf(gateway))).toBe(8n * owed({ input: 12, output: 5 }, { input: "2", output: "6" }));
    expect((await gateway.api("POST", "/api/versions/0/rollback")).status).toBe(200);
    await expect.poll(all, { interval: 200 }).toEqual([404]);
    await expect.poll(() => delaysOf(version.number + 1)).toEqual([expect.any(Number)]);
    expect(delaysOf(version.number + 1)[0]).toBeLessThan(promisedMs(5_000));
    expect(delaysOf(version.number)).toHaveLength(1);
  });

  test("a version that neither can use is reported once, and so is a key that neither can open", async () => {
    const db = await openDb(database === "" ? `sqlite:${join(folder, "data", "switchyard.db")}` : database);
    const store = createVersionStore(db);
    const number = (await store.newest()) + 1;
    const apiKey = { sealed: "s1.AAAA", lastFour: "5678", setBy: "ann", setAt: new Date().toISOString() };
    const document = {
      tiers: { UNHEARD: ["alpha"] },
      providers: { sealed: { kind: "openai", baseUrl: provider.url, apiKey } },
    };
    await store.insert({ number, author: "newer release", atMs: Date.now(), note: "", document });
    await db.close();
    // Connections go to both in turn.
    const seen = async (): Promise<unknown> =>
      Promise.all(Array.from({ length: 4 }, async () => (await configurationOf(gateway)).problems.length > 0));
    await expect.poll(seen).toEqual([true, true, true, true]);
    expect((await gateway.api("POST", "/api/versions/0/rollback")).status).toBe(200);
    await expect.poll(() => delaysOf(number + 1)).toHaveLength(1);
    for (const event of ["config.version_unusable", "config.key_unreadable"])
      expect(gateway.output().split(`"event":"${event}"`), event).toHaveLength(2);
  });

  test("a spend limit holds on both together", async () => {
    const { key: text = "" } = await made("/api/keys", { name: "spender", spendLimitUsd: "0.05" });
    const statuses = await statusesOf(gateway, { key: text, body: { max_tokens: 4096 } }, 20);
    expect(new Set(statuses)).toEqual(new Set([200, 402]));
    const verdict = await (await gateway.api("GET", "/api/ledger/verify")).json();
    expect(verdict).toMatchObject({ ok: true, openHolds: 0, problems: [] });
  });

  test("the lines of both are whole", async () => {
    const finished = (): number => gateway.output().match(/"event":"request.completed"/g)?.length ?? 0;
    const before = finished();
    await statusesOf(gateway, { key }, 20);
    await expect.poll(finished).toBeGreaterThanOrEqual(before + 20);
    const lines = gateway.output().split("\n").slice(1, -1);
    for (const line of lines.filter((each) => each !== "")) expect(() => JSON.parse(line), line).not.toThrow();
  });

  test("killed under load, one after the other, both are replaced with the same configuration", async () => {
    const file = join(folder, "switchyard.yaml");
    const text = readFileSync(file, "utf8");
    writeFileSync(file, "server: { wrokers: 2 }");
    const ended = gateway.output().split('"event":"worker.ended"').length;
    await killUnderLoad(gateway, { key, provider });
    expect(gateway.output().split('"event":"worker.ended"')).toHaveLength(ended + 2);
    writeFileSync(file, text);
  });
});

async function configurationOf({ url }: WorkersGateway): Promise<{ problems: readonly unknown[] }> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
    httpGet(`${url}/api/configuration`, { agent: false, headers }, resolve).on("error", reject);
  });
  return (await json(response)) as { problems: readonly unknown[] };
}

async function openEvents({ url }: WorkersGateway) {
  let text = "";
  const response = await new Promise<IncomingMessage>((resolve) =>
    httpGet(`${url}/api/events`, { agent: false, headers: { authorization: `Bearer ${ADMIN_TOKEN}` } }, resolve),
  );
  response.setEncoding("utf8").on("data", (piece) => {
    text += piece;
  });
  response.on("error", () => undefined);
  return {
    text: () => text,
    until: (pattern: RegExp) => expect.poll(() => text, { timeout: 300_000 }).toMatch(pattern),
    close: () => response.destroy(),
  };
}
