// Requests on the connections to a provider. The memory of a long body may be freed once it is written, and not before.
// A request that is given to a connection that breaks just then is sent on a new one.

import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { Cancellation } from "../../../src/core/cancellation.ts";
import type { Provider } from "../../../src/core/model.ts";
import { freeMemory } from "../../../src/core/requests/body-memory.ts";
import { BytePieces } from "../../../src/formats/json/byte-pieces.ts";
import type { Transport } from "../../../src/providers/transport.ts";
import { createUpstream } from "../../../src/providers/upstream.ts";

/** More than the buffers of a connection take. */
const LONG_BYTES = 16 * 1024 * 1024;

const LOOP_NAME = "switchyard-0123456789abcdef";
const OTHER_NAME = "switchyard-fedcba9876543210";

let server: Server;
let transport: Transport;

afterEach(async () => {
  await transport.close();
  server.closeAllConnections();
  server.close();
});

const listen = () => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));

function openTransport(onStale: () => void = () => undefined, more: Partial<Provider> = {}): Transport {
  const { port } = server.address() as AddressInfo;
  const timeouts = { connectMs: 60_000, firstByteMs: 60_000, idleMs: 60_000, totalMs: 60_000 };
  const row = {
    id: "p",
    baseUrl: `http://127.0.0.1:${port}/v1`,
    timeouts,
    headers: {},
    ...more,
  } as unknown as Provider;
  const auth = { form: "fixed" as const, headers: {} };
  return createUpstream(row, {
    auth,
    streamType: "text/event-stream",
    loopName: LOOP_NAME,
    onStale,
    now: () => performance.now(),
  });
}

test.each<readonly [string, Partial<Provider>, Record<string, string> | undefined, string | undefined]>([
  ["an operator's address hears of the gateway", {}, undefined, LOOP_NAME],
  ["and of those before it", {}, { "cdn-loop": OTHER_NAME }, `${OTHER_NAME}, ${LOOP_NAME}`],
  ["a vendor's own address does not", { allowsPrivate: false }, undefined, undefined],
])("loops: %s", async (_what, more, headers, sent) => {
  let received: string | undefined;
  server = createServer((request, response) => {
    received = request.headers["cdn-loop"] as string | undefined;
    response.end("{}");
  });
  await listen();
  transport = openTransport(undefined, more);
  const request = { path: "/x", body: Buffer.from("{}"), isStream: false, signal: new Cancellation() };
  await transport.send(headers === undefined ? request : { ...request, headers });
  expect(received).toBe(sent);
});

/** Sends a long body to a provider of that kind, reads the answer and tries to free the body. */
async function lengthLeft(provider: "reads" | "answers without reading", inPieces: boolean): Promise<number> {
  const answer = (response: ServerResponse): unknown => response.writeHead(200).end("{}");
  server = createServer((request, response) => {
    if (provider === "reads") request.resume().on("end", () => answer(response));
    else answer(response);
  });
  await listen();
  transport = openTransport();
  const bytes = Buffer.alloc(LONG_BYTES, " ");
  const pieces = [Buffer.from("{"), bytes.subarray(1, LONG_BYTES - 1), Buffer.from("}")];
  const body = inPieces ? new BytePieces(pieces) : bytes;
  const reply = await transport.send({ path: "/x", body, isStream: false, signal: new Cancellation() });
  if (reply.ok) while ((await reply.body.read()) !== null);
  freeMemory(bytes);
  return bytes.length;
}

test.each([true, false])("is freed behind an answer (in pieces: %s)", async (inPieces) => {
  expect(await lengthLeft("reads", inPieces)).toBe(0);
});

test.each([true, false])("stays while the system still has to write it (in pieces: %s)", async (inPieces) => {
  expect(await lengthLeft("answers without reading", inPieces)).toBe(LONG_BYTES);
});

test("a request that waits for a connection as it is reset is sent on a new one", async () => {
  const sockets: Socket[] = [];
  server = createServer((request, response) => {
    sockets.push(request.socket);
    response.writeHead(200, { connection: "keep-alive" }).end("{}");
  });
  await listen();
  let stale = 0;
  transport = openTransport(() => {
    stale += 1;
  });
  const ask = () =>
    transport.send({ path: "/x", body: Buffer.from("{}"), isStream: false, signal: new Cancellation() });
  const opened = connectedSocket();
  const first = await ask();
  if (first.ok) while ((await first.body.read()) !== null);
  const socket = await opened;
  // In the turn after its answer the connection is free.
  await setImmediate();
  // undici looks whether an idle connection is still there before it writes to it. The reset is found just then.
  const second = ask();
  socket.destroy(Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" }));
  expect(await second).toMatchObject({ ok: true, status: 200 });
  expect(stale).toBe(1);
  expect(sockets).toHaveLength(2);
});

/** The next connection that the client opens. */
function connectedSocket(): Promise<Socket> {
  return new Promise((resolve) => {
    const onConnected = (message: unknown): void => {
      unsubscribe("undici:client:connected", onConnected);
      resolve((message as { readonly socket: Socket }).socket);
    };
    subscribe("undici:client:connected", onConnected);
  });
}
