// Clients that do not read their response: kept for a while, then cut off, and charged for what had arrived, like any
// client that disconnects. Clients that read slowly are served.

import type { IncomingMessage } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import {
  answers,
  type Behaviour,
  chunk,
  completion,
  event,
  sends,
  USAGE,
} from "../../support/providers/fake-provider.ts";
import { few, isLong, promisedMs } from "../../support/random.ts";
import { decimal, PRICES } from "../../support/stores/money.ts";
import { COST, openWorld, type World } from "../world.ts";

/** Longer than this process is busy with itself when it handles the largest answers. */
const STALL_MS = 1_000;
/** What the client's socket takes at first, and a tenth of the stall time, come on top. */
const CUT_MS_MAX = promisedMs(1.7 * STALL_MS);
const PIECE = "~".repeat(16 * 1024);
const MEGABYTE = 1 << 20;
/** What fits into the buffers of the sockets on both sides of the gateway, several of them at once. */
const BUFFERED_MAX = 24 * MEGABYTE;
/** Many times what is written at once. */
const LARGE = isLong ? 20 * MEGABYTE : 5 * MEGABYTE;
const STALLED = few(3, 30);

let world: World;
beforeAll(async () => {
  world = await openWorld({ server: { writeStallMs: STALL_MS, drainSeconds: 1 } });
});
beforeEach(() => world.heal());
afterAll(() => world.close());

/** Sends as fast as it is taken, until it is cut off. */
function floods(sent: { bytes: number }): Behaviour {
  const piece = event(chunk("alpha", { content: PIECE }));
  return async ({ response }) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    while (!response.destroyed) {
      sent.bytes += piece.length;
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
}

function unread(body: object): { response: Promise<IncomingMessage>; leave(): void } {
  const open = world.bank.open(body);
  void open.response.then((response) => response.pause());
  return open;
}

async function inFlight(): Promise<number> {
  const text = await (await world.gateway.api("GET", "/metrics")).text();
  return Number(/^switchyard_requests_in_flight(?:\{[^}]*\})? (\d+)/m.exec(text)?.[1]);
}

/** Resolves with whether the answer ended as HTTP says it should. */
function endOf(response: IncomingMessage): Promise<boolean> {
  response.resume();
  return new Promise((resolve) => {
    response.on("error", () => undefined);
    response.once("close", () => resolve(response.complete));
  });
}

describe("a stream", () => {
  test("that is not read is cut off; the provider is released and what arrived is charged", async () => {
    const sent = { bytes: 0 };
    world.a.on("alpha", floods(sent));
    const received = world.a.nextRequest();
    let hold = 0n;
    const spent = await world.bank.spentBy(async () => {
      const response = await unread({ stream: true, max_tokens: 4000 }).response;
      hold = (await world.bank.balance()).held;
      const startedAtMs = performance.now();
      expect(await (await received).closed).toEqual({ wasCut: true });
      expect(performance.now() - startedAtMs, "a socket's own timeout takes twice the time").toBeLessThan(CUT_MS_MAX);
      expect(sent.bytes).toBeLessThan(BUFFERED_MAX);
      expect(await endOf(response), "no clean end, which would look like a whole answer").toBe(false);
    });
    expect(spent).toBeGreaterThan(0n);
    expect(spent).toBeLessThanOrEqual(hold);
    expect(world.b.requests.length).toBe(0);
  });

  test("many of them at once do not disturb other clients", async () => {
    const sent = { bytes: 0 };
    world.a.on("alpha", floods(sent));
    const before = process.memoryUsage().rss;
    const spent = await world.bank.spentBy(async () => {
      const open = Array.from({ length: STALLED }, () => unread({ stream: true, max_tokens: 100 }));
      await Promise.all(open.map(({ response }) => response));
      world.a.on("alpha", answers("ok"));
      const seen = await world.exchange();
      expect(seen.status).toBe(200);
      await vi.waitFor(async () => expect((await world.bank.balance()).held).toBe(0n), {
        timeout: 300_000,
        interval: 50,
      });
      for (const { leave } of open) leave();
    });
    // All three parties and their buffers live in this process.
    expect(process.memoryUsage().rss - before).toBeLessThan(STALLED * BUFFERED_MAX);
    expect(spent).toBeGreaterThanOrEqual(COST.alpha + BigInt(STALLED) * 100n * decimal(PRICES.alpha.output, 3));
  });

  test("that is read slowly, but read, goes on to its end", async () => {
    const piece = event(chunk("alpha", { content: PIECE }));
    const pieces = 400;
    world.a.on("alpha", async ({ response }) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (let index = 0; index < pieces; index += 1) response.write(piece);
      response.end(
        `${event(chunk("alpha", {}, "stop"))}${event({ ...chunk("alpha", {}), choices: [], usage: USAGE })}data: [DONE]\n\n`,
      );
    });
    const spent = await world.bank.spentBy(async () => {
      const response = await world.bank.open({ stream: true, max_tokens: 4000 }).response;
      const startedAtMs = performance.now();
      let length = 0;
      let tail = "";
      for await (const bytes of response) {
        length += (bytes as Buffer).length;
        tail = (tail + (bytes as Buffer).toString("latin1")).slice(-100);
        // By length: how much comes at once depends on Node and on the machine.
        await pause((2 * STALL_MS * (bytes as Buffer).length) / (pieces * piece.length));
      }
      expect(performance.now() - startedAtMs, "longer than anybody is waited for").toBeGreaterThan(STALL_MS);
      expect(length).toBeGreaterThan(pieces * PIECE.length);
      expect(tail).toContain("[DONE]");
    });
    expect(spent).toBe(COST.alpha);
  });

  test("that fits into the buffers is complete, read or not", async () => {
    const piece = event(chunk("alpha", { content: PIECE.slice(0, 1024) }));
    world.a.on("alpha", ({ response }) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(
        `${piece.repeat(20)}${event(chunk("alpha", {}, "stop"))}${event({ ...chunk("alpha", {}), choices: [], usage: USAGE })}data: [DONE]\n\n`,
      );
    });
    expect(await world.bank.spentBy(() => unread({ stream: true }).response)).toBe(COST.alpha);
  });
});

describe("a whole response", () => {
  const sized = (bytes: number): Behaviour => sends(200, completion("~".repeat(bytes), "alpha"));

  test("that is not read was charged, and its connection is cut", async () => {
    world.a.on("alpha", sized(20 * MEGABYTE));
    const spent = await world.bank.spentBy(async () => {
      const response = await unread({ max_tokens: 4000 }).response;
      // Who does not read does not hear of it, so the gateway is asked.
      await expect.poll(inFlight).toBe(0);
      expect(await endOf(response)).toBe(false);
    });
    expect(spent).toBe(COST.alpha);
  });

  test("that is read arrives whole, however large", async () => {
    world.a.on("alpha", sized(LARGE));
    const seen = await world.exchange({ max_tokens: 4000 });
    expect(seen.isWhole).toBe(true);
    expect(seen.text.length).toBeGreaterThan(LARGE);
  });
});
