// The life of worker processes: a worker that is killed is replaced and costs nobody anything, a stop waits for all of
// them, and none outlives the primary process.

import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Agent, get } from "node:http";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { ensureBuild } from "../../../scripts/setup.mjs";
import { type GatewayProcess, launch, startGatewayProcess } from "../../support/gateway/gateway-process.ts";
import {
  askFresh,
  isRunning,
  openFresh,
  PATIENTLY,
  startWorkers,
  statusesOf,
  type WorkersGateway,
} from "../../support/gateway/workers.ts";
import { freePort } from "../../support/network/ports.ts";
import { chunk, type FakeProvider, startFakeProvider, streams, USAGE } from "../../support/providers/fake-provider.ts";
import { few, isLong } from "../../support/random.ts";
import { postedIn } from "../../support/stores/left-ledger.ts";
import { bankYaml, owed, PRICES, postedOf } from "../../support/stores/money.ts";
import { parseStream } from "../lab.ts";

vi.setConfig({ testTimeout: 900_000, hookTimeout: 900_000 });

const COST = owed({ input: 12, output: 5 }, PRICES.alpha);
const SOUND = { ok: true, openHolds: 0, problems: [] };
const root = mkdtempSync(join(tmpdir(), "switchyard-worker-life-"));
let provider: FakeProvider;

beforeAll(async () => {
  await ensureBuild();
  provider = await startFakeProvider();
});
afterEach(() => provider.reset());
afterAll(async () => {
  await provider.close();
  rmSync(root, { recursive: true, force: true });
});

function newFolder(): string {
  const folder = mkdtempSync(join(root, "gateway-"));
  writeFileSync(join(folder, "switchyard.yaml"), bankYaml(provider.url, { chain: ["alpha"] }));
  return folder;
}

async function verdictOf(gateway: GatewayProcess): Promise<unknown> {
  return (await gateway.api("GET", "/api/ledger/verify")).json();
}

/** Streams that have sent their first word and wait; `finish` lets them all go on. */
async function openStreams(gateway: WorkersGateway, key: string, count: number) {
  let finish = (): void => undefined;
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const chunks = [
    chunk("alpha", { content: "Hello" }),
    chunk("alpha", { content: " you" }),
    chunk("alpha", {}, "stop"),
  ];
  const before = (index: number): Promise<void> | void => (index === 1 ? finished : undefined);
  provider.on("alpha", streams(chunks, { usage: USAGE, before }));
  const asked = { key, body: { stream: true } };
  const responses = await Promise.all(Array.from({ length: count }, () => openFresh(gateway, asked)));
  return { finish, responses };
}

const countIn = (gateway: GatewayProcess, event: string): number =>
  gateway.output().split(`"event":"${event}"`).length - 1;

