// Connections that a provider closes while they are idle. A request that meets such an end is sent again on a new
// connection: it is no failed attempt and says nothing about the health of the model.

import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { answers, type Behaviour, cuts, sendsRaw } from "../../support/providers/fake-provider.ts";
import { createRandom, few, isLong, seedOf } from "../../support/random.ts";
import { type Lab, openLab, parseStream } from "../lab.ts";

const DIRECT = { model: "alpha", service_profile: "direct" };
/** From the second on, each meets a connection that was used before. */
const ROUNDS = few(3, 8);
const resets: Behaviour = ({ socket }) => void socket.resetAndDestroy();

/** The clock of the connections: on a busy machine, a second may pass before a reset arrives. */
let nowMs = 0;
let lab: Lab;
beforeAll(async () => {
  lab = await openLab({ models: { alpha: 100_000 }, providerNow: () => nowMs });
});
beforeEach(() => lab.reset());
afterAll(() => lab.close());

/** Answers the first request of each connection, and does something else with the others. */
function onReuse(behaviour: Behaviour): Behaviour {
  const used = new WeakSet<Socket>();
  return (exchange) => {
    if (used.has(exchange.socket)) return behaviour(exchange);
    used.add(exchange.socket);
    return answers("ok")(exchange);
  };
}

async function healthOf(model: string) {
  const { data } = (await (await lab.gateway.api("GET", "/api/providers")).json()) as {
    data: readonly { models: readonly { id: string; state: string; consecutiveFailures: number }[] }[];
  };
  return data.flatMap(({ models }) => models).find(({ id }) => id === model);
}

async function staleConnections(): Promise<number> {
  const text = await (await lab.gateway.api("GET", "/metrics")).text();
  return Number(/^switchyard_stale_connections_total\{provider="lab"\} (\d+)/m.exec(text)?.[1] ?? 0);
}

async function attemptsOf(response: Response): Promise<readonly string[]> {
  const { attempts } = await lab.line(response.headers.get("x-request-id")!);
  return attempts.map(({ outcome }) => outcome);
}

describe.each([
  ["reset", resets],
  ["closed", cuts],
])("a reused connection is %s without a byte of an answer", (_name, behaviour) => {
  test.each([
    { stream: false },
    { stream: true },
    // Sent in pieces, and more than a connection takes at once.
    { stream: false, messages: [{ role: "user", content: "é".repeat(1_000_000) }] },
  ])("the request is sent again on a new one (case %#)", async ({ stream, ...content }) => {
    lab.provider.on("alpha", onReuse(behaviour));
    const before = await staleConnections();
    for (let round = 0; round < ROUNDS; round += 1) {
      const response = await lab.ask({ ...DIRECT, stream, ...content });
      const text = await response.text();
      expect(response.status, text).toBe(200);
      if (stream) expect(parseStream(text)).toMatchObject({ text: "ok", isDone: true });
      expect(await attemptsOf(response)).toEqual(["answered"]);
    }
    expect(await staleConnections()).toBeGreaterThan(before);
    expect(await healthOf("alpha")).toMatchObject({ state: "closed", consecutiveFailures: 0 });
  });
});

test("the new connection is reset too: one failed attempt, and a retry", async () => {
  lab.provider.once("alpha", answers("ok"));
  await (await lab.ask(DIRECT)).text();
  lab.provider.once("alpha", resets, resets);
  const response = await lab.ask(DIRECT);
  expect(response.status).toBe(200);
  expect(await attemptsOf(response)).toEqual(["failed", "answered"]);
  expect(lab.provider.callsTo("alpha")).toBe(4);
});

test.each([
  ["after part of an answer", sendsRaw("HTTP/1.1 200 O")],
  [
    "after a second, when the provider was at work on it",
    (({ socket }) => {
      nowMs += 1_000;
      socket.destroy();
    }) as Behaviour,
  ],
])("a reused connection that breaks %s is a failed attempt", async (_name, behaviour) => {
  lab.provider.on("alpha", onReuse(behaviour));
  await (await lab.ask(DIRECT)).text();
  const before = await staleConnections();
  const response = await lab.ask(DIRECT);
  expect(response.status).toBe(200);
  expect(await attemptsOf(response)).toEqual(["failed", "answered"]);
  expect(await staleConnections()).toBe(before);
});

test("a client that leaves while the request is sent again cancels it", async () => {
  lab.provider.once("alpha", answers("ok"));
  await (await lab.ask(DIRECT)).text();
  const again = new Promise<void>((resolve) => {
    lab.provider.once("alpha", resets, () => resolve());
  });
  const open = lab.open("leaves-new-connection", DIRECT);
  await again;
  open.leave();
  expect(await lab.provider.requests.at(-1)!.closed).toEqual({ wasCut: true });
  expect(await lab.line("leaves-new-connection")).toMatchObject({
    ending: "client-gone",
    attempts: [{ outcome: "client-gone" }],
  });
});

test("many requests to a provider that closes idle connections as they are sent: all are answered", async () => {
  const { next } = createRandom(seedOf(6));
  const idle = new Map<number | undefined, Socket>();
  lab.provider.on("alpha", ({ request, response, socket }) => {
    // Without the header that would announce how long the connection lives.
    response.setHeader("connection", "keep-alive");
    response.once("close", () => {
      idle.set(socket.remotePort, socket);
      // The long run also leaves it to chance when a connection ends.
      if (isLong) setTimeout(() => socket.destroy(), next() * 4);
    });
    return answers("ok")({ request, response, socket });
  });
  const closeIdle = (message: unknown): void => {
    const socket = idle.get((message as { readonly socket: Socket }).socket.localPort);
    if (next() < 0.5) socket?.destroy();
  };
  const before = await staleConnections();
  const failures: string[] = [];
  let left = few(80, 2_000);
  const client = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const response = await lab.ask(DIRECT);
      const text = await response.text();
      if (response.status !== 200) failures.push(`${response.status}: ${text}`);
    }
  };
  subscribe("undici:client:sendHeaders", closeIdle);
  try {
    await Promise.all(Array.from({ length: 8 }, client));
  } finally {
    unsubscribe("undici:client:sendHeaders", closeIdle);
  }
  expect(failures).toEqual([]);
  expect(await healthOf("alpha")).toMatchObject({ state: "closed", consecutiveFailures: 0 });
  expect(await staleConnections(), "idle connections were met as they closed").toBeGreaterThan(before);
});
