// /api/explore: a metric by one or two dimensions, as JSON with names and as CSV. Then the labels of requests on every
// endpoint, and the figures of all requests, which are the same wherever they are read.

import { afterAll, beforeAll, expect, it } from "vitest";
import { formatUsd, parseUsd } from "../../../src/core/money.ts";
import { expectError } from "../../support/errors.ts";
import { HELLO, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";

interface Explore {
  readonly data: readonly { by: { value: string | null; label?: string; other?: boolean }[]; value: string }[];
  readonly values: readonly number[];
  readonly source: string;
  readonly from: string;
}

let gateway: TestGateway;
let profileId: string;
const keys: { id: string; key: string; name: string }[] = [];
beforeAll(async () => {
  gateway = await startGateway();
  profileId = ((await (await gateway.api("POST", "/api/profiles", { name: "cheap" })).json()) as { id: string }).id;
  for (const [index, name] of ["=cmd", "blue", "green"].entries()) {
    const body = { name, ...(index === 0 ? { profile: profileId } : {}) };
    const key = (await (await gateway.api("POST", "/api/keys", body)).json()) as { id: string; key: string };
    keys.push({ ...key, name });
    for (let times = 0; times <= 2 - index; times += 1) {
      const headers = { authorization: `Bearer ${key.key}`, "x-tag-team": `team-${index}` };
      const answer = await gateway.post("/v1/chat/completions", { ...HELLO, user: `person-${times}` }, headers);
      expect(answer.status).toBe(200);
      await answer.text();
    }
  }
});
afterAll(() => gateway.stop());

const explore = async (query: string): Promise<Explore> => {
  const answer = await gateway.api("GET", `/api/explore?${query}`);
  expect(answer.status).toBe(200);
  return (await answer.json()) as Explore;
};

it("counts requests by key, the largest first, with names", async () => {
  const { data, source } = await explore("by=key");
  expect(data).toMatchObject([
    { by: [{ value: keys[0]?.id, label: "=cmd" }], value: "3" },
    { by: [{ value: keys[1]?.id, label: "blue" }], value: "2" },
    { by: [{ value: keys[2]?.id, label: "green" }], value: "1" },
  ]);
  expect(source).toBe("totals");
});

it("sums up what is not among the first", async () => {
  const { data, values } = await explore("by=key&top=1");
  expect(data.map(({ value }) => value)).toEqual(["3", "3"]);
  expect(data[1]?.by).toEqual([{ value: null, other: true }]);
  expect(values).toEqual([3]);
});

it("crosses two dimensions, also labels of the caller", async () => {
  const { data, source } = await explore("metric=cost&by=tag:team,user");
  expect(data).toHaveLength(6);
  expect(source).toBe("requests");
  expect(data[0]?.by.map(({ value }) => value)).toEqual(["team-0", expect.stringMatching(/^person-/)]);
  expect(Number(data[0]?.value)).toBeGreaterThan(0);
  const days = await explore("metric=cost&by=day,keyProfile");
  expect(days.data.map(({ by }) => by[1])).toContainEqual({ value: profileId, label: "cheap" });
  expect(days.data[0]?.by[0]?.value).toMatch(/T00:00:00\.000Z$/);
});

it("narrows by the filters of the request log", async () => {
  expect((await explore(`by=user&key=${keys[2]?.id}`)).data.map(({ value }) => value)).toEqual(["1"]);
  expect((await explore("by=model&status=error")).data).toEqual([]);
});

it("sends a CSV file with names, in which nothing is run as a formula", async () => {
  const answer = await gateway.api("GET", "/api/explore?by=key&format=csv");
  expect(answer.headers.get("content-type")).toMatch(/^text\/csv/);
  expect(answer.headers.get("content-disposition")).toMatch(
    /filename="explore-requests-\d{4}-\d\d-\d\d-\d{4}-\d\d-\d\d\.csv"/,
  );
  const lines = (await answer.text()).trim().split("\r\n");
  expect(lines[0]).toBe("key,keyName,requests,requests");
  expect(lines[1]).toBe(`${keys[0]?.id},'=cmd,3,3`);
});

it.each([
  ["metric", "metric=luck"],
  ["by", "by=shoe"],
  ["by", "by=model,model"],
  ["by", "by=hour,day"],
  ["by", "by=model,tier,key"],
  ["by", "by=tag:"],
  ["top", "top=0"],
  ["top", "top=51"],
  ["format", "format=pdf"],
  ["from", "from=2026-02-02&to=2026-02-01"],
  ["by", "by=hour&from=2026-01-01&to=2026-06-01"],
])("refuses a wrong %s in %s", async (param, query) => {
  await expectError(await gateway.api("GET", `/api/explore?${query}`), { status: 400, param });
});

it("does not show another account", async () => {
  await expectError(await gateway.api("GET", "/api/explore?account=nobody"), { status: 404 });
});

it("shows one request with the same cost and the same saving in every view", async () => {
  const made = await gateway.api("POST", "/api/keys", { name: "single" });
  const key = (await made.json()) as { id: string; key: string };
  const headers = { authorization: `Bearer ${key.key}`, "x-request-id": "everywhere" };
  const messages = [{ role: "user", content: "What is the capital of Portugal?" }];
  const answer = await gateway.post("/v1/chat/completions", { ...HELLO, messages }, headers);
  const { service } = (await answer.json()) as { service: { savingsPct: number } };
  const get = async (path: string) => (await (await gateway.api("GET", path)).json()) as Record<string, unknown>;
  const first = async (path: string) => ((await get(path)).data as Record<string, unknown>[])[0] ?? {};
  const only = `key=${key.id}`;
  const line = await first(`/api/requests?${only}`);
  const { money } = (await get("/api/requests/everywhere")) as { money: Record<string, unknown> };
  const { chargeUsd, savedUsd, baselineUsd } = line;
  const amounts = { chargeUsd, savedUsd };
  expect(Number(savedUsd)).toBeGreaterThan(0);
  expect(money).toMatchObject({ chargeUsd, savedUsd, baselineUsd });
  expect(await get(`/api/requests/totals?${only}`)).toMatchObject({ requests: 1, chargeUsd, savedUsd, baselineUsd });
  expect(await first(`/api/usage?by=total&${only}`)).toMatchObject({ requests: 1, ...amounts });
  expect((await get(`/api/overview?${only}`)).total).toMatchObject({ requests: 1, ...amounts });
  expect((await get(`/api/keys/${key.id}`)).last30Days).toMatchObject({ requests: 1, ...amounts });
  expect((await explore(`metric=cost&by=model&${only}`)).data[0]?.value).toBe(chargeUsd);
  const saved = await explore(`metric=saved&by=model&${only}`);
  expect(saved.data[0]?.value).toBe(savedUsd);
  expect(saved).toMatchObject({ baselineModel: expect.any(String), baselinePrice: { asOf: expect.any(String) } });
  expect((await explore(`metric=saved&by=user&${only}`)).data[0]?.value).toBe(savedUsd);
  expect(await get(`/api/sessions/${String(line.session)}`)).toMatchObject({ turns: 1, ...amounts });
  const charged = await first("/api/ledger?kind=charge&limit=1");
  expect(charged).toMatchObject({ requestId: "everywhere", amountUsd: `-${String(chargeUsd)}` });
  const sheet = await (await gateway.api("GET", `/api/requests/export?format=csv&${only}`)).text();
  const [head = "", row = ""] = sheet.split("\r\n");
  const cells = new Map(head.split(",").map((name, at) => [name, row.split(",")[at]]));
  expect([cells.get("chargeUsd"), cells.get("savedUsd")]).toEqual([chargeUsd, savedUsd]);
  // The answer itself says the same share, in percent with one decimal.
  expect(service.savingsPct).toBeCloseTo((Number(savedUsd) / Number(baselineUsd)) * 100, 1);
});

const TEXT = "Translate into French: the parcel is waiting.";
const GEMINI = "/v1beta/models/auto:generateContent";
it.each<[string, object, object]>([
  ["/v1/chat/completions", { ...HELLO, user: "ada", metadata: { run: "1" } }, { user: "ada", tags: { run: "1" } }],
  ["/v1/messages", { ...HELLO, max_tokens: 9, metadata: { user_id: "bob" } }, { user: "bob" }],
  ["/v1/responses", { model: "auto", input: TEXT, safety_identifier: "cid" }, { user: "cid" }],
  ["/v1/responses", { model: "auto", input: TEXT, metadata: { run: "2" } }, { tags: { run: "2" } }],
  ["/v1/completions", { model: "auto", prompt: TEXT, user: "dan" }, { user: "dan" }],
  [GEMINI, { contents: [{ role: "user", parts: [{ text: TEXT }] }] }, {}],
])("a request to %s with %j is recorded with its labels", async (path, body, expected) => {
  const id = `labels-${Math.random()}`;
  const answer = await gateway.post(path, body, { "x-tag-team": "labels", "x-request-id": id });
  expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)]);
  const record = (await (await gateway.api("GET", `/api/requests/${id}`)).json()) as { tags: object };
  expect(record).toMatchObject({ route: path.replace("auto", "{model}"), ...expected });
  expect(record.tags).toMatchObject({ team: "labels" });
});

