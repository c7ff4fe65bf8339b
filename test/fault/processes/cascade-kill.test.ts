// The process is killed or stopped between the two answers of a cascade. A client without an answer pays nothing, and no credits
// stay reserved; one that gets its answer pays for both.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { ensureBuild } from "../../../scripts/setup.mjs";
import { type CascadeAnswer, cascadeCost, cascadeYaml, FITS, MISFITS, SCHEMA, says } from "../../support/cascade.ts";
import { HELLO } from "../../support/gateway/gateway.ts";
import { type GatewayProcess, startGatewayProcess } from "../../support/gateway/gateway-process.ts";
import { PATIENTLY } from "../../support/gateway/workers.ts";
import { type FakeProvider, hangs, startFakeProvider } from "../../support/providers/fake-provider.ts";
import { postedIn } from "../../support/stores/left-ledger.ts";
import { chargesOf, decimal, postedOf } from "../../support/stores/money.ts";

vi.setConfig({ testTimeout: 900_000, hookTimeout: 900_000 });

const ASKED = {
  ...HELLO,
  response_format: { type: "json_schema", json_schema: { name: "answer", schema: SCHEMA } },
  service_cascade: true,
};

/** No deadline comes, so the signals alone decide. */
const PATIENT = { SWITCHYARD_DRAIN_SECONDS: "600" };

const folders: string[] = [];
let provider: FakeProvider;

beforeAll(async () => {
  await ensureBuild();
  provider = await startFakeProvider();
});
afterEach(() => provider.reset());
afterAll(async () => {
  await provider.close();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

interface Running {
  readonly folder: string;
  readonly gateway: GatewayProcess;
  readonly key: string;
  readonly before: bigint;
}

async function run(env: Readonly<Record<string, string>> = {}): Promise<Running> {
  const folder = mkdtempSync(join(tmpdir(), "switchyard-cascade-"));
  folders.push(folder);
  writeFileSync(join(folder, "switchyard.yaml"), cascadeYaml(provider.url));
  const gateway = await startGatewayProcess({ folder, env });
  await gateway.api("POST", "/api/credits/topups", { amountUsd: "10" });
  return { folder, gateway, key: gateway.firstKey ?? "", before: await postedOf(gateway) };
}

function ask({ gateway, key }: Pick<Running, "gateway" | "key">): Promise<Response> {
  return fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(ASKED),
  });
}

/** Resolves when the first answer has failed its check and the second tier is asked. */
async function untilSecond(): Promise<void> {
  while ((await provider.nextRequest()).body.model !== "middle");
}

async function untilNotReady({ gateway }: Running): Promise<void> {
  await expect.poll(async () => (await fetch(`${gateway.url}/readyz`)).status, PATIENTLY).toBe(503);
}

test("a process that dies between the answers of a cascade charges nothing and leaves nothing reserved", async () => {
  const running = await run();
  const { folder, key, before } = running;
  provider.on("small", says(MISFITS));
  provider.on("middle", hangs);
  const lost = ask(running).catch(() => null);
  await untilSecond();
  await running.gateway.kill();
  expect(await lost).toBeNull();

  const gateway = await startGatewayProcess({ folder });
  const verify = async () => (await gateway.api("GET", "/api/ledger/verify")).json();
  await vi.waitFor(async () => expect(await verify()).toMatchObject({ ok: true, openHolds: 0, problems: [] }), 60_000);
  expect(await postedOf(gateway)).toBe(before);
  expect(await (await gateway.api("GET", "/api/credits")).json()).toMatchObject({ heldUsd: "0" });
  expect(await chargesOf(gateway)).toEqual([]);

  provider.on("middle", says(FITS));
  const { service } = (await (await ask({ gateway, key })).json()) as CascadeAnswer;
  expect(service.cascade).toMatchObject([{ passed: false }, { passed: true }]);
  expect(before - (await postedOf(gateway))).toBe(decimal(service.costUsd, 9));
  expect((await chargesOf(gateway)).length).toBe(2);
  await gateway.kill();
});

test("a process that is stopped at once between the answers of a cascade charges nothing and leaves nothing reserved", async () => {
  const running = await run(PATIENT);
  provider.on("small", says(MISFITS));
  provider.on("middle", hangs);
  const lost = ask(running);
  await untilSecond();
  running.gateway.signal("SIGTERM");
  await untilNotReady(running);
  // The same signal again right after the first would count as one.
  running.gateway.signal("SIGINT");
  const answer = await lost;
  expect(answer.status).toBe(503);
  expect(await answer.json()).toMatchObject({ error: { code: "shutting_down" } });
  expect(await running.gateway.exited).toBe(0);
  expect(await postedIn(running.folder)).toBe(running.before);
});

test("a process that stops in time waits for the second answer of a cascade and charges both", async () => {
  const running = await run(PATIENT);
  let finish = (): void => undefined;
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  provider.on("small", says(MISFITS, { prompt_tokens: 1013, completion_tokens: 77 }));
  provider.on("middle", (exchange) => finished.then(() => says(FITS)(exchange)));
  const asked = ask(running);
  await untilSecond();
  running.gateway.signal("SIGTERM");
  await untilNotReady(running);
  finish();
  const { service } = (await (await asked).json()) as CascadeAnswer;
  expect(service.cascade).toMatchObject([{ passed: false }, { passed: true }]);
  expect(await running.gateway.exited).toBe(0);
  const cost = cascadeCost(["small", 1013, 77], "middle");
  expect(decimal(service.costUsd, 9)).toBe(cost);
  expect(running.before - (await postedIn(running.folder))).toBe(cost);
});
