// Streams without measure: lines and events that never end, bytes after the end, more than any answer holds, thousands at
// once. Judged from three sides, and by what is left in memory afterwards.

import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { queryObjects } from "node:v8";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { ByteQueue } from "../../../src/providers/byte-queue.ts";
import { AttemptTimer } from "../../../src/providers/timer.ts";
import {
  type Behaviour,
  chunk,
  event,
  fails,
  hangs,
  streams,
  textChunks,
  USAGE,
} from "../../support/providers/fake-provider.ts";
import { createRandom, few, scaled, seedOf } from "../../support/random.ts";
import { parseStream } from "../lab.ts";
import { COST, openWorld, type Seen, type World } from "../world.ts";

const MEGABYTE = 1 << 20;
const role = chunk("alpha", { role: "assistant", content: "" });
const hello = chunk("alpha", { content: "Hello" });
const end = `${event(chunk("alpha", {}, "stop"))}${event({ ...chunk("alpha", {}), choices: [], usage: USAGE })}data: [DONE]\n\n`;

vi.setConfig({ testTimeout: scaled(900_000) });

let world: World;
beforeAll(async () => {
  // Longer than any wait of a test: no timeout tidies up what should have been let go at once.
  const timeouts = { connectMs: 300_000, firstByteMs: 300_000, idleMs: 300_000, totalMs: 300_000 };
  // Nothing here is about breakers: broken streams are what is asked for.
  world = await openWorld({ timeouts, health: { failuresInRow: 100_000, callsMin: 100_000 } });
});
beforeEach(() => world.heal());
afterAll(() => world.close());

/** Some events, then the same bytes again and again as fast as they are taken, until it is cut off. */
function pours(first: readonly object[], bytes: string, sent: { bytes: number }): Behaviour {
  return async ({ response }) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const each of first) response.write(event(each));
    while (!response.destroyed) {
      sent.bytes += bytes.length;
      if (!response.write(bytes)) await drainOrClose(response);
    }
  };
}

async function drainOrClose(response: ServerResponse): Promise<void> {
  const over = new AbortController();
  const { signal } = over;
  const quiet = (): void => undefined;
  await Promise.race([
    once(response, "drain", { signal }).catch(quiet),
    once(response, "close", { signal }).catch(quiet),
  ]);
  over.abort();
}

describe("without end", () => {
  const CASES = [
    ["a line", "x".repeat(64 * 1024), "data: "],
    ["an event of many lines", `data: ${"x".repeat(64 * 1024)}\n`, ""],
  ] as const;

  test.each(CASES)(
    "%s, after the first content: an error event, nothing charged, the provider cut off",
    async (_name, bytes, opening) => {
      const sent = { bytes: 0 };
      const pour = pours([role, hello], bytes, sent);
      world.a.on("alpha", (exchange) => {
        const done = pour(exchange);
        if (opening !== "") exchange.response.write(opening);
        return done;
      });
      const received = world.a.nextRequest();
      const spent = await world.bank.spentBy(async () => {
        const { text, isDone, error } = parseStream((await world.exchange({ stream: true })).text);
        expect({ text, isDone, code: error?.code }).toEqual({
          text: "Hello",
          isDone: false,
          code: "stream_interrupted",
        });
      });
      expect(await (await received).closed).toEqual({ wasCut: true });
      expect(spent).toBe(0n);
      expect(sent.bytes, "it was not read for long").toBeLessThan(40 * MEGABYTE);
      expect(world.b.requests.length).toBe(0);
    },
  );

  test.each(CASES)("%s, before any content: the next model answers", async (_name, bytes) => {
    const sent = { bytes: 0 };
    world.a.on("alpha", pours([role], bytes, sent));
    const received = world.a.nextRequest();
    const spent = await world.bank.spentBy(async () => {
      const { text, isDone } = parseStream((await world.exchange({ stream: true })).text);
      expect({ text, isDone }).toEqual({ text: "ok", isDone: true });
    });
    expect(await (await received).closed).toEqual({ wasCut: true });
    expect(spent).toBe(COST.beta);
    expect(sent.bytes).toBeLessThan(40 * MEGABYTE);
  });

  test("more bytes than any answer has: broken off, nothing charged", async () => {
    const sent = { bytes: 0 };
    world.a.on("alpha", pours([role, hello], `: ${"x".repeat(256 * 1024)}\n\n`, sent));
    const received = world.a.nextRequest();
    const spent = await world.bank.spentBy(async () => {
      const { text, isDone, error } = parseStream((await world.exchange({ stream: true })).text);
      expect({ text, isDone, code: error?.code }).toEqual({ text: "Hello", isDone: false, code: "stream_interrupted" });
    });
    expect(await (await received).closed).toEqual({ wasCut: true });
    expect(spent).toBe(0n);
    expect(sent.bytes).toBeLessThan(300 * MEGABYTE);
  });
});

