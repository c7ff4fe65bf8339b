// Small limits of a gateway with several workers: as many requests and connections at once as are configured, on all of
// them together.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { ensureBuild } from "../../../scripts/setup.mjs";
import { openWaitingRoom } from "../../support/gateway/waiting-room.ts";
import {
  type Answer,
  askFresh,
  PATIENTLY,
  startWorkers,
  statusesOf,
  type WorkersGateway,
} from "../../support/gateway/workers.ts";
import { type FakeProvider, startFakeProvider } from "../../support/providers/fake-provider.ts";
import { isLong } from "../../support/random.ts";
import { bankYaml } from "../../support/stores/money.ts";

vi.setConfig({ testTimeout: 900_000, hookTimeout: 900_000 });

const WORKERS = isLong ? 3 : 2;
const [ALL, PER_KEY, CONNECTIONS] = [5, 4, 40];
const folder = mkdtempSync(join(tmpdir(), "switchyard-worker-limits-"));
let provider: FakeProvider;
let gateway: WorkersGateway;
let key: string;
let other: string;

beforeAll(async () => {
  await ensureBuild();
  provider = await startFakeProvider();
  writeFileSync(join(folder, "switchyard.yaml"), bankYaml(provider.url, { chain: ["alpha"] }));
  gateway = await startWorkers({
    folder,
    env: {
      SWITCHYARD_WORKERS: String(WORKERS),
      SWITCHYARD_IN_FLIGHT: String(ALL),
      SWITCHYARD_IN_FLIGHT_PER_KEY: String(PER_KEY),
      SWITCHYARD_CONNECTIONS: String(CONNECTIONS),
    },
  });
  key = gateway.firstKey ?? "";
  await gateway.api("POST", "/api/credits/topups", { amountUsd: "100" });
  other = ((await (await gateway.api("POST", "/api/keys", { name: "other" })).json()) as { key: string }).key;
});
afterEach(() => provider.reset());
afterAll(async () => {
  expect(await gateway.stop()).toBe(0);
  await provider.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Requests that the provider keeps waiting; it has so many when this resolves. */
async function occupy(text: string, count: number): Promise<readonly Promise<Answer>[]> {
  const before = provider.requests.length;
  const running = Array.from({ length: count }, () => askFresh(gateway, { key: text }));
  await expect.poll(() => provider.requests.length, PATIENTLY).toBe(before + count);
  return running;
}

test("one key has exactly its places, and all keys together exactly those of the gateway", async () => {
  const room = openWaitingRoom(provider, "alpha");
  const running = [...(await occupy(key, PER_KEY))];
  // One after the other: until it is refused, each has one of the places of all keys.
  for (let count = 0; count < 6; count += 1) expect((await askFresh(gateway, { key })).status).toBe(429);
  expect(await askFresh(gateway, { key }).then(({ text }) => text)).toContain(`has ${PER_KEY} requests running`);
  running.push(...(await occupy(other, ALL - PER_KEY)));
  expect(await statusesOf(gateway, { key: other }, 6)).toEqual(Array(6).fill(503));
  room.answerAll();
  expect((await Promise.all(running)).map(({ status }) => status)).toEqual(Array(ALL).fill(200));
  // A client that never has more than its places is never refused, however quick it is.
  const client = async (): Promise<void> => {
    for (let count = 0; count < 10; count += 1) expect((await askFresh(gateway, { key })).status).toBe(200);
  };
  await Promise.all(Array.from({ length: PER_KEY }, client));
});

test("the places of a client that disconnects, and of a worker that is killed, are free again", async () => {
  const areFree = (): Promise<void> =>
    expect.poll(() => statusesOf(gateway, { key }, PER_KEY), PATIENTLY).toEqual(Array(PER_KEY).fill(200));
  openWaitingRoom(provider, "alpha");
  const asked = { key, patienceMs: 500 };
  const gone = await Promise.allSettled(Array.from({ length: PER_KEY }, () => askFresh(gateway, asked)));
  expect(gone.map(({ status }) => status)).toEqual(Array(PER_KEY).fill("rejected"));
  provider.reset();
  await areFree();
  openWaitingRoom(provider, "alpha");
  const ended = (await occupy(key, PER_KEY)).map((answer) => answer.catch(() => null));
  for (const [index, pid] of gateway.workers().entries()) {
    process.kill(pid, "SIGKILL");
    await gateway.untilStarted(WORKERS + index + 1);
  }
  expect(await Promise.all(ended)).toEqual(Array(PER_KEY).fill(null));
  provider.reset();
  await areFree();
});

test("connections beyond the limit are closed instead of being handed to and fro", async () => {
  let closed = 0;
  const sockets = Array.from({ length: CONNECTIONS + 20 }, (): Socket => {
    const socket = connect(Number(new URL(gateway.url).port), "127.0.0.1");
    return socket
      .on("error", () => undefined)
      .on("close", () => {
        closed += 1;
      });
  });
  await expect.poll(() => closed, PATIENTLY).toBe(20);
  // A request at once on a connection that is not decided on: it waits, and no provider is called for it.
  const before = provider.requests.length;
  const beyond = await Promise.allSettled(Array.from({ length: 4 }, () => askFresh(gateway, { key })));
  expect(beyond.map(({ status }) => status)).toEqual(Array(4).fill("rejected"));
  expect(provider.requests.length).toBe(before);
  for (const socket of sockets) socket.destroy();
  await expect.poll(async () => (await askFresh(gateway, { key }).catch(() => null))?.status, PATIENTLY).toBe(200);
});
