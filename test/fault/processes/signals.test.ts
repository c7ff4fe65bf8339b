// Stop signals to a real process: not ready at once, still serving for a while, then streams may finish; at the deadline
// and at a second signal they end with an error and cost nothing. Whatever was answered is charged, exactly once.

import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { type AddressInfo, connect, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { ensureBuild } from "../../../scripts/setup.mjs";
import { LOCAL_SERVERS } from "../../../src/providers/local/servers.ts";
import { HELLO } from "../../support/gateway/gateway.ts";
import { type GatewayProcess, launch, startGatewayProcess } from "../../support/gateway/gateway-process.ts";
import { PATIENTLY } from "../../support/gateway/workers.ts";
import { chunk, type FakeProvider, startFakeProvider, streams, USAGE } from "../../support/providers/fake-provider.ts";
import { variants } from "../../support/random.ts";
import { postedIn } from "../../support/stores/left-ledger.ts";
import { bankYaml, owed, PRICES, postedOf } from "../../support/stores/money.ts";
import { parseStream } from "../lab.ts";

vi.setConfig({ testTimeout: 900_000, hookTimeout: 900_000 });

const SIGNAL_IN_SEARCH = {
  NODE_OPTIONS: `--import=${new URL("../../support/gateway/signal-in-search.mjs", import.meta.url).href}`,
};
const COST = owed({ input: 12, output: 5 }, PRICES.alpha);
const STREAMS = 20;
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
afterAll(() => provider.close());

interface Running {
  readonly gateway: GatewayProcess;
  readonly key: string;
  readonly folder: string;
  readonly postedBefore: bigint;
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "switchyard-signals-"));
  folders.push(folder);
  return folder;
}

async function run(env: Readonly<Record<string, string>>): Promise<Running> {
  const folder = newFolder();
  writeFileSync(join(folder, "switchyard.yaml"), bankYaml(provider.url, { chain: ["alpha"] }));
  const gateway = await startGatewayProcess({ folder, env });
  await gateway.api("POST", "/api/credits/topups", { amountUsd: "100" });
  return { gateway, key: gateway.firstKey ?? "", folder, postedBefore: await postedOf(gateway) };
}

/** Streams that have sent their first word and wait; `finish` lets them all go on. */
async function openStreams(running: Running, count: number) {
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
  const responses = await Promise.all(Array.from({ length: count }, () => ask(running, { stream: true })));
  return { finish, responses };
}

async function ask({ gateway, key }: Running, body: object): Promise<IncomingMessage> {
  const request = httpRequest(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    agent: false,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
  });
  request.end(JSON.stringify({ ...HELLO, ...body }));
  const [response] = (await once(request, "response")) as [IncomingMessage];
  return response;
}

/** By the ledger that the process has left. */
async function spentBy({ folder, postedBefore }: Running): Promise<bigint> {
  return postedBefore - (await postedIn(folder));
}

async function isRefused(url: string): Promise<boolean> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  return once(socket, "connect").then(
    () => {
      socket.destroy();
      return false;
    },
    () => true,
  );
}

async function untilNotReady({ gateway }: Running): Promise<void> {
  await expect.poll(async () => (await fetch(`${gateway.url}/readyz`)).status, PATIENTLY).toBe(503);
}

test("SIGTERM: not ready at once, still serving, then closed; streams finish and are charged", async () => {
  const running = await run({ SWITCHYARD_LAME_DUCK_SECONDS: "10", SWITCHYARD_DRAIN_SECONDS: "600" });
  const { gateway } = running;
  const { finish, responses } = await openStreams(running, STREAMS);
  provider.once("alpha", streams([chunk("alpha", { content: "Late" }), chunk("alpha", {}, "stop")], { usage: USAGE }));
  gateway.signal("SIGTERM");
  await untilNotReady(running);
  const [health, late] = await Promise.all([fetch(`${gateway.url}/healthz`), ask(running, { stream: true })]);
  expect(health.status).toBe(200);
  expect(late.headers.connection).toBe("close");
  expect(parseStream(await text(late))).toMatchObject({ text: "Late", isDone: true });
  await expect.poll(() => isRefused(gateway.url), PATIENTLY).toBe(true);
  finish();
  for (const response of responses) {
    expect(parseStream(await text(response))).toMatchObject({ text: "Hello you", isDone: true, error: null });
  }
  expect(await gateway.exited).toBe(0);
  expect(await spentBy(running)).toBe(BigInt(STREAMS + 1) * COST);
});

