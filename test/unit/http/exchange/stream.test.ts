// A stream onto a socket: paced by it, kept alive in silence, and never ended as if it were complete when it is not.

import { EventEmitter } from "node:events";
import { createServer, get } from "node:http";
import type { AddressInfo } from "node:net";
import { text as textOf } from "node:stream/consumers";
import type { FastifyReply } from "fastify";
import { beforeEach, expect, test, vi } from "vitest";
import type { TextSink } from "../../../../src/gateway/relay.ts";
import { relayPieces, sendStream } from "../../../../src/http/exchange/stream.ts";

const PING = ": ping\n\n";
const STALL_MS = 77_000;

beforeEach(() => void vi.useFakeTimers());

class FakeSocket extends EventEmitter {
  /** What the kernel has not taken yet. */
  readonly _handle = { writeQueueSize: 0 };
  readonly write: (text: string) => boolean;
  readonly cork = vi.fn();
  readonly uncork = vi.fn();

  constructor(write: (text: string) => boolean) {
    super();
    this.write = write;
  }
}

class FakeResponse extends EventEmitter {
  readonly written: string[] = [];
  destroyed = false;
  writableEnded = false;
  writableNeedDrain = false;
  writableFinished = false;
  headers: Record<string, string> = {};
  chunkedEncoding = false;
  readonly socket = new FakeSocket((text) => this.write(text));

  writeHead(_status: number, headers: Record<string, string>): void {
    this.headers = headers;
  }
  write(text: string): boolean {
    this.written.push(text);
    return !this.writableNeedDrain;
  }
  end(): void {
    this.writableEnded = true;
    queueMicrotask(() => this.emit("close"));
  }
  destroy(): void {
    this.destroyed = true;
    this.emit("close");
  }
}

function send(text: AsyncGenerator<string>): { response: FakeResponse; sent: Promise<void> } {
  const response = new FakeResponse();
  const reply = { raw: response, hijack: () => undefined, getHeaders: () => ({ "x-request-id": "req_1" }) };
  const stream = { relay: relayPieces(text), ping: PING };
  return { response, sent: sendStream(reply as unknown as FastifyReply, stream, STALL_MS) };
}

async function* words(count: number): AsyncGenerator<string> {
  for (let index = 0; index < count; index += 1) yield String(index);
}

test("sends every piece, with the headers of the reply", async () => {
  const { response, sent } = send(words(3));
  await sent;
  expect(response.written).toEqual(["0", "1", "2"]);
  expect(response.writableEnded).toBe(true);
  expect(response.headers).toMatchObject({
    "x-request-id": "req_1",
    "content-type": "text/event-stream; charset=utf-8",
  });
  expect(vi.getTimerCount()).toBe(0);
});

test("writes chunks without ending the response at a piece that is empty", async () => {
  async function* pieces(): AsyncGenerator<string> {
    yield* ["one", "", "två", ""];
  }
  const { response, sent } = send(pieces());
  response.chunkedEncoding = true;
  await sent;
  expect(response.written).toEqual(["one", "4\r\ntvå\r\n"]);
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
});

/** Long enough for any number of checks. */
const LONG_MS = 10 * STALL_MS;

async function stalledStream(): Promise<{ response: FakeResponse; sent: Promise<void> }> {
  const { response, sent } = send(words(2));
  response.writableNeedDrain = true;
  response.socket._handle.writeQueueSize = 1_000;
  await vi.advanceTimersByTimeAsync(0);
  return { response, sent };
}

test("a client that takes nothing is cut off after the stall time, not after twice as long", async () => {
  const { response, sent } = await stalledStream();
  await vi.advanceTimersByTimeAsync(STALL_MS - 1);
  expect(response.destroyed).toBe(false);
  await vi.advanceTimersByTimeAsync(0.15 * STALL_MS);
  expect(response.destroyed).toBe(true);
  await sent;
});

