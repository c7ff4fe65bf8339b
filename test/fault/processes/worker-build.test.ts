// The program's files are replaced while a gateway with workers runs. A worker of another build serves under no primary
// process: the rest goes on without it, and when none is left, the gateway ends so that the new build can be started.

import { spawnSync } from "node:child_process";
import { appendFileSync, cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { ensureBuild } from "../../../scripts/setup.mjs";
import { type GatewayProcess, startGatewayProcess } from "../../support/gateway/gateway-process.ts";
import { isRunning, PATIENTLY, startWorkers, statusesOf, type WorkersGateway } from "../../support/gateway/workers.ts";
import {
  completion,
  type FakeProvider,
  sends,
  startFakeProvider,
  USAGE,
} from "../../support/providers/fake-provider.ts";
import { bankYaml } from "../../support/stores/money.ts";

vi.setConfig({ testTimeout: 900_000, hookTimeout: 900_000 });

const ROOT = join(import.meta.dirname, "../../..");
const folder = mkdtempSync(join(tmpdir(), "switchyard-worker-build-"));
const installed = join(folder, "dist");
const BUNDLER = join(ROOT, "scripts/setup/bundle.mjs");
const started: GatewayProcess[] = [];
let provider: FakeProvider;

beforeAll(async () => {
  await ensureBuild();
  provider = await startFakeProvider();
  provider.on("alpha", sends(200, completion("some words", "alpha", { usage: USAGE })));
  writeFileSync(join(folder, "switchyard.yaml"), bankYaml(provider.url, { chain: ["alpha"] }));
  cpSync(join(ROOT, "package.json"), join(folder, "package.json"));
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  install();
});
afterAll(async () => {
  for (const gateway of started) await gateway.kill();
  await provider.close();
  rmSync(folder, { recursive: true, force: true });
});

function install(): void {
  rmSync(installed, { recursive: true, force: true });
  cpSync(join(ROOT, "dist"), installed, { recursive: true });
}

/** Of the same version, with one line of its own. */
function installOther(): void {
  install();
  appendFileSync(join(installed, "workers/link.js"), "// Another build.\n");
  rmSync(join(installed, "program"), { recursive: true });
  const { status, stderr } = spawnSync(process.execPath, [BUNDLER, installed], { encoding: "utf8" });
  expect(stderr).toBe("");
  expect(status).toBe(0);
}

const env = { TEST_BUILD: join(installed, "program") };

function kept<Started extends GatewayProcess>(gateway: Started): Started {
  started.push(gateway);
  return gateway;
}

const verdictOf = async (gateway: GatewayProcess): Promise<unknown> =>
  (await gateway.api("GET", "/api/ledger/verify")).json();

function killNewest(gateway: WorkersGateway): void {
  process.kill(gateway.workers().filter(isRunning).at(-1) ?? 0, "SIGKILL");
}

test("a gateway goes on without workers of another build, and ends with the last of its own", async () => {
  const gateway = kept(await startWorkers({ folder, env }));
  const key = gateway.firstKey ?? "";
  await gateway.api("POST", "/api/credits/topups", { amountUsd: "100" });
  // The same build once more is no other build.
  install();
  killNewest(gateway);
  await gateway.untilStarted(3);

  installOther();
  killNewest(gateway);
  await expect.poll(gateway.output, PATIENTLY).toContain('"event":"worker.other_build","left":1');
  expect(await statusesOf(gateway, { key }, 6)).toEqual(Array(6).fill(200));
  expect(await verdictOf(gateway)).toMatchObject({ ok: true, problems: [] });
  expect(gateway.workers()).toHaveLength(3);

  killNewest(gateway);
  expect(await gateway.exited).toBe(1);
  expect(gateway.output()).toContain('"event":"worker.other_build","left":0');
  expect(gateway.output().match(/"event":"process.lost"/g)).toHaveLength(1);
  await expect(fetch(gateway.url)).rejects.toThrow();

  const next = kept(await startGatewayProcess({ folder, env }));
  expect(await statusesOf(next, { key }, 6)).toEqual(Array(6).fill(200));
  expect(await verdictOf(next)).toMatchObject({ ok: true, openHolds: 0, problems: [] });
  expect(await next.stop()).toBe(0);
});
