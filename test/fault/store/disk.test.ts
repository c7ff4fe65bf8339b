// Case 85: the disk fails under a running process. The kernel itself refuses every write (a limit on file sizes, set from
// outside and taken away again), so SQLite, its log and the outbox all meet real errors.

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { ensureBuild } from "../../../scripts/setup.mjs";
import { HELLO } from "../../support/gateway/gateway.ts";
import { type GatewayProcess, startGatewayProcess } from "../../support/gateway/gateway-process.ts";
import {
  answers,
  chunk,
  type FakeProvider,
  startFakeProvider,
  streams,
  USAGE,
} from "../../support/providers/fake-provider.ts";
import { bankYaml, owed, PRICES, postedOf } from "../../support/stores/money.ts";

vi.setConfig({ testTimeout: 900_000, hookTimeout: 900_000 });

const COST = owed({ input: USAGE.prompt_tokens, output: USAGE.completion_tokens }, PRICES.alpha);
const canLimit = spawnSync("prlimit", ["--version"]).status === 0;
if (!canLimit) console.info("disk faults are skipped: there is no prlimit here to make the kernel refuse writes");

describe.skipIf(!canLimit)("a disk that takes no more writes", () => {
  const folder = mkdtempSync(join(tmpdir(), "switchyard-disk-"));
  let provider: FakeProvider;
  let gateway: GatewayProcess;
  let key = "";

  beforeAll(async () => {
    await ensureBuild();
    provider = await startFakeProvider();
    writeFileSync(join(folder, "switchyard.yaml"), bankYaml(provider.url, { chain: ["alpha"] }));
    gateway = await startGatewayProcess({ folder });
    key = gateway.firstKey ?? "";
    await gateway.api("POST", "/api/credits/topups", { amountUsd: "100" });
  });
  afterAll(async () => {
    await gateway.kill();
    await provider.close();
    rmSync(folder, { recursive: true, force: true });
  });

  function limitFiles(size: string): void {
    const { status, stderr } = spawnSync("prlimit", ["--pid", String(gateway.pid), `--fsize=${size}:unlimited`]);
    expect(status, String(stderr)).toBe(0);
  }

  function ask(body: object = {}): Promise<Response> {
    return fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ ...HELLO, ...body }),
    });
  }

  async function readiness(): Promise<string> {
    return (await fetch(`${gateway.url}/readyz?verbose`)).text();
  }

  test("new requests get 503, running streams finish, and all is booked once when it is well again", async () => {
    const before = await postedOf(gateway);
    let finish = (): void => undefined;
    const mayFinish = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const chunks = [chunk("alpha", { content: "Hello" }), chunk("alpha", {}, "stop")];
    provider.once("alpha", streams(chunks, { usage: USAGE, before: (index) => (index === 1 ? mayFinish : undefined) }));
    const running = await ask({ stream: true });
    limitFiles("1");
    // Credit that was set aside before may let one more start. Its charge fails, so that it is the last.
    provider.once("alpha", answers("Paris.", { usage: USAGE }));
    const paid = (await ask()).status === 200 ? 3 : 2;
    for (let round = 0; round < 3; round += 1) {
      const refused = await ask();
      expect(refused.status, await refused.clone().text()).toBe(503);
      expect(((await refused.json()) as { error: { code: string } }).error.code).toBe("database_unavailable");
    }
    expect(provider.requests, "nobody is asked what cannot be booked").toHaveLength(paid - 1);
    finish();
    expect(await running.text()).toContain("[DONE]");
    expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200);
    expect(await readiness()).toContain("[-]database failed: the database takes no writes");
    limitFiles("unlimited");
    await expect.poll(readiness, { timeout: 300_000 }).toContain("readyz check passed");
    await expect.poll(async () => (await ask()).status, { interval: 200 }).toBe(200);
    const verdict = async (): Promise<unknown> => (await gateway.api("GET", "/api/ledger/verify")).json();
    await expect.poll(verdict, { interval: 200 }).toMatchObject({ ok: true, openHolds: 0, problems: [] });
    expect(before - (await postedOf(gateway))).toBe(BigInt(paid) * COST);
  });

  test("it stops cleanly afterwards, and the ledger is the one on the disk", async () => {
    const last = await postedOf(gateway);
    expect(await gateway.stop()).toBe(0);
    gateway = await startGatewayProcess({ folder });
    expect(await postedOf(gateway)).toBe(last);
    expect(await (await gateway.api("GET", "/api/ledger/verify")).json()).toMatchObject({ ok: true, openHolds: 0 });
  });
});
