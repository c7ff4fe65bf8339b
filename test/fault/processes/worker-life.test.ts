// The life of worker processes: a worker that is killed is replaced and costs nobody anything, a stop waits for all of
// them, and none outlives the primary process.

import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Agent, get } from "node:http";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { ensureBuild } from "../../../scripts/setup.mjs";
import { type GatewayProcess, launch, startGatewayProcess } from "../../support/gateway/gateway-process.ts";
import {
  askFresh,
  isRunning,
  openFresh,
  startWorkers,
  statusesOf,
  type WorkersGateway,
} from "../../support/gateway/workers.ts";
import { freePort } from "../../support/network/ports.ts";
import {
  type Behaviour,
  chunk,
  completion,
  type FakeProvider,
  sends,
  startFakeProvider,
  streams,
  USAGE,
} from "../../support/providers/fake-provider.ts";
import { bankYaml, chargesOf, decimal, owed, PRICES } from "../../support/stores/money.ts";
import { createTestDatabase } from "../../support/stores/postgres.ts";
import { parseStream } from "../lab.ts";

const postgres = await createTestDatabase();
const COST = owed({ input: 12, output: 5 }, PRICES.alpha);
const folders: string[] = [];
let provider: FakeProvider;

beforeAll(async () => {
  await ensureBuild();
  provider = await startFakeProvider();
});
afterEach(() => {
  provider.reset();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});
afterAll(async () => {
  await provider.close();
  await postgres?.drop();
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "switchyard-worker-life-"));
  folders.push(folder);
  writeFileSync(join(folder, "switchyard.yaml"), bankYaml(provider.url, { chain: ["alpha"] }));
  return folder;
}

async function posted(gateway: GatewayProcess): Promise<bigint> {
  const { postedUsd } = (await (await gateway.api("GET", "/api/credits")).json()) as { postedUsd: string };
  return decimal(postedUsd, 9);
}

async function verdictOf(gateway: GatewayProcess): Promise<unknown> {
  return (await gateway.api("GET", "/api/ledger/verify")).json();
}

const SOUND = { ok: true, openHolds: 0, problems: [] };

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

/** Requests come all the while, and one worker after the other is killed. */
async function killUnderLoad(gateway: WorkersGateway, key: string): Promise<void> {
  const before = await posted(gateway);
  const sent = new Map<string, bigint>();
  provider.on("alpha", pricedByName(sent));
  const delivered = new Set<string>();
  let isOver = false;
  const client = async (index: number): Promise<void> => {
    for (let count = 0; !isOver; count += 1) {
      const name = `client${index}-${index * 1000 + count}`;
      const body = { messages: [{ role: "user", content: name }] };
      const asked = { key, body, headers: { "x-request-id": name }, patienceMs: 5_000 };
      const response = await openFresh(gateway, asked).catch(() => null);
      const answer = response === null ? null : await text(response).catch(() => null);
      if (answer?.includes('"service"')) delivered.add(name);
    }
  };
  const clients = Array.from({ length: 16 }, (_, index) => client(index));
  await expect.poll(() => delivered.size).toBeGreaterThan(50);
  const [first = 0, second = 0] = gateway.workers();
  process.kill(first, "SIGKILL");
  const deliveredBefore = delivered.size;
  // The other one goes on meanwhile.
  await expect.poll(() => delivered.size).toBeGreaterThan(deliveredBefore + 50);
  await gateway.untilStarted(3);
  process.kill(second, "SIGKILL");
  await gateway.untilStarted(4);
  const deliveredBetween = delivered.size;
  await expect.poll(() => delivered.size).toBeGreaterThan(deliveredBetween + 50);
  isOver = true;
  await Promise.all(clients);
  await expect.poll(() => verdictOf(gateway), { timeout: 60_000 }).toMatchObject(SOUND);
  const charges = await chargesOf(gateway);
  const charged = new Map(charges.map(({ requestId, amountUsd }) => [requestId, -decimal(amountUsd, 9)]));
  expect(charged.size).toBe(charges.length);
  for (const [name, amount] of charged) expect(amount, String(name)).toBe(sent.get(String(name)));
  for (const name of delivered) expect(charged.has(name), name).toBe(true);
  const spent = [...charged.values()].reduce((sum, amount) => sum + amount, 0n);
  expect(before - (await posted(gateway))).toBe(spent);
  expect(gateway.output().match(/"event":"worker.ended"/g)).toHaveLength(2);
  expect(gateway.output().match(/"event":"worker.replaced"/g)).toHaveLength(2);
}

