// Budgets while processes race and die: 1,000 requests at once over workers and over two gateways spend no more than any
// budget allows, and a kill between hold and settlement leaves nothing reserved.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { ensureBuild } from "../../../scripts/setup.mjs";
import { labYaml } from "../../support/gateway/gateway.ts";
import { type GatewayProcess, startGatewayProcess } from "../../support/gateway/gateway-process.ts";
import { askFresh, PATIENTLY, startWorkers } from "../../support/gateway/workers.ts";
import { answers, type FakeProvider, hangs, startFakeProvider } from "../../support/providers/fake-provider.ts";
import { decimal } from "../../support/stores/money.ts";
import { createTestDatabase } from "../../support/stores/postgres.ts";

vi.setConfig({ testTimeout: 900_000, hookTimeout: 900_000 });

const RACING = 1_000;
const AT_ONCE = 100;
const BODY = { model: "alpha", service_profile: "direct", max_tokens: 100, user: "ada" };
const USAGE = { prompt_tokens: 10, completion_tokens: 90, total_tokens: 100 };

const folders: string[] = [];
let provider: FakeProvider;

beforeAll(async () => {
  await ensureBuild();
  provider = await startFakeProvider();
  provider.on("alpha", answers("ok", { usage: USAGE }));
});
afterAll(async () => {
  await provider.close();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "switchyard-budgets-"));
  folders.push(folder);
  writeFileSync(join(folder, "switchyard.yaml"), labYaml(provider.url));
  return folder;
}

/** More than the limit of a key lets through. */
const UNLIMITED = { SWITCHYARD_REQUESTS_PER_MINUTE: "100000" };

type Api = Pick<GatewayProcess, "api">;

interface Listed {
  readonly name: string;
  readonly amountUsd: string;
  readonly standing: { readonly spentUsd: string; readonly reservedUsd: string } | null;
  readonly values: readonly { readonly value: string; readonly spentUsd: string; readonly reservedUsd: string }[];
}

/** Nano-USD that each budget says were spent and are reserved. */
async function standings(
  gateway: Api,
): Promise<readonly { name: string; limit: bigint; spent: bigint; held: bigint }[]> {
  const { data } = (await (await gateway.api("GET", "/api/budgets")).json()) as { data: readonly Listed[] };
  return data.map(({ name, amountUsd, standing, values }) => {
    const one = standing ?? values.find(({ value }) => value === "ada");
    const held = decimal(one?.reservedUsd ?? "0", 9);
    return { name, limit: decimal(amountUsd, 9), spent: decimal(one?.spentUsd ?? "0", 9), held };
  });
}

async function fund(gateway: Api): Promise<void> {
  expect((await gateway.api("POST", "/api/credits/topups", { amountUsd: "100" })).status).toBe(201);
}

/** The price of one answer, as a request without any budget is charged. */
async function costOf(gateway: GatewayProcess, key: string): Promise<bigint> {
  const { text } = await askFresh(gateway, { key, body: BODY });
  return decimal((JSON.parse(text) as { service: { costUsd: string } }).service.costUsd, 9);
}

function usd(nano: bigint): string {
  return `${nano / 1_000_000_000n}.${String(nano % 1_000_000_000n).padStart(9, "0")}`;
}

/** Three budgets that hold for the same requests: none covers all of them. */
async function setBudgets(gateway: Api, cost: bigint): Promise<void> {
  const scopes = [
    { name: "all", scope: "account", amountUsd: usd(cost * 700n), period: "month" },
    { name: "person", scope: "endUser", amountUsd: usd(cost * 400n), period: "day", rolling: true },
    { name: "model", scope: "model", value: "alpha", amountUsd: usd(cost * 550n), period: "week" },
  ];
  for (const body of scopes) expect((await gateway.api("POST", "/api/budgets", body)).status).toBe(201);
}

/** So many requests are under way at once until all were sent. Returns how many were answered. */
async function race(gateways: readonly GatewayProcess[], key: string): Promise<number> {
  let sent = 0;
  let answered = 0;
  const client = async (): Promise<void> => {
    while (sent < RACING) {
      sent += 1;
      const { status } = await askFresh(gateways[sent % gateways.length] as GatewayProcess, { key, body: BODY });
      expect([200, 402]).toContain(status);
      if (status === 200) answered += 1;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, client));
  return answered;
}

