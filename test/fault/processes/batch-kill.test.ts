// The process is killed in the middle of a batch. The next one goes on, every line has one result, and each is charged once.
// `npm run test:faults` runs 10,000 lines, and BATCH_LINES any number.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { ensureBuild } from "../../../scripts/setup.mjs";
import { type GatewayProcess, startGatewayProcess } from "../../support/gateway/gateway-process.ts";
import { isLong } from "../../support/random.ts";
import { createTestDatabase } from "../../support/stores/postgres.ts";

vi.setConfig({ testTimeout: isLong ? 7_200_000 : 900_000, hookTimeout: 900_000 });

const LINES = Number(process.env.BATCH_LINES ?? (isLong ? 10_000 : 120));
// Polls and lines are requests of one key.
const ENV = { SWITCHYARD_BATCH_CONCURRENCY: "8", SWITCHYARD_REQUESTS_PER_MINUTE: "1000000" };
const PATH = "/v1/chat/completions";

const folders: string[] = [];
const database = await createTestDatabase();
beforeAll(() => ensureBuild());
afterAll(async () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  await database?.drop();
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "switchyard-batch-"));
  folders.push(folder);
  return folder;
}

interface Batch {
  readonly id: string;
  readonly status: string;
  readonly output_file_id: string;
  readonly request_counts: { readonly total: number; readonly completed: number; readonly failed: number };
}

async function call(gateway: GatewayProcess, key: string, path: string, body?: object | FormData): Promise<Response> {
  const isForm = body instanceof FormData;
  return fetch(`${gateway.url}${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: {
      authorization: `Bearer ${key}`,
      ...(body === undefined || isForm ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
  });
}

async function begin(gateway: GatewayProcess, key: string): Promise<string> {
  const lines = Array.from({ length: LINES }, (_, at) => {
    const body = { model: "auto", messages: [{ role: "user", content: `Line ${at}` }] };
    return JSON.stringify({ custom_id: `l${at}`, method: "POST", url: PATH, body });
  });
  const form = new FormData();
  form.append("purpose", "batch");
  form.append("file", new Blob([lines.join("\n")]), "lines.jsonl");
  const { id } = (await (await call(gateway, key, "/v1/files", form)).json()) as { id: string };
  const input = { input_file_id: id, endpoint: PATH, completion_window: "24h" };
  return ((await (await call(gateway, key, "/v1/batches", input)).json()) as Batch).id;
}

async function show(gateway: GatewayProcess, key: string, id: string): Promise<Batch> {
  const response = await call(gateway, key, `/v1/batches/${id}`);
  expect(response.status).toBe(200);
  return (await response.json()) as Batch;
}

const completed = (gateway: GatewayProcess, key: string, id: string, least: number): Promise<void> =>
  expect
    .poll(async () => (await show(gateway, key, id)).request_counts.completed, {
      timeout: isLong ? 3_600_000 : 600_000,
      interval: 250,
    })
    .toBeGreaterThanOrEqual(least);

/** The requests that were charged, each as often as it was. */
async function chargedRequests(gateway: GatewayProcess): Promise<readonly string[]> {
  const found: string[] = [];
  for (let after = ""; ; ) {
    const response = await gateway.api("GET", `/api/ledger?kind=charge&limit=100${after}`);
    const { data, next } = (await response.json()) as { data: { requestId: string }[]; next: string | null };
    found.push(...data.map(({ requestId }) => requestId));
    if (next === null) return found;
    after = `&after=${next}`;
  }
}

async function expectWhole(gateway: GatewayProcess, key: string, id: string): Promise<void> {
  await completed(gateway, key, id, LINES);
  await expect.poll(async () => (await show(gateway, key, id)).status, { timeout: 60_000 }).toBe("completed");
  const { output_file_id: file, request_counts: counts } = await show(gateway, key, id);
  expect(counts).toEqual({ total: LINES, completed: LINES, failed: 0 });
  const text = await (await call(gateway, key, `/v1/files/${file}/content`)).text();
  const ids = text
    .trimEnd()
    .split("\n")
    .map((line) => (JSON.parse(line) as { custom_id: string }).custom_id);
  expect(ids).toEqual(Array.from({ length: LINES }, (_, at) => `l${at}`));
  const charged = (await chargedRequests(gateway)).filter((request) => request.startsWith(id));
  expect(new Set(charged).size).toBe(LINES);
  expect(charged).toHaveLength(LINES);
  const { ok, problems } = (await (await gateway.api("GET", "/api/ledger/verify")).json()) as {
    ok: boolean;
    problems: unknown;
  };
  expect(problems).toEqual([]);
  expect(ok).toBe(true);
  // What the batch had on hold is free again.
  const held = async () => ((await (await gateway.api("GET", "/api/credits")).json()) as { heldUsd: string }).heldUsd;
  await expect.poll(held, { timeout: 60_000 }).toBe("0");
}

test("a gateway that is killed twice goes on", async () => {
  const folder = newFolder();
  let gateway = await startGatewayProcess({ folder, env: ENV });
  const key = gateway.firstKey ?? "";
  const id = await begin(gateway, key);
  for (const share of [0.2, 0.5]) {
    await completed(gateway, key, id, LINES * share);
    await gateway.kill();
    gateway = await startGatewayProcess({ folder, env: ENV });
  }
  await expectWhole(gateway, key, id);
  await gateway.stop();
});

describe.skipIf(database === null)("on PostgreSQL", () => {
  test("of two gateways, the other one takes over", async () => {
    const env = { ...ENV, DATABASE_URL: database?.url ?? "" };
    const first = await startGatewayProcess({ folder: newFolder(), env });
    const key = first.firstKey ?? "";
    const second = await startGatewayProcess({ folder: newFolder(), env });
    const id = await begin(first, key);
    await completed(second, key, id, LINES * 0.3);
    await first.kill();
    await expectWhole(second, key, id);
    await second.stop();
  });
});
