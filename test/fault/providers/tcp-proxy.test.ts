// The proxy that other tests do harm with does the harm it says, and none when it is not told to.

import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startTcpProxy, type TcpProxy } from "../../support/network/tcp-proxy.ts";

let server: Server;
let proxy: TcpProxy;
let clients: Socket[] = [];
/** What the server does with a connection; by default it sends everything back. */
let serve: (socket: Socket) => void;

beforeEach(async () => {
  serve = (socket) => void socket.pipe(socket);
  server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on("error", () => undefined);
    serve(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  proxy = await startTcpProxy(`echo://127.0.0.1:${(server.address() as AddressInfo).port}`);
});

afterEach(async () => {
  for (const client of clients) client.destroy();
  clients = [];
  await proxy.close();
  server.close();
});

async function dial(): Promise<Socket> {
  const socket = connect({ port: proxy.port, host: "127.0.0.1", allowHalfOpen: true });
  clients.push(socket);
  socket.on("error", () => undefined);
  await once(socket, "connect");
  return socket;
}

function outcomeOf(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let received = "";
    socket.setEncoding("latin1").on("data", (piece) => {
      received += piece;
    });
    socket.once("error", (error: NodeJS.ErrnoException) => resolve(`${received}|${error.code}`));
    socket.once("end", () => resolve(`${received}|end`));
  });
}

test("without harm every byte goes through, both ways and in order, and ends are passed on", async () => {
  const socket = await dial();
  const sent = Buffer.alloc(3_000_000, "0123456789abcdef").toString("latin1");
  socket.end(sent);
  expect(await text(socket)).toBe(sent);
  expect([proxy.toServerBytes, proxy.toClientBytes]).toEqual([sent.length, sent.length]);
  expect(proxy.accepted).toBe(1);
  await expect.poll(() => proxy.open).toBe(0);
});

test("slices and a limited rate change the time, not the bytes", async () => {
  proxy.harm({ sliceBytes: 7 }, { bytesPerSecond: 10_000 });
  const socket = await dial();
  const startedAtMs = performance.now();
  socket.end("x".repeat(3000));
  expect(await text(socket)).toBe("x".repeat(3000));
  expect(performance.now() - startedAtMs).toBeGreaterThan(250);
});

test("a delay is a delay, and what is under way when the server is gone still arrives", async () => {
  serve = (socket) => void socket.end("goodbye");
  proxy.harm({ delayMs: 120 });
  const socket = await dial();
  const startedAtMs = performance.now();
  socket.end();
  expect(await text(socket)).toBe("goodbye");
  expect(performance.now() - startedAtMs).toBeGreaterThan(100);
});

test.each([
  ["closeAfterBytes", "hello|end"],
  ["resetAfterBytes", "hello|ECONNRESET"],
] as const)("%s", async (kind, expected) => {
  proxy.harm({ [kind]: 5 });
  const socket = await dial();
  const outcome = outcomeOf(socket);
  socket.write("hello, world");
  expect(await outcome).toBe(expected);
});

test("swallowAfterBytes leaves the connection open and silent", async () => {
  proxy.harm({ swallowAfterBytes: 5 });
  const socket = await dial();
  let received = "";
  socket.on("data", (piece) => {
    received += String(piece);
  });
  socket.write("hello, world");
  await expect.poll(() => received).toBe("hello");
  await wait(50);
  expect({ received, isOpen: !socket.destroyed, open: proxy.open }).toEqual({
    received: "hello",
    isOpen: true,
    open: 1,
  });
});

test("paused bytes come when it goes on", async () => {
  proxy.pause();
  const socket = await dial();
  const received = text(socket);
  socket.end("held back");
  await wait(50);
  expect(proxy.toClientBytes).toBe(0);
  proxy.resume();
  expect(await received).toBe("held back");
});

test.each([
  ["close", /end/],
  ["reset", /ECONNRESET/],
] as const)("cut(%s) ends what is open and nothing else", async (how, expected) => {
  const socket = await dial();
  socket.write("x");
  await once(socket, "data");
  const outcome = outcomeOf(socket);
  proxy.cut(how);
  expect(await outcome).toMatch(expected);
  const next = await dial();
  next.end("again");
  expect(await text(next)).toBe("again");
});

test.each(["refuse", "close", "reset", "swallow"] as const)("away (%s), and back on the same port", async (how) => {
  const before = await dial();
  before.write("x");
  await once(before, "data");
  const ended = how === "swallow" ? Promise.resolve("open") : outcomeOf(before);
  await proxy.goAway(how);
  await ended;
  if (how === "refuse") await expect(dial()).rejects.toThrow(/ECONNREFUSED/);
  if (how === "swallow") {
    const silent = await dial();
    let heard = 0;
    for (const socket of [silent, before]) socket.on("data", () => (heard += 1)).write("anybody?");
    await wait(50);
    expect(heard).toBe(0);
  }
  await proxy.comeBack();
  const after = await dial();
  after.end("welcome back");
  expect(await text(after)).toBe("welcome back");
});

test("a server that breaks off is a broken connection for the client", async () => {
  serve = (socket) => socket.once("data", () => socket.resetAndDestroy());
  const socket = await dial();
  const outcome = outcomeOf(socket);
  socket.write("x");
  expect(await outcome).toBe("|ECONNRESET");
});
