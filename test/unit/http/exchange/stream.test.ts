// A stream onto a socket: paced by it, kept alive in silence, and never ended as if it were complete when it is not.

import { EventEmitter } from "node:events";
import type { FastifyReply } from "fastify";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { sendStream } from "../../../../src/http/exchange/stream.ts";

const PING = ": ping\n\n";
const STALL_MS = 77_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

class FakeResponse extends EventEmitter {
  readonly written: string[] = [];
  destroyed = false;
  isEnded = false;
  writableNeedDrain = false;
  writableFinished = false;
  headers: Record<string, string> = {};
  /** The timeouts set on its socket, in order. */
  readonly timeouts: number[] = [];
  readonly socket = { setTimeout: (ms: number) => void this.timeouts.push(ms) };

  writeHead(_status: number, headers: Record<string, string>): void {
    this.headers = headers;
  }
  write(text: string): boolean {
    this.written.push(text);
    return !this.writableNeedDrain;
  }
  end(): void {
    this.isEnded = true;
  }
  destroy(): void {
    this.destroyed = true;
    this.emit("close");
  }
}

function send(text: AsyncGenerator<string>): { response: FakeResponse; sent: Promise<void> } {
  const response = new FakeResponse();
  const reply = { raw: response, hijack: () => undefined, getHeaders: () => ({ "x-request-id": "req_1" }) };
  return { response, sent: sendStream(reply as unknown as FastifyReply, { text, ping: PING }, STALL_MS) };
}

async function* words(count: number): AsyncGenerator<string> {
  for (let index = 0; index < count; index += 1) yield String(index);
}

test("sends every piece, with the headers of the reply", async () => {
  const { response, sent } = send(words(3));
  await sent;
  expect(response.written).toEqual(["0", "1", "2"]);
  expect(response.isEnded).toBe(true);
  expect(response.headers).toMatchObject({
    "x-request-id": "req_1",
    "content-type": "text/event-stream; charset=utf-8",
  });
  expect(vi.getTimerCount()).toBe(0);
});

test("waits for a full socket, and sends it no pings meanwhile", async () => {
  const { response, sent } = send(words(2));
  response.writableNeedDrain = true;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(response.written).toEqual(["0"]);
  response.writableNeedDrain = false;
  response.emit("drain");
  await sent;
  expect(response.written).toEqual(["0", "1"]);
  expect(response.timeouts).toEqual([STALL_MS, 0, STALL_MS]);
});

test("the stall timeout runs only while bytes wait", async () => {
  const { response, sent } = send(words(3));
  response.writableFinished = true;
  await sent;
  expect(response.timeouts).toEqual([]);
});

test("a socket that closes while it is waited for ends the stream's source", async () => {
  const onEnd = vi.fn();
  async function* source(): AsyncGenerator<string> {
    try {
      yield* words(5);
    } finally {
      onEnd();
    }
  }
  const { response, sent } = send(source());
  response.writableNeedDrain = true;
  await vi.advanceTimersByTimeAsync(1);
  response.destroy();
  await sent;
  expect(onEnd).toHaveBeenCalled();
  expect(response.written).toEqual(["0"]);
  expect(response.listenerCount("drain") + response.listenerCount("close")).toBe(0);
});

test("pings every 15 seconds of silence", async () => {
  let goOn = (): void => undefined;
  async function* source(): AsyncGenerator<string> {
    yield "a";
    await new Promise<void>((resolve) => {
      goOn = resolve;
    });
    yield "b";
  }
  const { response, sent } = send(source());
  await vi.advanceTimersByTimeAsync(31_000);
  expect(response.written).toEqual(["a", PING, PING]);
  goOn();
  await sent;
  expect(response.written.at(-1)).toBe("b");
});

test("a source that throws breaks the connection off instead of ending it", async () => {
  async function* source(): AsyncGenerator<string> {
    yield "a";
    throw new Error("fault");
  }
  const { response, sent } = send(source());
  await expect(sent).rejects.toThrow("fault");
  expect({ destroyed: response.destroyed, isEnded: response.isEnded }).toEqual({ destroyed: true, isEnded: false });
  expect(vi.getTimerCount()).toBe(0);
});

test("a head that cannot be written ends the source, begun or not", async () => {
  for (const hasBegun of [true, false]) {
    const told = vi.fn();
    async function* source(): AsyncGenerator<string> {
      try {
        yield "a";
      } catch (error) {
        told(error);
        yield "broken";
      }
    }
    const text = source();
    if (hasBegun) await text.next();
    const response = new FakeResponse();
    const fault = new Error("no head");
    vi.spyOn(response, "writeHead").mockImplementation(() => {
      throw fault;
    });
    const hijack = vi.fn();
    const reply = { raw: response, hijack, getHeaders: () => ({}) };
    const sent = sendStream(reply as unknown as FastifyReply, { text, ping: PING }, STALL_MS);
    await expect(sent).rejects.toBe(fault);
    expect(told.mock.calls).toEqual(hasBegun ? [[fault]] : []);
    expect(await text.next()).toEqual({ value: undefined, done: true });
    // The caller can still respond with an error.
    expect(hijack).not.toHaveBeenCalled();
    expect(vi.getTimerCount()).toBe(0);
  }
});