interface Line {
  readonly id: string;
  readonly session: string | null;
  readonly chargeUsd: string | null;
  readonly savedUsd: string | null;
  readonly latencyMs: number;
}
const read = async <T>(path: string): Promise<T> => (await (await gateway.api("GET", path)).json()) as T;
/** In nano-USD, so that nothing is rounded. */
const nano = (amounts: readonly (string | null)[]): bigint =>
  amounts.reduce((sum, amount) => sum + (parseUsd((amount ?? "0").replace("-", "")) ?? 0n), 0n);

it("shows the same figures in list, panel, export, totals, Explore, Sessions, Overview and Keys", async () => {
  const failed = await gateway.post("/v1/chat/completions", { ...HELLO, model: "nope", service_profile: "direct" });
  expect(failed.status).toBe(404);
  await failed.text();
  const { data: lines } = await read<{ data: Line[] }>("/api/requests?limit=200");
  const [cost, saved] = [nano(lines.map((line) => line.chargeUsd)), nano(lines.map((line) => line.savedUsd))];
  expect([cost > 0n, saved > 0n, lines.some((line) => line.savedUsd === null)]).toEqual([true, true, true]);
  const exported = (await (await gateway.api("GET", "/api/requests/export")).text()).trim().split("\n");
  expect(exported.map((line) => JSON.parse(line) as Line)).toEqual(lines);
  for (const { id, chargeUsd, savedUsd, latencyMs } of lines) {
    expect(await read(`/api/requests/${id}`)).toMatchObject({ id, chargeUsd, savedUsd, latencyMs });
  }
  expect(await read("/api/requests/totals")).toMatchObject({
    ...{ requests: lines.length, errors: 1, chargeUsd: formatUsd(cost), savedUsd: formatUsd(saved) },
  });
  for (const by of ["model", "key", "user", "tag:team", "session", "provider", "day,tier", "keyProfile,category"]) {
    const sums = async (metric: string) => (await explore(`metric=${metric}&by=${by}`)).data.map(({ value }) => value);
    expect([by, nano(await sums("cost")), nano(await sums("saved"))]).toEqual([by, cost, saved]);
    expect((await sums("requests")).reduce((sum, value) => sum + Number(value), 0)).toBe(lines.length);
  }
  const sessions = (await read<{ data: Line[] }>("/api/sessions?limit=200")).data;
  const inSessions = lines.filter(({ session }) => session !== null);
  expect(nano(sessions.map((line) => line.chargeUsd))).toBe(nano(inSessions.map((line) => line.chargeUsd)));
  expect(nano(sessions.map((line) => line.savedUsd))).toBe(nano(inSessions.map((line) => line.savedUsd)));
  for (const path of ["/api/usage?by=total", "/api/usage?by=day&group=model", "/api/usage?by=hour&group=key"]) {
    const { data } = await read<{ data: Line[] }>(path);
    expect([path, nano(data.map((row) => row.chargeUsd)), nano(data.map((row) => row.savedUsd))]).toEqual([
      path,
      cost,
      saved,
    ]);
  }
  const { data: owners } = await read<{ data: { last30Days: Line }[] }>("/api/keys?limit=200");
  expect(nano(owners.map(({ last30Days }) => last30Days.chargeUsd))).toBe(cost);
  expect(nano(owners.map(({ last30Days }) => last30Days.savedUsd))).toBe(saved);
  const slowest = String(Math.max(...lines.map(({ latencyMs }) => latencyMs)));
  expect((await explore("metric=latencyP95&by=day&top=1")).data[0]?.value).toBe(slowest);
});