// One gateway after the other on the same data: a test that ends one leaves the next to the test that needs it.
describe("on SQLite", () => {
  const env = { SWITCHYARD_DRAIN_SECONDS: "600" };
  let folder = "";
  let current: WorkersGateway | null = null;
  let key = "";

  beforeAll(async () => {
    folder = newFolder();
    current = await startWorkers({ folder, env });
    key = current.firstKey ?? "";
    await current.api("POST", "/api/credits/topups", { amountUsd: "1000" });
  });
  afterAll(() => current?.kill());

  /** The gateway that runs, or the next one. */
  async function serving(): Promise<WorkersGateway> {
    current ??= await startWorkers({ folder, env });
    return current;
  }

  /** What was spent since then, once nothing is held any more. */
  async function spentSince(before: bigint): Promise<bigint> {
    const gateway = await serving();
    await expect.poll(() => verdictOf(gateway), PATIENTLY).toMatchObject(SOUND);
    return before - (await postedOf(gateway));
  }

  test("the holds of a killed worker are released while the other goes on", async () => {
    const gateway = await serving();
    const before = await postedOf(gateway);
    const started = gateway.workers();
    const { finish, responses } = await openStreams(gateway, key, 8);
    process.kill(started.at(-1) ?? 0, "SIGKILL");
    const texts = responses.map((response) => text(response).catch(() => "cut"));
    await gateway.untilStarted(started.length + 1);
    finish();
    const whole = (await Promise.all(texts)).filter((each) => each.includes("[DONE]"));
    // Connections are handed out in turn, so neither worker had all of them.
    expect(whole.length).toBeGreaterThan(0);
    expect(whole.length).toBeLessThan(8);
    expect(await spentSince(before)).toBe(BigInt(whole.length) * COST);
    const told = async () =>
      (await (await gateway.api("GET", "/api/alerts/events?kind=worker.replaced")).json()) as object;
    await expect.poll(told, PATIENTLY).toMatchObject({ data: [{ kind: "worker.replaced" }] });
  });

  test("a connection that a worker did not take before it was killed goes to another", async () => {
    const gateway = await serving();
    const started = gateway.workers();
    const stopped = started.at(-1) ?? 0;
    process.kill(stopped, "SIGSTOP");
    // One of them is on its way to the worker that takes nothing.
    const asked = Array.from({ length: 4 }, () => askFresh(gateway, { key }));
    let open = asked.length;
    for (const each of asked) {
      void each.then(() => {
        open -= 1;
      });
    }
    await expect.poll(() => open, PATIENTLY).toBe(1);
    process.kill(stopped, "SIGKILL");
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    await gateway.untilStarted(started.length + 1);
  });

  test("connections wait on the same port while all workers are dead", async () => {
    const gateway = await serving();
    for (let count = 0; count < few(1, 1); count += 1) {
      const started = gateway.workers();
      const running = started.filter(isRunning);
      for (const pid of running) process.kill(pid, "SIGKILL");
      await expect.poll(() => running.filter(isRunning), PATIENTLY).toEqual([]);
      const asked = Array.from({ length: 12 }, () => askFresh(gateway, { key }));
      expect((await Promise.all(asked)).map(({ status }) => status)).toEqual(Array(12).fill(200));
      await gateway.untilStarted(started.length + 2);
      expect(await statusesOf(gateway, { key }, 4)).toEqual([200, 200, 200, 200]);
    }
  });

  test("a stop waits for the streams of all workers", async () => {
    const gateway = await serving();
    const before = await postedOf(gateway);
    const { finish, responses } = await openStreams(gateway, key, 8);
    current = null;
    gateway.signal("SIGTERM");
    const readiness = async (): Promise<number> => (await fetch(`${gateway.url}/readyz`)).status;
    await expect.poll(readiness, PATIENTLY).toBe(503);
    const late = await openFresh(gateway, { key });
    expect(late.statusCode).toBe(503);
    late.destroy();
    finish();
    for (const response of responses) expect(parseStream(await text(response)).isDone).toBe(true);
    expect(await gateway.exited).toBe(0);
    expect(gateway.workers().some(isRunning)).toBe(false);
    expect(countIn(gateway, "process.stopped")).toBe(1);
    expect(await spentSince(before)).toBe(8n * COST);
  });

  test("a stop while all workers are dead closes the port", async () => {
    const gateway = await serving();
    const before = await postedOf(gateway);
    const ended = countIn(gateway, "worker.ended");
    current = null;
    for (const pid of gateway.workers().filter(isRunning)) process.kill(pid, "SIGKILL");
    await expect.poll(() => countIn(gateway, "worker.ended"), PATIENTLY).toBe(ended + 2);
    gateway.signal("SIGTERM");
    expect(await gateway.exited).toBe(0);
    await expect(fetch(gateway.url)).rejects.toThrow();
    expect(await spentSince(before)).toBe(0n);
  });

  test("a second signal cuts the streams of all workers, which then cost nothing", async () => {
    const gateway = await serving();
    const before = await postedOf(gateway);
    const { finish, responses } = await openStreams(gateway, key, 8);
    current = null;
    gateway.signal("SIGTERM");
    gateway.signal("SIGINT");
    for (const response of responses) expect(parseStream(await text(response))).toMatchObject({ isDone: false });
    expect(await gateway.exited).toBe(0);
    expect(countIn(gateway, "process.stopping_now")).toBe(1);
    expect(countIn(gateway, "shutdown.timed_out")).toBe(0);
    finish();
    expect(await spentSince(before)).toBe(0n);
  });

  test("no worker outlives the primary process, and the next start frees what was held, though stopped at once", async () => {
    const gateway = await serving();
    const before = await postedOf(gateway);
    const { finish, responses } = await openStreams(gateway, key, 4);
    for (const response of responses) response.on("error", () => undefined);
    current = null;
    await gateway.kill();
    await expect.poll(() => gateway.workers().filter(isRunning), PATIENTLY).toEqual([]);
    finish();
    // Its second worker has only just been started when the signal comes, with the very first answer.
    const port = await freePort();
    const child = launch({ folder, env: { SWITCHYARD_WORKERS: "2", PORT: String(port) } });
    const exited = once(child, "exit");
    const isUp = (): Promise<boolean> =>
      fetch(`http://127.0.0.1:${port}/healthz`).then(
        ({ ok }) => ok,
        () => false,
      );
    await expect.poll(isUp, { ...PATIENTLY, interval: 5 }).toBe(true);
    child.kill("SIGTERM");
    expect(await exited).toEqual([0, null]);
    expect(await postedIn(folder)).toBe(before);
  });
});

