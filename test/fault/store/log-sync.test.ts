// A charge is on disk before its answer ends: the sync of SQLite's log is delayed, or made to fail, from outside.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { ensureBuild } from "../../../scripts/setup.mjs";
import { HELLO } from "../../support/gateway/gateway.ts";
import { type GatewayProcess, startGatewayProcess } from "../../support/gateway/gateway-process.ts";
import { type FakeProvider, startFakeProvider, USAGE } from "../../support/providers/fake-provider.ts";
import { bankYaml, decimal, owed, PRICES } from "../../support/stores/money.ts";

vi.setConfig({ testTimeout: 900_000, hookTimeout: 900_000 });

const COST = owed({ input: USAGE.prompt_tokens, output: USAGE.completion_tokens }, PRICES.alpha);
/** As sync-faults.mjs has it. */
const SLOW_MS = 400;
const FAULTS = new URL("../../support/stores/sync-faults.mjs", import.meta.url).href;

const folder = mkdtempSync(join(tmpdir(), "switchyard-sync-"));
let provider: FakeProvider;
let gateway: GatewayProcess;
let key = "";

beforeAll(async () => {
  await ensureBuild();
  provider = await startFakeProvider();
  writeFileSync(join(folder, "switchyard.yaml"), bankYaml(provider.url, { chain: ["alpha"] }));
  const env = { NODE_OPTIONS: `--import=${FAULTS}`, SYNC_FAULTS: folder };
  gateway = await startGatewayProcess({ folder, env });
  key = gateway.firstKey ?? "";
  await gateway.api("POST", "/api/credits/topups", { amountUsd: "100" });
});
afterAll(async () => {
  await gateway.kill();
  await provider.close();
  rmSync(folder, { recursive: true, force: true });
});

/** While the work is done. */
async function faulty<T>(fault: "slow" | "broken", work: () => Promise<T>): Promise<T> {
  writeFileSync(join(folder, fault), "");
  try {
    return await work();
  } finally {
    rmSync(join(folder, fault));
  }
}

async function ask(): Promise<number> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(HELLO),
  });
  await response.text();
  return response.status;
}

async function posted(): Promise<bigint> {
  const { postedUsd } = (await (await gateway.api("GET", "/api/credits")).json()) as { postedUsd: string };
  return decimal(postedUsd, 9);
}

const verdict = async (): Promise<unknown> => (await gateway.api("GET", "/api/ledger/verify")).json();

test("no answer ends before the disk has its charge, alone or among others", async () => {
  const before = await posted();
  await ask();
  for (const count of [1, 8]) {
    const startedAtMs = performance.now();
    const statuses = await faulty("slow", () => Promise.all(Array.from({ length: count }, ask)));
    expect(statuses).toEqual(Array(count).fill(200));
    expect(performance.now() - startedAtMs).toBeGreaterThanOrEqual(SLOW_MS);
  }
  expect(before - (await posted())).toBe(10n * COST);
});

test("a sync that fails loses and doubles nothing: what it was for is booked once when the disk is well again", async () => {
  const before = await posted();
  const paid = await faulty("broken", async () => {
    const statuses = [await ask(), await ask()];
    expect(statuses).toContain(503);
    return statuses.filter((status) => status === 200).length;
  });
  await expect.poll(ask, { timeout: 300_000, interval: 200 }).toBe(200);
  await expect
    .poll(verdict, { timeout: 300_000, interval: 200 })
    .toMatchObject({ ok: true, openHolds: 0, problems: [] });
  await expect.poll(async () => before - (await posted())).toBe(BigInt(paid + 1) * COST);
  const last = await posted();
  expect(await gateway.stop()).toBe(0);
  gateway = await startGatewayProcess({ folder });
  expect(await posted()).toBe(last);
});
