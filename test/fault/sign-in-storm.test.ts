// Case 97: many wrong passwords at once, each as hard to compute as a real one. Requests are served meanwhile: they do not
// stand in line behind the passwords.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ensureBuild } from "../../scripts/setup.mjs";
import { type FakeProvider, startFakeProvider } from "../support/fake-provider.ts";
import { HELLO } from "../support/gateway.ts";
import { type GatewayProcess, startGatewayProcess } from "../support/gateway-process.ts";
import { bankYaml } from "../support/money.ts";

const SIGN_INS = 12;

const folder = mkdtempSync(join(tmpdir(), "switchyard-storm-"));
let provider: FakeProvider;
let gateway: GatewayProcess;

beforeAll(async () => {
  await ensureBuild();
  provider = await startFakeProvider();
  writeFileSync(join(folder, "switchyard.yaml"), bankYaml(provider.url));
  const env = { SWITCHYARD_EVENT_LOOP_DELAY_MS: "60000", SWITCHYARD_QUEUE_MS: "60000" };
  gateway = await startGatewayProcess({ folder, env });
  await gateway.api("POST", "/api/credits/topups", { amountUsd: "10" });
}, 120_000);
afterAll(async () => {
  await gateway.kill();
  await provider.close();
  rmSync(folder, { recursive: true, force: true });
});

const send = (path: string, body: object, headers: Record<string, string> = {}): Promise<number> =>
  fetch(`${gateway.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  }).then(async (answer) => {
    await answer.arrayBuffer();
    return answer.status;
  });

test("requests go on while a dozen people type wrong passwords", { timeout: 300_000 }, async () => {
  const startedAtMs = performance.now();
  let isOver = false;
  const storm = Promise.all(
    Array.from({ length: SIGN_INS }, (_, index) =>
      send("/api/session", { email: `somebody${index}@x.example`, password: "not this one, sorry" }),
    ),
  ).finally(() => {
    isOver = true;
  });
  const tookMs: number[] = [];
  while (!isOver) {
    const askedAtMs = performance.now();
    const status = await send("/v1/chat/completions", HELLO, { authorization: `Bearer ${gateway.firstKey}` });
    expect(status).toBe(200);
    tookMs.push(performance.now() - askedAtMs);
  }
  const statuses = await storm;
  const stormMs = performance.now() - startedAtMs;
  expect(statuses.filter((status) => ![401, 429, 503].includes(status))).toEqual([]);
  expect(statuses).toContain(401);
  expect(tookMs.length, `answers in ${Math.round(stormMs)} ms`).toBeGreaterThan(5);
  expect(Math.max(...tookMs)).toBeLessThan(stormMs / 2);
});
