// Workers that are started as needed: one serves until it has much to do, then there are more, and connections move.

import cluster from "node:cluster";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Agent, type IncomingMessage, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { ensureBuild } from "../../../scripts/setup.mjs";
import type * as Primary from "../../../src/app/primary.ts";
import type * as Load from "../../../src/config/load.ts";
import { SILENT_LOG } from "../../../src/telemetry/log.ts";
import { HELLO } from "../../support/gateway/gateway.ts";
import { askFresh, openFresh, PATIENTLY, startWorkers } from "../../support/gateway/workers.ts";
import {
  answers,
  chunk,
  type FakeProvider,
  startFakeProvider,
  streams,
  USAGE,
} from "../../support/providers/fake-provider.ts";
import { postedIn } from "../../support/stores/left-ledger.ts";
import { bankYaml, owed, PRICES } from "../../support/stores/money.ts";

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

test("workers end when it is quiet again, under traffic, and no charge is lost", async () => {
  const gateway = await startRetiring();
  const stream = streams([chunk("alpha", { content: "Hi" }), chunk("alpha", {}, "stop")], {
    usage: USAGE,
    before: hold,
  });
  const whole = answers("Hello");
  let finish = (): void => undefined;
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  function hold(index: number): Promise<void> | void {
    if (index === 1) return finished;
  }
  provider.on("alpha", (exchange) => (exchange.request.body?.stream === true ? stream : whole)(exchange));

  const asked = { key: gateway.key, body: { stream: true } };
  const open = await Promise.all(Array.from({ length: 8 }, () => openFresh(gateway, asked)));
  await vi.waitFor(() => expect(gateway.workers()).toBe(3), PATIENTLY);
  finish();
  for (const stream of open) expect(await text(stream)).toContain("[DONE]");

  // Connections come and go while workers that nobody needs are told to end.
  const statuses: number[] = [];
  const ask = async (): Promise<void> => {
    while (gateway.workers() > 1) statuses.push((await askFresh(gateway, { key: gateway.key })).status);
  };
  await Promise.all([ask(), ask()]);
  expect(new Set(statuses)).toEqual(new Set([200]));
  await gateway.stop();
  const cost = owed({ input: USAGE.prompt_tokens, output: USAGE.completion_tokens }, PRICES.alpha);
  const asks = statuses.length + open.length;
  expect(await postedIn(gateway.folder)).toBe(STARTER - BigInt(asks) * cost);
});

const STARTER = 1_000n * 1_000_000_000n;

/** A gateway of one to three workers, whose primary is this process. Four open requests are all that one worker may have. */
async function startRetiring() {
  const place = mkdtempSync(join(folder, "retiring-"));
  const built = (path: string): string => pathToFileURL(join(import.meta.dirname, "../../../dist", path)).href;
  const { startPrimary } = (await import(built("app/primary.js"))) as typeof Primary;
  const { load } = (await import(built("config/load.js"))) as typeof Load;
  // Not the bundle, as the primary is not: both must be of one build.
  const program = join(place, "worker.mjs");
  writeFileSync(program, `(await import("${built("cli/serve-worker.js")}")).serveWorker(process.argv.slice(2));\n`);
  const config = join(place, "switchyard.yaml");
  const limits = "limits: { inFlight: 12, requestsPerMinute: 1000000, eventLoopDelayMs: 60000 }";
  const server =
    "server: { port: 0, drainSeconds: 60, lameDuckSeconds: 0 }\nbilling: { starterCredits: 1000 }\nlogging: { level: error }\nprices: { check: off }";
  const yaml = bankYaml(provider.url, { chain: ["alpha"] }).replace(/^limits:.*$/m, `${limits}\n${server}`);
  writeFileSync(config, `${yaml}\ndatabase: "sqlite:${join(place, "data/switchyard.db")}"\n`);
  const flags = { config, data: join(place, "data") };
  const loaded = load({ flags, env: {}, cwd: place });
  if (!loaded.ok) throw new Error(loaded.problems.map(({ message }) => message).join("\n"));
  const args = Object.entries(flags).map(([name, value]) => `--${name}=${value}`);
  const crew = { least: 1, most: 3 };
  const app = await startPrimary(loaded.settings, SILENT_LOG, {
    ...{ crew, program, args, file: loaded.file, spareMs: 500 },
  });
  return {
    folder: place,
    url: app.url,
    key: app.firstKey ?? "",
    workers: () => Object.keys(cluster.workers ?? {}).length,
    stop: app.stop,
  };
}

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