test("a client that takes a little now and then is kept", async () => {
  const { response, sent } = await stalledStream();
  for (let passedMs = 0; passedMs < LONG_MS; passedMs += 0.8 * STALL_MS) {
    await vi.advanceTimersByTimeAsync(0.8 * STALL_MS);
    response.socket._handle.writeQueueSize -= 1;
  }
  expect(response.destroyed).toBe(false);
  response.destroy();
  await sent;
});

test("a response behind another one on its connection is no stall", async () => {
  const { response, sent } = send(words(2));
  response.writableNeedDrain = true;
  await vi.advanceTimersByTimeAsync(LONG_MS);
  expect(response.destroyed).toBe(false);
  response.destroy();
  await sent;
});

test("the stall is watched only while bytes wait", async () => {
  const { response, sent } = send(words(3));
  response.writableFinished = true;
  await sent;
  expect(vi.getTimerCount()).toBe(0);
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
  expect({ destroyed: response.destroyed, isEnded: response.writableEnded }).toEqual({
    destroyed: true,
    isEnded: false,
  });
  expect(vi.getTimerCount()).toBe(0);
});

test("a head that cannot be written is told to the source, which ends", async () => {
  const response = new FakeResponse();
  const fault = new Error("no head");
  vi.spyOn(response, "writeHead").mockImplementation(() => {
    throw fault;
  });
  const hijack = vi.fn();
  const reply = { raw: response, hijack, getHeaders: () => ({}) } as unknown as FastifyReply;
  const relay = vi.fn(async (sink: TextSink) => void (await sink.write("a")));
  await expect(sendStream(reply, { relay, ping: PING }, STALL_MS)).rejects.toBe(fault);
  await expect(relay.mock.results[0]?.value).rejects.toBe(fault);
  // The caller can still respond with an error.
  expect(hijack).not.toHaveBeenCalled();
  expect(vi.getTimerCount()).toBe(0);
});

test("a chunk is one write, in bytes and not in characters", async () => {
  async function* source(): AsyncGenerator<string> {
    yield "data: 1\n\n";
    yield "data: 2\n\n";
    yield "data: é世🙂\n\n";
  }
  const response = new FakeResponse();
  response.chunkedEncoding = true;
  const write = vi.spyOn(response.socket, "write");
  const reply = { raw: response, hijack: () => undefined, getHeaders: () => ({}) } as unknown as FastifyReply;
  await sendStream(reply, { relay: relayPieces(source()), ping: PING }, STALL_MS);
  // The first piece goes out with the head, which only the response can write.
  expect(response.written[0]).toBe("data: 1\n\n");
  expect(write.mock.calls).toEqual([
    ["9\r\ndata: 2\n\n\r\n", "latin1"],
    ["11\r\ndata: é世🙂\n\n\r\n", "utf8"],
  ]);
});

test("the head goes out with the first piece at once, and the end with the last", async () => {
  vi.useRealTimers();
  const writes: number[] = [];
  const relay = async (sink: TextSink): Promise<void> => {
    void sink.write("data: 1\n\n");
    writes.push(written.mock.calls.length + single.mock.calls.length);
    await new Promise((resolve) => setImmediate(resolve));
    sink.end("data: é\n\n");
    writes.push(written.mock.calls.length + single.mock.calls.length);
  };
  let written = vi.fn();
  let single = vi.fn();
  const server = createServer((_request, response) => {
    const { socket } = response as unknown as { socket: { _writev: () => void; _write: () => void } };
    written = vi.spyOn(socket, "_writev");
    single = vi.spyOn(socket, "_write");
    const reply = { raw: response, hijack: () => undefined, getHeaders: () => ({}) } as unknown as FastifyReply;
    void sendStream(reply, { relay, ping: PING }, STALL_MS);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const text = await new Promise<string>((resolve, reject) => {
    get({ port, host: "127.0.0.1", agent: false }, (response) => textOf(response).then(resolve, reject));
  });
  server.close();
  expect(text).toBe("data: 1\n\ndata: é\n\n");
  expect(writes).toEqual([1, 2]);
});
