// The process is killed between the two answers of a cascade: the client has no answer, so it pays nothing, and no credits
// stay reserved. After the restart, the same request is charged for both answers.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { ensureBuild } from "../../../scripts/setup.mjs";
import { type CascadeAnswer, cascadeYaml, FITS, MISFITS, SCHEMA, says } from "../../support/cascade.ts";
import { HELLO } from "../../support/gateway/gateway.ts";
import { type GatewayProcess, startGatewayProcess } from "../../support/gateway/gateway-process.ts";
import { type FakeProvider, hangs, startFakeProvider } from "../../support/providers/fake-provider.ts";
import { chargesOf, decimal, postedOf } from "../../support/stores/money.ts";

vi.setConfig({ testTimeout: 900_000, hookTimeout: 900_000 });

const ASKED = {
  ...HELLO,
  response_format: { type: "json_schema", json_schema: { name: "answer", schema: SCHEMA } },
  service_cascade: true,
};

const folder = mkdtempSync(join(tmpdir(), "switchyard-cascade-"));
let provider: FakeProvider;
let gateway: GatewayProcess;
let key = "";

beforeAll(async () => {
  await ensureBuild();
  provider = await startFakeProvider();
  writeFileSync(join(folder, "switchyard.yaml"), cascadeYaml(provider.url));
  gateway = await startGatewayProcess({ folder });
  key = gateway.firstKey ?? "";
  await gateway.api("POST", "/api/credits/topups", { amountUsd: "10" });
});
afterAll(async () => {
  await gateway.kill();
  await provider.close();
  rmSync(folder, { recursive: true, force: true });
});

function ask(): Promise<Response> {
  return fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(ASKED),
  });
}

test("a process that dies between the answers of a cascade charges nothing and leaves nothing reserved", async () => {
  const before = await postedOf(gateway);
  provider.on("small", says(MISFITS));
  provider.on("middle", hangs);
  const lost = ask().catch(() => null);
  while ((await provider.nextRequest()).body.model !== "middle");
  await gateway.kill();
  expect(await lost).toBeNull();

  gateway = await startGatewayProcess({ folder });
  const verify = async () => (await gateway.api("GET", "/api/ledger/verify")).json();
  await vi.waitFor(async () => expect(await verify()).toMatchObject({ ok: true, openHolds: 0, problems: [] }), 60_000);
  expect(await postedOf(gateway)).toBe(before);
  expect(await (await gateway.api("GET", "/api/credits")).json()).toMatchObject({ heldUsd: "0" });
  expect(await chargesOf(gateway)).toEqual([]);

  provider.on("middle", says(FITS));
  const { service } = (await (await ask()).json()) as CascadeAnswer;
  expect(service.cascade).toMatchObject([{ passed: false }, { passed: true }]);
  expect(before - (await postedOf(gateway))).toBe(decimal(service.costUsd, 9));
  expect((await chargesOf(gateway)).length).toBe(2);
});