test("bytes after the end are not heard: neither shown nor charged, and the provider is cut off", async () => {
  const more = { ...chunk("alpha", {}), choices: [], usage: { ...USAGE, completion_tokens: 9_000 } };
  world.a.on("alpha", ({ response }) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(`${event(role)}${event(hello)}${end}`);
    const timer = setInterval(() => response.write(`${event(more)}${event(hello)}`), 5);
    response.once("close", () => clearInterval(timer));
  });
  const received = world.a.nextRequest();
  const spent = await world.bank.spentBy(async () => {
    const { text, isDone, error } = parseStream((await world.exchange({ stream: true })).text);
    expect({ text, isDone, error }).toEqual({ text: "Hello", isDone: true, error: null });
  });
  expect(spent).toBe(COST.alpha);
  expect(await (await received).closed).toEqual({ wasCut: true });
});

test("a trickle, byte by byte with pauses, is an answer like any other", async () => {
  const wire = `${event(role)}${event(hello)}${end}`;
  world.a.on("alpha", async ({ response }) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const [index, byte] of [...wire].entries()) {
      response.write(byte);
      if (index % 7 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    }
    response.end();
  });
  const spent = await world.bank.spentBy(async () => {
    const { text, isDone } = parseStream((await world.exchange({ stream: true })).text);
    expect({ text, isDone }).toEqual({ text: "Hello", isDone: true });
  });
  expect(spent).toBe(COST.alpha);
});

test("case 76: many streams at once, each with every word in its order, each charged once", async () => {
  const streamsAtOnce = few(50, 500);
  const words = Array.from({ length: 30 }, (_, index) => ` word${index}`).join("");
  let opened = 0;
  let openGate = (): void => undefined;
  const allOpen = new Promise<void>((resolve) => {
    openGate = resolve;
  });
  world.a.on("alpha", (exchange) => {
    opened += 1;
    // The role and a word; the rest when all are open.
    const before = (index: number): Promise<void> | undefined => (index === 2 ? allOpen : undefined);
    return streams(textChunks(words, "alpha"), { usage: USAGE, before })(exchange);
  });
  const spent = await world.bank.spentBy(async () => {
    const running: Promise<Seen>[] = [];
    // Client, gateway, provider and the lines between them are one process here: it gets them in parts.
    while (running.length < streamsAtOnce) {
      const wave = Math.min(100, streamsAtOnce - running.length);
      for (let index = 0; index < wave; index += 1) running.push(world.exchange({ stream: true, max_tokens: 50 }));
      await vi.waitFor(() => expect(opened).toBe(running.length), { timeout: 300_000, interval: 20 });
    }
    openGate();
    for (const { text } of await Promise.all(running)) {
      expect(parseStream(text)).toMatchObject({ text: words, isDone: true, error: null });
    }
  });
  expect(spent).toBe(BigInt(streamsAtOnce) * COST.alpha);
});

test("nothing is left behind: no timer, no listener, no body of a stream that is over", async () => {
  const warnings: Error[] = [];
  const onWarning = (warning: Error): void => void warnings.push(warning);
  process.on("warning", onWarning);
  await manyStreams(30);
  const before = leftovers();
  await manyStreams(few(30, 300));
  await vi.waitFor(
    () => {
      const after = leftovers();
      expect(after.timers).toBeLessThanOrEqual(before.timers + 3);
      expect(after.bodies).toBeLessThanOrEqual(before.bodies);
      expect(after.attemptTimers).toBeLessThanOrEqual(before.attemptTimers);
    },
    { timeout: 300_000, interval: 200 },
  );
  process.off("warning", onWarning);
  expect(warnings.filter(({ name }) => name === "MaxListenersExceededWarning")).toEqual([]);
  await world.bank.atRest();
});

/** Of every kind: whole, left at once, left in the middle, broken off, refused, hung. */
async function manyStreams(count: number): Promise<void> {
  const { next } = createRandom(seedOf(77));
  const words = textChunks("one two three four five", "alpha");
  world.a.on("alpha", (exchange) => {
    const draw = next();
    if (draw < 0.3) return streams(words, { usage: USAGE })(exchange);
    if (draw < 0.5) return streams(words.slice(0, 3), { ending: "hang" })(exchange);
    if (draw < 0.7) return streams(words.slice(0, 3), { ending: "cut" })(exchange);
    return draw < 0.85 ? fails(500)(exchange) : hangs(exchange);
  });
  for (let done = 0; done < count; done += 30) {
    await Promise.all(
      Array.from({ length: 30 }, () => {
        const patienceMs = 50 + next() * 400;
        return world.exchange({ stream: true }, { leaveAt: new Promise((resolve) => setTimeout(resolve, patienceMs)) });
      }),
    );
  }
  await vi.waitFor(async () => expect((await world.bank.balance()).held).toBe(0n), { timeout: 300_000, interval: 50 });
  await world.bank.atRest();
}

function leftovers(): { timers: number; bodies: number; attemptTimers: number } {
  return {
    timers: process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length,
    bodies: Number(queryObjects(ByteQueue)),
    attemptTimers: Number(queryObjects(AttemptTimer)),
  };
}
