// Workers that are started as needed: one serves until it has much to do, then there are more, and connections move.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Agent, type IncomingMessage, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { ensureBuild } from "../../../scripts/setup.mjs";
import { HELLO } from "../../support/gateway/gateway.ts";
import { openFresh, PATIENTLY, startWorkers } from "../../support/gateway/workers.ts";
import {
  answers,
  chunk,
  type FakeProvider,
  startFakeProvider,
  streams,
  USAGE,
} from "../../support/providers/fake-provider.ts";
import { bankYaml } from "../../support/stores/money.ts";

vi.setConfig({ testTimeout: 900_000, hookTimeout: 900_000 });

const folder = mkdtempSync(join(tmpdir(), "switchyard-worker-crew-"));
let provider: FakeProvider;

beforeAll(async () => {
  await ensureBuild();
  provider = await startFakeProvider();
  writeFileSync(join(folder, "switchyard.yaml"), bankYaml(provider.url, { chain: ["alpha"] }));
});
afterAll(async () => {
  await provider.close();
  rmSync(folder, { recursive: true, force: true });
});

test("a full worker gets company, and connections move to it without an error", async () => {
  // Four open requests of twelve are all that one worker of three may have.
  const env = { SWITCHYARD_WORKERS: "1-3", SWITCHYARD_IN_FLIGHT: "12" };
  const gateway = await startWorkers({ folder, env });
  const key = gateway.firstKey ?? "";
  let finish = (): void => undefined;
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const chunks = [chunk("alpha", { content: "Hello" }), chunk("alpha", {}, "stop")];
  const before = (index: number): Promise<void> | void => (index === 1 ? finished : undefined);
  const stream = streams(chunks, { usage: USAGE, before });
  const whole = answers("Hello");
  provider.on("alpha", (exchange) => (exchange.request.body?.stream === true ? stream : whole)(exchange));
  await gateway.api("POST", "/api/credits/topups", { amountUsd: "1000" });
  expect(gateway.workers()).toHaveLength(1);

  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ask = (): Promise<IncomingMessage> => askOver(agent, { url: gateway.url, key });
  expect((await ask()).headers.connection).toBe("keep-alive");
  const open = await Promise.all([0, 1, 2, 3].map(() => openFresh(gateway, { key, body: { stream: true } })));
  await gateway.untilStarted(3);

  const statuses = new Set<number>();
  await vi.waitFor(async () => {
    const { statusCode = 0, headers } = await ask();
    statuses.add(statusCode);
    expect(headers.connection).toBe("close");
  }, PATIENTLY);
  expect((await ask()).statusCode).toBe(200);
  expect([...statuses]).toEqual([200]);

  finish();
  for (const stream of open) expect(await text(stream)).toContain("[DONE]");
  expect(await (await gateway.api("GET", "/api/ledger/verify")).json()).toMatchObject({ ok: true, openHolds: 0 });
  agent.destroy();
  await gateway.stop();
});

interface Asking {
  readonly url: string;
  readonly key: string;
}

/** Resolves when the answer was read, so that the connection is free again. */
function askOver(agent: Agent, { url, key }: Asking): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const asked = request(`${url}/v1/chat/completions`, { method: "POST", agent, headers }, (response) => {
      text(response).then(() => resolve(response), reject);
    });
    asked.once("error", reject);
    asked.end(JSON.stringify(HELLO));
  });
}
