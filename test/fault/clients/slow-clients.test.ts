// Slow clients: headers and bodies byte by byte, silent connections, and too many of them.

import { once } from "node:events";
import type { Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { HELLO, labYaml, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { openSocket } from "../../support/network/raw-http.ts";
import { type FakeProvider, startFakeProvider } from "../../support/providers/fake-provider.ts";

const CONNECTIONS = 20;
let provider: FakeProvider;
let gateway: TestGateway;
beforeAll(async () => {
  provider = await startFakeProvider();
  const env = {
    SWITCHYARD_HEADERS_TIMEOUT_MS: "500",
    SWITCHYARD_BODY_GRACE_MS: "500",
    SWITCHYARD_KEEP_ALIVE_MS: "500",
    SWITCHYARD_CONNECTIONS: String(CONNECTIONS),
  };
  gateway = await startGateway({ yaml: labYaml(provider.url, ["alpha"]), env });
});
afterAll(async () => {
  await gateway.stop();
  await provider.close();
});

/** Writes a piece now and then until the server closes; what it said meanwhile. */
async function drip(pieces: Iterable<string>): Promise<string> {
  const socket = openSocket(gateway.url);
  let received = "";
  let isClosed = false;
  socket.setEncoding("utf8");
  socket.on("error", () => undefined);
  socket.on("data", (text: string) => {
    received += text;
  });
  const closed = once(socket, "close").then(() => {
    isClosed = true;
  });
  for (const piece of pieces) {
    if (isClosed) break;
    socket.write(piece);
    await Promise.race([closed, wait(50)]);
  }
  await closed;
  return received;
}

const head = (extra: string): string =>
  `POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${gateway.key}\r\n` +
  `Content-Type: application/json\r\n${extra}\r\n\r\n`;

function* drops(start: string, count = 2_000): Iterable<string> {
  yield start;
  for (let drop = 0; drop < count; drop += 1) yield "x";
}

describe("a client that sends", () => {
  it("its headers letter by letter is cut off with 408", async () => {
    const received = await drip(drops("POST /v1/chat/completions HTTP/1.1\r\nX-Slow: "));
    expect(received).toMatch(/^HTTP\/1\.1 408 .*\r\nx-request-id: req_/i);
    expect(received).toContain('"type":"invalid_request_error"');
  });

  it.each([
    ["of known length", () => drops(head("Content-Length: 100000"))],
    ["in chunks", () => [head("Transfer-Encoding: chunked"), ...Array<string>(2_000).fill("1\r\nx\r\n")]],
  ])("a body %s letter by letter is cut off with 408", async (_name, pieces) => {
    const received = await drip(pieces());
    expect(received).toMatch(/^HTTP\/1\.1 408 /);
    expect(received.toLowerCase()).toContain("connection: close");
    expect(received).toContain('"code":"body_too_slow"');
  });

  it("a body slowly but surely is served", async () => {
    const body = JSON.stringify({ ...HELLO, user: "x".repeat(20_000) });
    const pieces = [head(`Content-Length: ${body.length}\r\nConnection: close`), ...(body.match(/.{1,1000}/gs) ?? [])];
    expect(await drip(pieces)).toMatch(/^HTTP\/1\.1 200 /);
  });

  it("nothing at all is cut off", async () => {
    await drip([]);
  });

  it("nothing after a response is cut off", async () => {
    const received = await drip(["GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"]);
    expect(received).toMatch(/^HTTP\/1\.1 200 /);
  });
});

const isAlive = (): Promise<boolean> =>
  gateway.get("/healthz").then(
    ({ ok }) => ok,
    () => false,
  );

describe("more connections than the process holds", () => {
  it("are closed at once, and there is room again when others disconnect", async () => {
    const sockets: Socket[] = [];
    const closings: Promise<unknown>[] = [];
    for (let opened = 0; opened < 3 * CONNECTIONS; opened += 1) {
      const socket = openSocket(gateway.url);
      socket.on("error", () => undefined);
      sockets.push(socket);
      closings.push(once(socket, "close"));
    }
    await Promise.any(closings);
    for (const socket of sockets) socket.destroy();
    await Promise.all(closings);
    await expect.poll(() => isAlive()).toBe(true);
    const metrics = await (await gateway.get("/metrics")).text();
    expect(Number(/^switchyard_connections_dropped_total (\d+)$/m.exec(metrics)?.[1])).toBeGreaterThan(0);
  });
});

describe("the provider", () => {
  it("received the one whole request only, and nothing is on hold", async () => {
    expect(provider.requests).toHaveLength(1);
    expect(await (await gateway.api("GET", "/api/credits")).json()).toMatchObject({ heldUsd: "0" });
    expect(gateway.logged.filter(({ level }) => level === "error")).toEqual([]);
  });
});