test("SIGTERM without a lame-duck time: while streams run on, probes and requests are told, and then it is over", async () => {
  const running = await run({ SWITCHYARD_LAME_DUCK_SECONDS: "0", SWITCHYARD_DRAIN_SECONDS: "600" });
  const { gateway } = running;
  const { finish, responses } = await openStreams(running, STREAMS);
  gateway.signal("SIGTERM");
  await untilNotReady(running);
  expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200);
  expect((await fetch(`${gateway.url}/v1/models`)).status).toBe(503);
  finish();
  for (const response of responses) {
    expect(parseStream(await text(response))).toMatchObject({ text: "Hello you", isDone: true, error: null });
  }
  expect(await gateway.exited).toBe(0);
});

test("at the deadline streams end with an error event and cost nothing", async () => {
  const running = await run({ SWITCHYARD_DRAIN_SECONDS: "1" });
  const { responses } = await openStreams(running, STREAMS);
  running.gateway.signal("SIGTERM");
  for (const response of responses) {
    const stream = parseStream(await text(response));
    expect(stream).toMatchObject({ text: "Hello", isDone: false, error: { code: "shutting_down" } });
  }
  expect(await running.gateway.exited).toBe(0);
  expect(await spentBy(running)).toBe(0n);
});

test.each(variants(["SIGTERM", "SIGINT", "SIGHUP"] as const, 1))(
  "a second signal, %s, waits for nobody and loses no charge",
  async (second) => {
    const running = await run({ SWITCHYARD_LAME_DUCK_SECONDS: "600", SWITCHYARD_DRAIN_SECONDS: "600" });
    const { gateway } = running;
    const { finish, responses } = await openStreams(running, STREAMS);
    const waiting = await openStreams(running, 3);
    gateway.signal("SIGTERM");
    await untilNotReady(running);
    finish();
    const answered = await Promise.all(responses.map(async (response) => parseStream(await text(response))));
    for (const signal of [second, "SIGTERM", "SIGHUP"] as const) gateway.signal(signal);
    const cut = await Promise.all(waiting.responses.map(async (response) => parseStream(await text(response))));
    expect(answered.filter(({ isDone }) => isDone)).toHaveLength(STREAMS);
    for (const stream of cut) expect(stream).toMatchObject({ isDone: false, error: { code: "shutting_down" } });
    expect(await gateway.exited).toBe(0);
    expect(await spentBy(running)).toBe(BigInt(STREAMS) * COST);
  },
);

test.each(variants(["SIGINT", "SIGHUP"] as const, 1))("%s alone drains without a lame-duck time", async (signal) => {
  const running = await run({ SWITCHYARD_LAME_DUCK_SECONDS: "600", SWITCHYARD_DRAIN_SECONDS: "600" });
  const { finish, responses } = await openStreams(running, 2);
  running.gateway.signal(signal);
  await expect.poll(() => isRefused(running.gateway.url), PATIENTLY).toBe(true);
  finish();
  for (const response of responses) expect(parseStream(await text(response)).isDone).toBe(true);
  expect(await running.gateway.exited).toBe(0);
  expect(await spentBy(running)).toBe(2n * COST);
});

test("a signal while local servers are looked for leaves out the first screen, but never a new key", async ({
  skip,
}) => {
  const silent = await silentLocalServer();
  skip(silent === null, "the usual ports of local servers are in use");
  const folder = newFolder();
  const port = String((silent?.address() as AddressInfo | null)?.port);
  const env = { SWITCHYARD_DISCOVER_LOCAL: "true", LOG_LEVEL: "info", SIGNAL_AT_PORT: port, ...SIGNAL_IN_SEARCH };
  const stoppedEarly = async (): Promise<string> => {
    const child = launch({ folder, env });
    const said = text(child.stdout as NodeJS.ReadableStream);
    expect(await once(child, "exit")).toEqual([0, null]);
    return said;
  };
  try {
    expect(await stoppedEarly()).toMatch(/API key +sk-service-/);
    const [, afterSignal] = (await stoppedEarly()).split("process.stopping");
    expect(afterSignal).toContain("process.stopped");
    expect(afterSignal).not.toContain("Base URL");
  } finally {
    silent?.close();
  }
});

/** Takes connections and answers nothing, so that the search lasts as long as it may. */
async function silentLocalServer(): Promise<Server | null> {
  for (const { port } of LOCAL_SERVERS) {
    const server = createServer((socket) => void socket.on("error", () => undefined));
    const isListening = new Promise((resolve) => {
      server.once("error", () => resolve(false)).listen(port, "127.0.0.1", () => resolve(true));
    });
    if (await isListening) return server;
  }
  return null;
}
