// A WebSocket connection by itself: what the parts of a message hold, and a client that reads nothing.

import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, beforeEach, expect, it } from "vitest";
import { SocketConnection } from "../../../../src/http/sockets/connection.ts";

const listener = createServer();
let client: Socket;
let served: Socket;
let messages: string[];
let connection: SocketConnection;
let charged = 0;
beforeEach(async () => {
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  const { port } = listener.address() as { readonly port: number };
  client = connect(port, "127.0.0.1");
  [served] = (await once(listener, "connection")) as [Socket];
  messages = [];
  charged = 0;
  connection = new SocketConnection(served, {
    limits: { messageBytes: 1024 * 1024, stallMs: 60_000, pingMs: 60_000, graceMs: 60_000 },
    charge: (bytes) => {
      charged += bytes;
      return {
        add: (more) => {
          charged += more;
        },
        release: () => undefined,
      };
    },
    events: { message: (bytes) => messages.push(String(bytes)), closed: () => undefined },
  });
});
afterEach(async () => {
  client.destroy();
  served.destroy();
  listener.close();
  await once(listener, "close");
});

/** A masked frame whose mask changes nothing. */
const frame = (first: number, text = ""): Buffer =>
  Buffer.concat([Buffer.from([first, 0x80 | text.length, 0, 0, 0, 0]), Buffer.from(text)]);

it("holds nothing for parts without bytes, and charges every message", () => {
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc") as () => void;
  connection.begin(frame(0x01));
  const many = Buffer.concat(Array.from({ length: 1_000 }, () => frame(0x00)));
  gc();
  const before = process.memoryUsage().heapUsed;
  for (let round = 0; round < 200; round += 1) served.emit("data", many);
  gc();
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(4 * 1024 * 1024);
  for (const part of [frame(0x00, "one "), frame(0x00), frame(0x00, "message"), frame(0x80)]) served.emit("data", part);
  expect(messages).toEqual(["one message"]);
  expect(charged).toBeGreaterThan("one message".length);
});

it("is not read while its client reads nothing, and looks for a stall once", async () => {
  connection.begin(Buffer.alloc(0));
  const text = "x".repeat(256 * 1024);
  let full: Promise<void> | null = null;
  while (full === null) full = connection.send(text);
  expect(connection.send(text)).toBe(full);
  expect(served.isPaused()).toBe(true);
  client.write(frame(0x81, "later"));
  client.resume();
  await full;
  expect(served.isPaused()).toBe(false);
  await expect.poll(() => messages).toEqual(["later"]);
});
