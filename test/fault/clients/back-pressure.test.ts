// A client that does not read: the provider is made to wait, memory stays bounded, no timeout of ours fires, and reading
// on brings every byte.

import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Behaviour, chunk, event } from "../../support/providers/fake-provider.ts";
import { type Lab, openLab } from "../lab.ts";

const MEGABYTE = 1 << 20;
const PIECE = "~".repeat(16 * 1024);
const TILDE = 0x7e;
/** Socket buffers on both sides of the gateway are part of what the provider can send. Some systems let each grow to 32 MB. */
const BUFFERED_MAX = 96 * MEGABYTE;
const PIECES = (BUFFERED_MAX + 32 * MEGABYTE) / PIECE.length;
const IDLE_MS = 1_500;

let lab: Lab;
beforeAll(async () => {
  lab = await openLab({ timeouts: { idleMs: IDLE_MS, totalMs: 60_000 } });
});
afterAll(() => lab.close());

test("a client that does not read a long stream", async () => {
  const sent = { bytes: 0, isDone: false };
  lab.provider.on("alpha", floods(sent));
  const open = lab.open("slow-reader", { stream: true });
  const response = await open.response;
  response.pause();
  await untilStalled(sent);
  expect(sent.bytes).toBeLessThan(BUFFERED_MAX);
  const stalledAt = sent.bytes;
  await new Promise((resolve) => setTimeout(resolve, 2 * IDLE_MS));
  expect(sent.bytes).toBe(stalledAt);

  let length = 0;
  let tail = "";
  for await (const bytes of response) {
    for (const byte of bytes as Buffer) if (byte === TILDE) length += 1;
    tail = (tail + (bytes as Buffer).toString("latin1", Math.max(0, (bytes as Buffer).length - 200))).slice(-200);
  }
  expect(tail).toContain("data: [DONE]");
  expect(length).toBe(PIECES * PIECE.length);
  expect((await lab.line("slow-reader")).ending).toBe("complete");
});

test("a client that does not read and then disconnects releases the provider", async () => {
  const sent = { bytes: 0, isDone: false };
  lab.provider.on("alpha", floods(sent));
  const received = lab.provider.nextRequest();
  const open = lab.open("slow-disconnect", { stream: true });
  (await open.response).pause();
  await untilStalled(sent);
  open.leave();
  expect(await (await received).closed).toEqual({ wasCut: true });
  expect((await lab.line("slow-disconnect")).ending).toBe("client-gone");
});

interface Sent {
  bytes: number;
  isDone: boolean;
}

/** Sends as fast as the other side takes it. */
function floods(sent: Sent): Behaviour {
  const piece = event(chunk("alpha", { content: PIECE }));
  return async ({ response }) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (let index = 0; index < PIECES && !response.destroyed; index += 1) {
      sent.bytes += piece.length;
      if (!response.write(piece)) await drainedOrClosed(response);
    }
    sent.isDone = true;
    response.end(`${event(chunk("alpha", {}, "stop"))}data: [DONE]\n\n`);
  };
}

async function drainedOrClosed(response: ServerResponse): Promise<void> {
  const over = new AbortController();
  const { signal } = over;
  await Promise.race([once(response, "drain", { signal }), once(response, "close", { signal })]);
  over.abort();
}

/** Everybody on the way is in this process: when it was free so often and nothing moved, nothing will. */
async function untilStalled(sent: Sent): Promise<void> {
  let before = -1;
  for (let quiet = 0; quiet < 100; quiet = sent.bytes === before ? quiet + 1 : 0) {
    before = sent.bytes;
    if (sent.isDone) throw new Error("the provider was never made to wait");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