test("a port in use is reported once, with the exit code of a start that fails", async () => {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  const env = { SWITCHYARD_WORKERS: "2", PORT: String(port) };
  const failure = await startGatewayProcess({ folder: newFolder(), env }).catch((error: Error) => error.message);
  expect(failure).toContain("the gateway ended with 1");
  expect(String(failure).match(/cannot start/g)).toHaveLength(1);
  expect(failure).toContain(`port ${port} is in use`);
  server.close();
});

// They wait for the other workers for ten seconds, in which a busy machine starts none.
test.runIf(isLong)("clients that connect and stay while workers still start are shared out among all", async () => {
  const gateway = await startGatewayProcess({
    folder: newFolder(),
    env: { SWITCHYARD_WORKERS: "3", LOG_LEVEL: "debug" },
  });
  const agents = Array.from({ length: 12 }, () => new Agent({ keepAlive: true }));
  const ask = (agent: Agent): Promise<boolean> => isAnswered(`${gateway.url}/healthz`, agent);
  expect(await Promise.all(agents.map(ask))).toEqual(Array(12).fill(true));
  const first = /"event":"worker.started","pid":(\d+),"index":0/.exec(gateway.banner + gateway.output())?.[1];
  process.kill(Number(first), "SIGSTOP");
  const answers = agents.map(ask);
  // Only what the first worker has waits for it. On a busy machine that may be most, but each of the others has one.
  await expect.poll(() => countTrue(answers)).toBeGreaterThanOrEqual(2);
  process.kill(Number(first), "SIGCONT");
  expect(await Promise.all(answers)).toEqual(Array(12).fill(true));
  for (const agent of agents) agent.destroy();
  expect(await gateway.stop()).toBe(0);
});

function isAnswered(url: string, agent: Agent): Promise<boolean> {
  return new Promise((resolve, reject) => {
    get(url, { agent }, (response) => {
      response.resume().once("end", () => resolve(response.statusCode === 200));
    }).once("error", reject);
  });
}

/** How many have been answered by now. */
async function countTrue(answers: readonly Promise<boolean>[]): Promise<number> {
  const open = new Promise<false>((resolve) => setImmediate(resolve, false));
  return (await Promise.all(answers.map((answer) => Promise.race([answer, open])))).filter(Boolean).length;
}
