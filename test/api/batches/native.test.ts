// Batches that are sent on to hosts which run batches for less.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import OpenAI, { toFile } from "openai";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { type BatchHost, startBatchHost, TOKENS } from "../../support/providers/fake-batch-host.ts";

const folder = mkdtempSync(join(tmpdir(), "switchyard-native-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let host: BatchHost;
let gateway: TestGateway;
beforeEach(async () => {
  host = await startBatchHost();
});
afterEach(async () => {
  await gateway.stop();
  await host.close();
});

const PATH = "/v1/chat/completions";
const LINES = 12;
const PRICE = { input: 2, output: 10 };
/** USD for one answer, with the markup. */
const USUAL = ((TOKENS.input * PRICE.input + TOKENS.output * PRICE.output) / 1e6) * 1.05;

function yaml(kind: "openai" | "anthropic"): string {
  return `providers:
  alpha: { kind: ${kind}, baseUrl: "${host.url}", apiKey: secret, batches: true, zeroRetention: true }
catalog: none
models:
  - { id: one, provider: alpha, upstream: one-1, context: 100000, maxOutput: 8000, price: { input: 2, output: 10, factors: { batch: 0.5 } }, capabilities: [tools] }
tiers: { NANO: [one], SIMPLE: [one], LIGHT: [one], STANDARD: [one], COMPLEX: [one] }
routing: { baseline: one }
`;
}

const start = (kind: "openai" | "anthropic" = "openai", env: Record<string, string> = {}, database?: string) =>
  startGateway({
    yaml: yaml(kind),
    env: { SWITCHYARD_BATCH_NATIVE_FROM: "10", ...env },
    creditsUsd: "10",
    ...(database === undefined ? {} : { database }),
  });
const client = (apiKey = gateway.key) => new OpenAI({ apiKey, baseURL: `${gateway.url}/v1`, maxRetries: 0 });

async function create(more: object = {}, count = LINES): Promise<OpenAI.Batch> {
  const lines = Array.from({ length: count }, (_, at) => {
    const body = { model: "auto", max_tokens: 500, messages: [{ role: "user", content: `Line ${at}` }], ...more };
    return JSON.stringify({ custom_id: `l${at}`, method: "POST", url: PATH, body });
  });
  const file = await toFile(Buffer.from(lines.join("\n")), "lines.jsonl");
  const { id } = await client().files.create({ file, purpose: "batch" });
  return client().batches.create({ input_file_id: id, endpoint: PATH, completion_window: "24h" });
}

interface Shown extends OpenAI.Batch {
  readonly service: { readonly cost_usd: number };
}

async function over(id: string, apiKey = gateway.key): Promise<Shown> {
  const show = () => client(apiKey).batches.retrieve(id);
  await expect
    .poll(async () => (await show()).status, { timeout: 60_000, interval: 200 })
    .toMatch(/completed|cancelled|expired/);
  return (await show()) as Shown;
}

const sent = () => expect.poll(() => host.batches.length, { timeout: 30_000, interval: 50 }).toBe(1);
const single = () => host.calls.filter((call) => /chat\/completions|v1\/messages$/.test(call)).length;

async function charges(): Promise<readonly number[]> {
  const { data } = (await (await gateway.api("GET", "/api/ledger?kind=charge&limit=100")).json()) as {
    data: { amountUsd: string }[];
  };
  return data.map(({ amountUsd }) => Math.abs(Number(amountUsd)));
}

test("a host runs the lines at its batch price, and our queue those that it does not finish", async () => {
  gateway = await start();
  const { id } = await create();
  await sent();
  expect(host.batches[0]?.lines).toHaveLength(LINES);
  expect(host.batches[0]?.lines[0]).toMatchObject({ url: PATH, body: { model: "one-1", max_tokens: 500 } });
  host.finish(({ custom_id: key }) => (key === "line-3" ? "failed" : key === "line-7" ? "missing" : "answered"));
  const done = await over(id);
  expect(done).toMatchObject({ status: "completed", request_counts: { total: LINES, completed: LINES, failed: 0 } });
  expect(single()).toBe(2);
  const paid = [...(await charges())].sort((one, other) => one - other);
  expect(paid).toHaveLength(LINES);
  for (const [at, amount] of paid.entries()) expect(amount).toBeCloseTo(at < LINES - 2 ? USUAL / 2 : USUAL, 9);
  expect(done.service.cost_usd).toBeCloseTo(USUAL * (LINES - 2) * 0.5 + USUAL * 2, 9);
  const text = await (await client().files.content(String(done.output_file_id))).text();
  expect(text.trimEnd().split("\n")).toHaveLength(LINES);
  expect(text).toContain("by the host");
  const credits = (await (await gateway.api("GET", "/api/credits")).json()) as { heldUsd: string };
  expect(credits.heldUsd).toBe("0");
});

test("a host of Anthropic's format runs lines of another format", async () => {
  gateway = await start("anthropic");
  const { id } = await create();
  await sent();
  host.finish();
  expect((await over(id)).request_counts).toMatchObject({ completed: LINES });
  expect(single()).toBe(0);
  for (const amount of await charges()) expect(amount).toBeCloseTo(USUAL / 2, 9);
});

test("after a restart, another process takes the answers over", async () => {
  const database = `sqlite:${join(folder, "restart.db")}`;
  const secret = { SWITCHYARD_SECRET: "a-secret-of-thirty-two-characters" };
  gateway = await start("openai", secret, database);
  const { key } = gateway;
  const { id } = await create();
  const isSent = async () => JSON.stringify(await client().batches.retrieve(id));
  await sent();
  expect(await isSent()).toContain('"completed":0');
  await gateway.stop();
  host.finish();
  gateway = await start("openai", secret, database);
  expect((await over(id, key)).request_counts).toMatchObject({ completed: LINES });
  expect(host.batches).toHaveLength(1);
  expect(single()).toBe(0);
  expect(await charges()).toHaveLength(LINES);
});

test("a host that cannot take them leaves the lines to our own queue", async () => {
  gateway = await start();
  host.broken.add("/batches");
  const { id } = await create();
  expect((await over(id)).request_counts).toMatchObject({ completed: LINES });
  expect(single()).toBe(LINES);
  for (const amount of await charges()) expect(amount).toBeCloseTo(USUAL, 9);
});

test("a batch that is cancelled is cancelled at the host, and pays what the host has done", async () => {
  gateway = await start();
  const { id } = await create();
  await sent();
  await client().batches.cancel(id);
  await expect.poll(() => host.batches[0]?.isCancelled, { timeout: 30_000 }).toBe(true);
  host.finish(({ custom_id: key }) => (key === "line-0" ? "answered" : "missing"));
  const done = await over(id);
  expect(done).toMatchObject({ status: "cancelled", request_counts: { completed: 1 } });
  expect(await charges()).toHaveLength(1);
});

test.each<[string, object, number]>([
  ["a batch of few lines", {}, 9],
  ["lines of a service tier", { service_tier: "priority" }, LINES],
  ["lines that nobody may keep", { service_zero_retention: true }, LINES],
  ["lines that nobody may keep, in OpenRouter's words", { provider: { zdr: true } }, LINES],
])("%s stays with our own queue", async (_name, more, count) => {
  gateway = await start();
  const { id } = await create(more, count);
  expect((await over(id)).request_counts).toMatchObject({ completed: count });
  expect(host.batches).toEqual([]);
});