test.skipIf(postgres === null)(
  "on PostgreSQL a killed worker is replaced, and every answer is charged once",
  async () => {
    const gateway = await startWorkers({ folder: newFolder(), env: { DATABASE_URL: String(postgres?.url) } });
    await gateway.api("POST", "/api/credits/topups", { amountUsd: "1000" });
    await killUnderLoad(gateway, gateway.firstKey ?? "");
    expect(await gateway.stop()).toBe(0);
  },
);

// One gateway after the other on the same data, each found as the one before left it.
describe("on SQLite", () => {
  const env = { SWITCHYARD_DRAIN_SECONDS: "120" };
  let folder = "";
  let gateway: WorkersGateway;
  let key = "";

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "switchyard-worker-life-"));
    writeFileSync(join(folder, "switchyard.yaml"), bankYaml(provider.url, { chain: ["alpha"] }));
    gateway = await startWorkers({ folder, env });
    key = gateway.firstKey ?? "";
    await gateway.api("POST", "/api/credits/topups", { amountUsd: "1000" });
  });
  afterAll(async () => {
    await gateway.kill();
    rmSync(folder, { recursive: true, force: true });
  });

  /** The next gateway on the same data. What was spent meanwhile, once nothing is held any more. */
  async function spentUntilNext(before: bigint): Promise<bigint> {
    gateway = await startWorkers({ folder, env });
    await expect.poll(() => verdictOf(gateway), { timeout: 60_000 }).toMatchObject(SOUND);
    return before - (await posted(gateway));
  }

  test("a killed worker is replaced with the same configuration, and every answer is charged once", async () => {
    const file = join(folder, "switchyard.yaml");
    const text = readFileSync(file, "utf8");
    writeFileSync(file, "server: { wrokers: 2 }");
    await killUnderLoad(gateway, key);
    writeFileSync(file, text);
  });

  test("the holds of a killed worker are released while the other goes on", async () => {
    const before = await posted(gateway);
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
    await expect.poll(() => verdictOf(gateway), { timeout: 60_000 }).toMatchObject(SOUND);
    expect(before - (await posted(gateway))).toBe(BigInt(whole.length) * COST);
  });

  test("a connection that a worker did not take before it was killed goes to another", async () => {
    provider.on("alpha", sends(200, completion("some words", "alpha", { usage: USAGE })));
    const started = gateway.workers();
    const stopped = started.at(-1) ?? 0;
    process.kill(stopped, "SIGSTOP");
    // One of them is on its way to the worker that takes nothing.
    const asked = Array.from({ length: 4 }, () => askFresh(gateway, { key, patienceMs: 60_000 }));
    const answered = asked.map((each) => each.then(({ status }) => status));
    let open = asked.length;
    for (const each of answered) {
      void each.then(() => {
        open -= 1;
      });
    }
    await expect.poll(() => open).toBe(1);
    process.kill(stopped, "SIGKILL");
    expect(await Promise.all(answered)).toEqual([200, 200, 200, 200]);
    await gateway.untilStarted(started.length + 1);
  });

  test("connections wait on the same port while all workers are dead", async () => {
    provider.on("alpha", sends(200, completion("some words", "alpha", { usage: USAGE })));
    for (let count = 0; count < 3; count += 1) {
      const started = gateway.workers();
      const running = started.filter(isRunning);
      for (const pid of running) process.kill(pid, "SIGKILL");
      await expect.poll(() => running.filter(isRunning)).toEqual([]);
      const asked = Array.from({ length: 12 }, () => askFresh(gateway, { key, patienceMs: 60_000 }));
      expect((await Promise.all(asked)).map(({ status }) => status)).toEqual(Array(12).fill(200));
      await gateway.untilStarted(started.length + 2);
      expect(await statusesOf(gateway, { key }, 4)).toEqual([200, 200, 200, 200]);
    }
  });

  test("a stop waits for the streams of all workers", async () => {
    const before = await posted(gateway);
    const { finish, responses } = await openStreams(gateway, key, 8);
    gateway.signal("SIGTERM");
    const readiness = async (): Promise<number> => (await fetch(`${gateway.url}/readyz`)).status;
    await expect.poll(readiness).toBe(503);
    const late = await openFresh(gateway, { key });
    expect(late.statusCode).toBe(503);
    late.destroy();
    finish();
    for (const response of responses) expect(parseStream(await text(response)).isDone).toBe(true);
    expect(await gateway.exited).toBe(0);
    expect(gateway.workers().some(isRunning)).toBe(false);
    expect(gateway.output().match(/"event":"process.stopped"/g)).toHaveLength(1);
    expect(await spentUntilNext(before)).toBe(8n * COST);
  });

  test("a stop while all workers are dead closes the port", async () => {
    const before = await posted(gateway);
    for (const pid of gateway.workers().filter(isRunning)) process.kill(pid, "SIGKILL");
    await expect.poll(() => gateway.output().match(/"event":"worker.ended"/g)?.length).toBe(2);
    gateway.signal("SIGTERM");
    expect(await gateway.exited).toBe(0);
    await expect(fetch(gateway.url)).rejects.toThrow();
    expect(await spentUntilNext(before)).toBe(0n);
  });

  test("a second signal cuts the streams of all workers, which then cost nothing", async () => {
    const before = await posted(gateway);
    const { finish, responses } = await openStreams(gateway, key, 8);
    gateway.signal("SIGTERM");
    gateway.signal("SIGINT");
    for (const response of responses) expect(parseStream(await text(response))).toMatchObject({ isDone: false });
    expect(await gateway.exited).toBe(0);
    expect(gateway.output()).toContain("process.stopping_now");
    expect(gateway.output()).not.toContain("shutdown.timed_out");
    finish();
    expect(await spentUntilNext(before)).toBe(0n);
  });

  test("no worker outlives the primary process, and what was held is free after the next start", async () => {
    const before = await posted(gateway);
    const { finish, responses } = await openStreams(gateway, key, 4);
    for (const response of responses) response.on("error", () => undefined);
    await gateway.kill();
    await expect.poll(() => gateway.workers().filter(isRunning)).toEqual([]);
    finish();
    expect(await spentUntilNext(before)).toBe(0n);
    expect(await gateway.stop()).toBe(0);
  });
});

