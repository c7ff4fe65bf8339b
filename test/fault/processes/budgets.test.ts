// Budgets while processes race and die: many requests at once over workers and over two gateways spend no more than any
// budget allows, and a kill between hold and settlement leaves nothing reserved.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { ensureBuild } from "../../../scripts/setup.mjs";
import { labYaml } from "../../support/gateway/gateway.ts";
import { type GatewayProcess, startGatewayProcess } from "../../support/gateway/gateway-process.ts";
import { tokenIn } from "../../support/gateway/signed-in.ts";
import { askFresh, PATIENTLY, startWorkers } from "../../support/gateway/workers.ts";
import { answers, type FakeProvider, hangs, startFakeProvider } from "../../support/providers/fake-provider.ts";
import { few } from "../../support/random.ts";
import { decimal } from "../../support/stores/money.ts";
import { createTestDatabase } from "../../support/stores/postgres.ts";

vi.setConfig({ testTimeout: 900_000, hookTimeout: 900_000 });

const RACING = few(300, 1_000);
const AT_ONCE = RACING / 10;
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
    // One value of each: all requests have the same end user and the same member.
    const one = standing ?? values[0];
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

async function made<Answer>(gateway: Api, path: string, body: object): Promise<Answer> {
  const answer = await gateway.api("POST", path, body);
  expect(answer.status).toBe(201);
  return (await answer.json()) as Answer;
}

/** Five budgets that hold for the requests of one member's key in a team inside another: none covers all of them. */
async function setBudgets(gateway: GatewayProcess, cost: bigint): Promise<string> {
  const department = await made<{ id: string }>(gateway, "/api/teams", { name: "department" });
  const team = await made<{ id: string }>(gateway, "/api/teams", { name: "search", parent: department.id });
  const invited = { email: "ada@example.com", role: "member", teams: [team.id] };
  const { link } = await made<{ link: string }>(gateway, "/api/invitations", invited);
  const token = tokenIn(link);
  await made(gateway, "/api/invitations/accept", { token, password: "violet anchor teapot 42" });
  const { data } = (await (await gateway.api("GET", "/api/users")).json()) as { data: readonly { id: string }[] };
  const owner = { name: "ada", team: team.id, member: data[0]?.id };
  const { key } = await made<{ key: string }>(gateway, "/api/keys", owner);
  const share = (percent: bigint): string => usd((cost * BigInt(RACING) * percent) / 100n);
  const scopes = [
    { name: "all", scope: "account", amountUsd: share(70n), period: "month" },
    { name: "person", scope: "endUser", amountUsd: share(45n), period: "day", rolling: true },
    { name: "model", scope: "model", value: "alpha", amountUsd: share(55n), period: "week" },
    { name: "department", scope: "team", value: department.id, amountUsd: share(40n), period: "month" },
    { name: "member", scope: "member", amountUsd: share(50n), period: "month" },
  ];
  for (const body of scopes) await made(gateway, "/api/budgets", body);
  return key;
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

const NONE_HELD = Array.from({ length: 5 }, () => 0n);

async function expectExact(gateway: GatewayProcess, answered: number, cost: bigint): Promise<void> {
  await expect.poll(async () => (await standings(gateway)).map(({ held }) => held), PATIENTLY).toEqual(NONE_HELD);
  for (const { name, spent, limit } of await standings(gateway)) {
    expect({ name, spent }).toEqual({ name, spent: cost * BigInt(answered) });
    expect(spent).toBeLessThanOrEqual(limit);
  }
  // A hold is dearer than its charge, so the strictest is not quite used up.
  expect(answered).toBeGreaterThan(RACING * 0.3);
  expect(answered).toBeLessThanOrEqual(RACING * 0.4);
  const verdict = (await (await gateway.api("GET", "/api/ledger/verify")).json()) as { problems: readonly string[] };
  expect(verdict.problems).toEqual([]);
}

test("racing requests over workers stay within five budgets", async () => {
  const gateway = await startWorkers({ folder: newFolder(), env: UNLIMITED });
  try {
    await fund(gateway);
    const cost = await costOf(gateway, gateway.firstKey ?? "");
    const key = await setBudgets(gateway, cost);
    await expect.poll(async () => (await untilKnown(gateway, key)).length, PATIENTLY).toBeGreaterThan(0);
    await expectExact(gateway, await race([gateway], key), cost);
  } finally {
    await gateway.stop();
  }
});

test("racing requests over two gateways on PostgreSQL stay within five budgets", async ({ skip }) => {
  const database = await createTestDatabase();
  if (database === null) return skip("no PostgreSQL");
  const env = { ...UNLIMITED, DATABASE_URL: database.url };
  const first = await startGatewayProcess({ folder: newFolder(), env });
  const second = await startGatewayProcess({ folder: newFolder(), env });
  try {
    await fund(first);
    const cost = await costOf(second, first.firstKey ?? "");
    const key = await setBudgets(first, cost);
    await expect.poll(async () => (await untilKnown(second, key)).length, PATIENTLY).toBe(4);
    await expectExact(first, await race([first, second], key), cost);
  } finally {
    await Promise.all([first.stop(), second.stop()]);
    await database.drop();
  }
});

test("a kill between hold and settlement leaves nothing reserved in five scopes, and what was spent stays", async () => {
  const folder = newFolder();
  const first = await startGatewayProcess({ folder });
  await fund(first);
  const cost = await costOf(first, first.firstKey ?? "");
  const key = await setBudgets(first, cost);
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
  await expect.poll(shown, PATIENTLY).toEqual(NONE_HELD.map(() => [spent, 0n]));
  const verdict = (await (await gateway.api("GET", "/api/ledger/verify")).json()) as { problems: readonly string[] };
  expect(verdict.problems).toEqual([]);
}

/** The budgets that a process holds requests to: others learn of them a moment later. */
async function untilKnown({ url }: GatewayProcess, key: string): Promise<readonly unknown[]> {
  const answer = await fetch(`${url}/v1/budgets?user=ada`, { headers: { authorization: `Bearer ${key}` } });
  return ((await answer.json()) as { data: readonly unknown[] }).data.slice(1);
}
