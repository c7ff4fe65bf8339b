// The request log as a tool over HTTP: order, totals, labels, search in kept texts, names in exports, what happened to a
// failed request, and conversations.

import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openDb } from "../../../src/store/db.ts";
import { HELLO, labYaml, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { answers, type FakeProvider, fails, startFakeProvider } from "../../support/providers/fake-provider.ts";
import { createRecordStore, makeRecord } from "../../support/stores/records.ts";

interface Body {
  readonly data: readonly Record<string, unknown>[];
  readonly [field: string]: unknown;
}

const DAY = 24 * 3_600_000;
const BEGIN = Math.floor(Date.now() / DAY) * DAY - 2 * DAY;
let provider: FakeProvider;
let gateway: TestGateway;
beforeAll(async () => {
  provider = await startFakeProvider();
  const database = `sqlite:${join(mkdtempSync(join(tmpdir(), "switchyard-log-")), "log.db")}`;
  const db = await openDb(database);
  await db.migrate();
  const cost = makeRecord().cost;
  if (cost === null) throw new Error("no cost");
  const turn = (n: number, more: object) =>
    makeRecord({
      atMs: BEGIN + n * 60_000,
      latencyMs: 100 * n,
      cost: { ...cost, charge: BigInt(1_000 * (10 - n)) },
      session: n < 4 ? "s_trip" : "s_other",
      ...more,
    });
  await createRecordStore(db).write([
    turn(1, { sessionState: "started", user: "ada", tags: { team: "search" } }),
    turn(2, { sessionState: "stayed", user: "ada" }),
    turn(3, { sessionState: "switched", answeredBy: { model: "beta", provider: "mill" } }),
    turn(4, { sessionState: "started", status: 503, ending: null, errorCode: "all_providers_failed" }),
  ]);
  await db.close();
  const yaml = `${labYaml(provider.url)}\nlogging:\n  content: true\n`;
  gateway = await startGateway({ yaml, database });
});
afterAll(async () => {
  await gateway.stop();
  await provider.close();
});

/** The model and price beside every saving. */
const BASELINE = { baselineModel: "beta", baselinePrice: { input: 2, output: 6, asOf: expect.any(String) } };

const get = async (path: string): Promise<Body> => (await (await gateway.api("GET", path)).json()) as Body;
const past = `from=${new Date(BEGIN).toISOString()}&to=${new Date(BEGIN + DAY).toISOString()}`;
const latencies = async (query: string): Promise<unknown> =>
  (await get(`/api/requests?${past}&${query}`)).data.map(({ latencyMs }) => latencyMs);

test("is sorted, paged and filtered by what callers say", async () => {
  expect(await latencies("")).toEqual([400, 300, 200, 100]);
  expect(await latencies("sort=cost")).toEqual([100, 200, 300, 400]);
  expect(await latencies("sort=latency")).toEqual([400, 300, 200, 100]);
  expect(await latencies("sort=latency&order=asc")).toEqual([100, 200, 300, 400]);
  expect(await latencies("order=asc")).toEqual([100, 200, 300, 400]);
  const first = await get(`/api/requests?${past}&sort=cost&limit=3`);
  const second = await get(`/api/requests?${past}&sort=cost&limit=3&after=${String(first.next)}`);
  expect([...first.data, ...second.data].map(({ latencyMs }) => latencyMs)).toEqual([100, 200, 300, 400]);
  expect(await latencies("user=ada")).toEqual([200, 100]);
  expect(await latencies("user=none&session=s_trip")).toEqual([300]);
  expect(await latencies("tag=team%3Dsearch")).toEqual([100]);
  expect(await latencies("tag=team")).toEqual([100]);
  expect(await latencies("latencyFrom=200&latencyTo=400")).toEqual([300, 200]);
  expect(await latencies("tokensFrom=36")).toEqual([]);
});

test("refuses an order and a number that make no sense", async () => {
  for (const query of ["sort=price", "order=up", "latencyFrom=-1", "tokensTo=1.5", "latencyTo=1e3"]) {
    const response = await gateway.api("GET", `/api/requests?${query}`);
    expect([query, response.status]).toEqual([query, 400]);
  }
});

test("what is filtered is counted and summed up, and a failure saved nothing", async () => {
  expect(await get(`/api/requests/totals?${past}`)).toEqual({
    requests: 4,
    errors: 1,
    tokens: 140,
    chargeUsd: "0.00003",
    baselineUsd: "0.000033",
    savedUsd: "0.000003",
    ...BASELINE,
  });
  expect(await get(`/api/requests/totals?${past}&user=ada`)).toMatchObject({ requests: 2, chargeUsd: "0.000017" });
  const [failed] = (await get(`/api/requests?${past}&status=error`)).data;
  expect(failed).toMatchObject({ chargeUsd: "0.000006", savedUsd: null });
});

test("conversations are rows with what they came to, and open into turns", async () => {
  const { data } = await get(`/api/sessions?${past}`);
  expect(data.map(({ session }) => session)).toEqual(["s_other", "s_trip"]);
  expect(data[1]).toMatchObject({
    ...{ turns: 3, errors: 0, switches: 1, escalations: 0, models: ["alpha", "beta"], hosts: ["lab", "mill"] },
    ...{ users: ["ada"], keyNames: ["key_one"], tokens: 105, cachedTokens: 9, cacheHits: 3, chargeUsd: "0.000024" },
    ...BASELINE,
  });
  const switched = await get("/api/sessions?state=switched");
  expect(switched.data.map(({ session }) => session)).toEqual(["s_trip"]);
  const first = await get(`/api/sessions?${past}&limit=1`);
  expect((await get(`/api/sessions?${past}&limit=1&after=${String(first.next)}`)).data).toEqual([data[1]]);
  const { turnList } = await get("/api/sessions/s_trip");
  expect(turnList).toMatchObject([
    { sessionState: "started", model: "alpha", reasoning: "score 0.42 (SIMPLE): mathematics" },
    { sessionState: "stayed" },
    { sessionState: "switched", model: "beta", provider: "mill" },
  ]);
  expect((await gateway.api("GET", "/api/sessions/nobody")).status).toBe(404);
});

test("words of prompt and answer are found, an id is found before them, and the list shows what was asked", async () => {
  provider.on("*", answers("The harbour freezes in January."));
  const body = { ...HELLO, messages: [{ role: "user", content: "When does the\nharbour of 東京 freeze?" }] };
  await (await gateway.post("/v1/chat/completions", body, { "x-request-id": "harbour-1" })).text();
  provider.on("*", answers("Something else."));
  await (await gateway.post("/v1/chat/completions", HELLO, { "x-request-id": "other-1" })).text();
  const found = async (q: string) =>
    (await get(`/api/requests?q=${encodeURIComponent(q)}`)).data.map(({ requestId }) => requestId);
  for (const q of ["january", "freezes harbour", "東京", "harbour-1", "harb"])
    expect([q, await found(q)]).toEqual([q, ["harbour-1"]]);
  expect(await found("nowhere")).toEqual([]);
  const [line] = (await get("/api/requests?q=january")).data;
  expect(line).toMatchObject({ preview: "When does the harbour of 東京 freeze?", keyName: "first key" });
  expect(await get("/api/requests/totals?q=january")).toMatchObject({ requests: 1 });
});

test("a request that failed says what its client was told, and what the provider said", async () => {
  provider.on("*", fails(500));
  const failed = await gateway.post("/v1/chat/completions", HELLO, { "x-request-id": "all-failed" });
  const { error } = (await failed.json()) as { error: { message: string } };
  const detail = await get("/api/requests/all-failed");
  expect(detail).toMatchObject({ status: 503, errorMessage: error.message, savedUsd: null });
  expect(error.message).toContain("failed");
});

test("an export says in its name whose it is and which days it covers, and has names in it", async () => {
  const day = new Date(BEGIN).toISOString().slice(0, 10);
  const next = new Date(BEGIN + DAY).toISOString().slice(0, 10);
  const sheet = await gateway.api("GET", `/api/requests/export?format=csv&${past}`);
  expect(sheet.headers.get("content-disposition")).toContain(`requests-default-${day}-to-${next}.csv`);
  const [head = "", ...rows] = (await sheet.text()).trim().split("\r\n");
  expect(head).toMatch(/,keyName,keyProfileName,user,session,sessionState,tags(,|$)/);
  expect(rows.at(-1)).toMatch(/,ada,s_trip,started,team=search(,|$)/);
  const today = new Date().toISOString().slice(0, 10);
  const ledger = await gateway.api("GET", "/api/ledger/export");
  expect(ledger.headers.get("content-disposition")).toContain(`ledger-default-${today}.csv`);
});