/** The name in the prompt decides what is used. What was sent to its end is noted. */
function pricedByName(sent: Map<string, bigint>): Behaviour {
  return async (exchange) => {
    const name = (exchange.request.body.messages as readonly { content: string }[])[0]?.content ?? "";
    const number = Number(name.split("-").at(-1));
    const tokens = { input: 7 + (number % 101), output: 3 + (number % 89) };
    const usage = { prompt_tokens: tokens.input, completion_tokens: tokens.output, total_tokens: 0 };
    sent.set(name, owed(tokens, PRICES.alpha));
    await sends(200, completion("some words", "alpha", { usage }))(exchange);
  };
}

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

test("a stop reaches a worker that has only just been started", async () => {
  const gateway = await startGatewayProcess({ folder: newFolder(), env: { SWITCHYARD_WORKERS: "2" } });
  expect(await gateway.stop()).toBe(0);
});

test("a signal with the very first answer is followed by a clean stop", async () => {
  const port = await freePort();
  const child = launch({ folder: newFolder(), env: { SWITCHYARD_WORKERS: "2", PORT: String(port) } });
  const isUp = (): Promise<boolean> =>
    fetch(`http://127.0.0.1:${port}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    );
  await expect.poll(isUp, { interval: 5 }).toBe(true);
  child.kill("SIGTERM");
  expect(await once(child, "exit")).toEqual([0, null]);
});

test("clients that connect and stay while workers still start are shared out among all", async () => {
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