async function expectExact(gateway: GatewayProcess, answered: number, cost: bigint): Promise<void> {
  await expect.poll(async () => (await standings(gateway)).map(({ held }) => held), PATIENTLY).toEqual([0n, 0n, 0n]);
  for (const { name, spent, limit } of await standings(gateway)) {
    expect({ name, spent }).toEqual({ name, spent: cost * BigInt(answered) });
    expect(spent).toBeLessThanOrEqual(limit);
  }
  // A hold is dearer than its charge, so the strictest is not quite used up.
  expect(answered).toBeGreaterThan(300);
  expect(answered).toBeLessThanOrEqual(400);
  const verdict = (await (await gateway.api("GET", "/api/ledger/verify")).json()) as { problems: readonly string[] };
  expect(verdict.problems).toEqual([]);
}

test("1,000 racing requests over workers stay within three budgets", async () => {
  const gateway = await startWorkers({ folder: newFolder(), env: UNLIMITED });
  try {
    await fund(gateway);
    const key = gateway.firstKey ?? "";
    const cost = await costOf(gateway, key);
    await setBudgets(gateway, cost);
    await expect.poll(async () => (await untilKnown(gateway, key)).length, PATIENTLY).toBeGreaterThan(0);
    await expectExact(gateway, await race([gateway], key), cost);
  } finally {
    await gateway.stop();
  }
});

test("1,000 racing requests over two gateways on PostgreSQL stay within three budgets", async ({ skip }) => {
  const database = await createTestDatabase();
  if (database === null) return skip("no PostgreSQL");
  const env = { ...UNLIMITED, DATABASE_URL: database.url };
  const first = await startGatewayProcess({ folder: newFolder(), env });
  const second = await startGatewayProcess({ folder: newFolder(), env });
  try {
    await fund(first);
    const key = first.firstKey ?? "";
    const cost = await costOf(second, key);
    await setBudgets(first, cost);
    await expect.poll(async () => (await untilKnown(second, key)).length, PATIENTLY).toBe(2);
    await expectExact(first, await race([first, second], key), cost);
  } finally {
    await Promise.all([first.stop(), second.stop()]);
    await database.drop();
  }
});

test("a kill between hold and settlement leaves nothing reserved in three scopes, and what was spent stays", async () => {
  const folder = newFolder();
  const first = await startGatewayProcess({ folder });
  await fund(first);
  const key = first.firstKey ?? "";
  const cost = await costOf(first, key);
  await setBudgets(first, cost);
  for (let round = 0; round < 5; round += 1) expect((await askFresh(first, { key, body: BODY })).status).toBe(200);
  provider.on("alpha", hangs);
  const received = provider.nextRequest();
  const lost = askFresh(first, { key, body: BODY }).catch(() => null);
  await received;
  await first.kill();
  expect(await lost).toBeNull();
  provider.on("alpha", answers("ok", { usage: USAGE }));
  const second = await startGatewayProcess({ folder });
  try {
    await expectSpent(second, 5n * cost);
    expect((await askFresh(second, { key, body: BODY })).status).toBe(200);
    await expectSpent(second, 6n * cost);
  } finally {
    await second.stop();
  }
});

async function expectSpent(gateway: GatewayProcess, spent: bigint): Promise<void> {
  const shown = async () => (await standings(gateway)).map((one) => [one.spent, one.held]);
  await expect.poll(shown, PATIENTLY).toEqual([spent, spent, spent].map((amount) => [amount, 0n]));
  const verdict = (await (await gateway.api("GET", "/api/ledger/verify")).json()) as { problems: readonly string[] };
  expect(verdict.problems).toEqual([]);
}

/** The budgets that a process holds requests to: others learn of them a moment later. */
async function untilKnown({ url }: GatewayProcess, key: string): Promise<readonly unknown[]> {
  const answer = await fetch(`${url}/v1/budgets?user=ada`, { headers: { authorization: `Bearer ${key}` } });
  return ((await answer.json()) as { data: readonly unknown[] }).data.slice(1);
}
