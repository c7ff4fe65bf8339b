// Several requests on one connection before the first response. When the client disconnects, the waiting ones end with it:
// no hold, no place and no provider's work is left behind.

import type { Socket } from "node:net";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { ADMIN_TOKEN, HELLO } from "../../support/gateway/gateway.ts";
import { openSocket } from "../../support/network/raw-http.ts";
import { answers, type Behaviour, chunk, delays, event, hangs } from "../../support/providers/fake-provider.ts";
import { openWorld, type World } from "../world.ts";

/** Long enough for all requests to reach the provider before the first of them is given up. */
const STALL_MS = 4_000;
const REQUESTS = 4;

let world: World;
beforeAll(async () => {
  world = await openWorld({
    server: { writeStallMs: STALL_MS, drainSeconds: 1 },
  });
});
beforeEach(() => world.heal());
afterAll(() => world.close());

function requestText(body: object): string {
  const text = JSON.stringify({ ...HELLO, ...body });
  return [
    "POST /v1/chat/completions HTTP/1.1",
    "host: gateway",
    `authorization: Bearer ${world.gateway.key}`,
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(text)}`,
    "",
    text,
  ].join("\r\n");
}

function sendTogether(...bodies: readonly object[]): Socket {
  const socket = openSocket(world.gateway.url);
  socket.on("error", () => undefined);
  socket.write(bodies.map(requestText).join(""));
  return socket;
}

/** Sends more than any buffer takes, and waits for a reader. */
const floods: Behaviour = async ({ response }) => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const piece = event(chunk("alpha", { content: "~".repeat(64 * 1024) }));
  while (!response.destroyed) {
    if (response.write(piece)) continue;
    await new Promise<void>((resolve) => {
      const goOn = (): void => {
        response.off("drain", goOn).off("close", goOn);
        resolve();
      };
      response.on("drain", goOn).on("close", goOn);
    });
  }
};

async function inFlight(): Promise<number> {
  const answer = await fetch(`${world.gateway.url}/metrics`, { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } });
  return Number(/^switchyard_requests_in_flight(?:\{[^}]*\})? (\d+)/m.exec(await answer.text())?.[1]);
}

async function nothingIsLeft(): Promise<void> {
  await vi.waitFor(async () => expect(await inFlight()).toBe(0), { timeout: 300_000, interval: 20 });
  await world.bank.atRest();
}

const DISCONNECTS: readonly { readonly name: string; readonly behaviour: Behaviour; readonly stream: boolean }[] = [
  { name: "before any provider has answered", behaviour: hangs, stream: false },
  { name: "streams that nobody reads", behaviour: floods, stream: true },
];

test.each(DISCONNECTS)("a client disconnects with responses to come: $name", async ({ behaviour, stream }) => {
  world.a.on("alpha", behaviour);
  const socket = sendTogether(...Array.from({ length: REQUESTS }, () => ({ stream })));
  await vi.waitFor(() => expect(world.a.callsTo("alpha")).toBe(REQUESTS), { timeout: 300_000 });
  expect((await world.bank.balance()).held).toBeGreaterThan(0n);
  const ends = world.a.requests.map(({ closed }) => closed);
  socket.destroy();
  for (const { wasCut } of await Promise.all(ends)) expect(wasCut).toBe(true);
  await nothingIsLeft();
});

test("a whole response that is ready before its turn is dropped with the connection, and charged", async () => {
  world.a.once("alpha", hangs, answers("in time"));
  const socket = sendTogether({}, {});
  await vi.waitFor(async () => expect((await world.bank.entries(5)).some(isOf("alpha"))).toBe(true), {
    timeout: 300_000,
  });
  socket.destroy();
  await nothingIsLeft();
});

function isOf(model: string): (line: { kind: string; model: string | null }) => boolean {
  return (line) => line.kind === "charge" && line.model === model;
}

test("a client that reads the first response and not the second is cut off like any other", async () => {
  world.a.once("alpha", delays(300, answers("first")), floods);
  const socket = sendTogether({}, { stream: true });
  await vi.waitFor(() => expect(world.a.requests.length).toBe(2), { timeout: 300_000 });
  const closed = (world.a.requests[1] as (typeof world.a.requests)[number]).closed;
  expect(await closed).toEqual({ wasCut: true });
  await nothingIsLeft();
  socket.destroy();
});

test("responses arrive in the order of the requests", async () => {
  world.a.once("alpha", delays(200, answers("first")), answers("second"));
  const socket = sendTogether({ max_tokens: 11 }, { stream: true, max_tokens: 12 });
  let text = "";
  socket.setEncoding("utf8").on("data", (piece) => {
    text += piece;
  });
  await vi.waitFor(() => expect(text).toContain("[DONE]"), { timeout: 300_000 });
  expect(text.indexOf("first")).toBeGreaterThan(0);
  expect(text.indexOf("second")).toBeGreaterThan(text.indexOf("first"));
  socket.destroy();
  await nothingIsLeft();
});

const begins: Behaviour = ({ response }) => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(event(chunk("alpha", { content: "begun" })));
};

test.each([
  { behind: "an open stream", waiting: [] },
  { behind: "a request that waits for an open stream", waiting: [{}] },
])("bytes that are no HTTP behind $behind are not answered in the middle of it", async ({ waiting }) => {
  world.a.once("alpha", begins, ...waiting.map(() => hangs));
  const socket = sendTogether({ stream: true }, ...waiting);
  const closed = new Promise((resolve) => socket.once("close", resolve));
  let text = "";
  socket.setEncoding("utf8").on("data", (piece) => {
    text += piece;
  });
  await vi.waitFor(() => expect(text).toContain("begun"), { timeout: 300_000 });
  await vi.waitFor(() => expect(world.a.callsTo("alpha")).toBe(1 + waiting.length), { timeout: 300_000 });
  socket.write("NONSENSE\r\n\r\n");
  await closed;
  expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 200"]);
  await nothingIsLeft();
});
