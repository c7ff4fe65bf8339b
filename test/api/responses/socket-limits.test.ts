// The limits of WebSocket connections: their age, idle ones, how many a key has, clients that read nothing, a gateway that
// stops, and bytes that are no frames.

import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { labYaml, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import {
  chunk,
  type FakeProvider,
  startFakeProvider,
  streams,
  textChunks,
} from "../../support/providers/fake-provider.ts";
import { openSocket } from "../../support/providers/socket.ts";
import { expectRest } from "../../support/stores/money.ts";

let provider: FakeProvider;
let gateway: TestGateway;
let isStopped = false;
afterEach(async () => {
  if (!isStopped) await gateway.stop();
  isStopped = false;
  await provider.close();
});

async function begin(env: Record<string, string> = {}): Promise<void> {
  provider = await startFakeProvider();
  gateway = await startGateway({ yaml: labYaml(provider.url), env });
}

async function made(path: string, body: object): Promise<Record<string, string>> {
  return (await (await gateway.api("POST", path, body)).json()) as Record<string, string>;
}

describe("a warm-up", () => {
  it("needs credits, and a model that the key may use", async () => {
    await begin();
    const warmUp = { store: false, generate: false, input: "hi" };
    const client = await openSocket(gateway);
    expect((await client.ask({ ...warmUp })).response.status).toBe("completed");
    const unknown = await client.ask({ ...warmUp, model: "nothing-like-it", service_profile: "direct" });
    expect(unknown.last).toMatchObject({ type: "error", status: 404 });
    const account = await made("/api/accounts", { name: "poor" });
    const { key = "" } = await made(`/api/keys?account=${account.id}`, { name: "poor" });
    const poor = await openSocket({ url: gateway.url, key });
    expect((await poor.ask(warmUp)).last).toMatchObject({ type: "error", status: 402 });
  });
});

const FLOOD = streams(
  Array.from({ length: 4_000 }, () => chunk("alpha", { content: "~".repeat(16 * 1024) })),
  { ending: "hang" },
);

describe("a connection", () => {
  it("that is too old is told so, after the turn that runs", async () => {
    await begin({ SWITCHYARD_SOCKET_AGE_MS: "1500" });
    let finish = (): void => undefined;
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    provider.on(
      "*",
      streams(textChunks("done it", "alpha"), { before: (index) => (index < 2 ? undefined : finished) }),
    );
    const client = await openSocket(gateway);
    const turn = client.ask({ input: "hi" });
    const code = Promise.race([client.closed, new Promise((resolve) => setTimeout(resolve, 2_000, "open"))]);
    expect(await code).toBe("open");
    finish();
    expect((await turn).response.status).toBe("completed");
    const error = { code: "websocket_connection_limit_reached" };
    expect((await client.turn()).last).toMatchObject({ type: "error", status: 400, error });
    expect(await client.closed).toBe(1000);
  });

  it("that is idle is closed, and one that works is not idle", async () => {
    await begin({ SWITCHYARD_SOCKET_IDLE_MS: "400" });
    const client = await openSocket(gateway);
    let at = 0;
    provider.on(
      "*",
      streams(textChunks("a b c d e f", "alpha"), {
        before: async () => {
          at += 1;
          await new Promise((resolve) => setTimeout(resolve, 150));
        },
      }),
    );
    expect((await client.ask({ input: "hi" })).response.status).toBe("completed");
    expect(at).toBeGreaterThan(3);
    expect(await client.closed).toBe(1000);
  });

  it("is one of few of its key", async () => {
    await begin({ SWITCHYARD_IN_FLIGHT_PER_KEY: "2" });
    const [first] = [await openSocket(gateway), await openSocket(gateway)];
    expect(await openSocket(gateway).catch((error: unknown) => error)).toMatchObject({ status: 429 });
    await first.close();
    await expect
      .poll(() =>
        openSocket(gateway).then(
          () => "open",
          () => "refused",
        ),
      )
      .toBe("open");
  });

  it("counts for its key, however the header spells it", async () => {
    await begin({ SWITCHYARD_IN_FLIGHT_PER_KEY: "2" });
    const spelled = (scheme: string) =>
      openSocket(gateway, { headers: { authorization: `${scheme} ${gateway.key}` } }).then(
        () => "open",
        (error: { status: number }) => error.status,
      );
    expect([await spelled("Bearer"), await spelled("bearer"), await spelled("BEARER")]).toEqual(["open", "open", 429]);
  });

  it("is closed when too many turns wait, after the one that runs", async () => {
    await begin();
    let finish = (): void => undefined;
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    provider.on(
      "*",
      streams(textChunks("done it", "alpha"), { before: (index) => (index < 2 ? undefined : finished) }),
    );
    const client = await openSocket(gateway);
    const turn = client.ask({ input: "hi" });
    await once(client.socket, "message");
    for (let index = 0; index < 40; index += 1) client.send("no turn");
    await new Promise((resolve) => {
      client.socket.once("pong", resolve).ping();
    });
    finish();
    expect((await turn).response.status).toBe("completed");
    expect(await client.closed).toBe(1013);
    await expect(client.turn()).rejects.toThrow("closed");
  });

  it("may bring only a few messages that are no turns", async () => {
    await begin();
    const client = await openSocket(gateway);
    const refused = async (): Promise<number> => {
      for (let count = 0; ; count += 1) {
        client.send("no turn");
        if ((await client.turn().catch(() => null)) === null) return count;
      }
    };
    expect(await refused()).toBe(33);
    expect(await client.closed).toBe(1008);
  });

  it("whose client reads nothing makes the model wait, and is cut off", async () => {
    await begin({ SWITCHYARD_WRITE_STALL_MS: "500" });
    provider.on("*", FLOOD);
    const client = await openSocket(gateway);
    client.send({ type: "response.create", model: "alpha", service_profile: "direct", input: "hi" });
    await once(client.socket, "message");
    client.socket.pause();
    await expectRest(gateway);
    expect(provider.requests).toHaveLength(1);
    client.socket.terminate();
  });

  it("ends its turn and is closed when the gateway stops, an idle one at once", async () => {
    await begin({ SWITCHYARD_DRAIN_SECONDS: "5" });
    let finish = (): void => undefined;
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    provider.on(
      "*",
      streams(textChunks("done it", "alpha"), { before: (index) => (index < 2 ? undefined : finished) }),
    );
    const idle = await openSocket(gateway);
    const busy = await openSocket(gateway);
    const turn = busy.ask({ input: "hi" });
    await once(busy.socket, "message");
    const stopped = gateway.stop();
    isStopped = true;
    expect(await idle.closed).toBe(1001);
    finish();
    expect((await turn).response.status).toBe("completed");
    expect(await busy.closed).toBe(1001);
    await stopped;
  });
});

async function raw(): Promise<Socket> {
  const socket = connect(Number(new URL(gateway.url).port), "127.0.0.1");
  socket.write(
    `GET /v1/responses HTTP/1.1\r\nhost: x\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n` +
      `sec-websocket-key: ${randomBytes(16).toString("base64")}\r\nauthorization: Bearer ${gateway.key}\r\n\r\n`,
  );
  const [answer] = await once(socket, "data");
  expect(String(answer)).toMatch(/^HTTP\/1.1 101 /);
  return socket;
}

/** A frame of a client. */
function frame(first: number, payload: Buffer, isMasked = true): Buffer {
  const mask = randomBytes(4);
  const head = [first, (isMasked ? 0x80 : 0) | payload.length];
  const body = payload.map((byte, index) => (isMasked ? byte ^ (mask[index & 3] as number) : byte));
  return Buffer.concat([Buffer.from(head), ...(isMasked ? [mask] : []), body]);
}

const EMPTY = Buffer.alloc(0);

describe("frames", () => {
  it.each([
    ["without a mask", () => frame(0x81, Buffer.from("{}"), false), 1002],
    ["with a bit of an extension", () => frame(0xc1, Buffer.from("{}")), 1002],
    ["of an unknown kind", () => frame(0x83, EMPTY), 1002],
    ["that continue nothing", () => frame(0x80, EMPTY), 1002],
    ["of a ping in pieces", () => frame(0x09, EMPTY), 1002],
    ["that begin a message inside another", () => Buffer.concat([frame(0x01, EMPTY), frame(0x81, EMPTY)]), 1002],
    ["that are no UTF-8", () => frame(0x81, Buffer.from([0xff])), 1007],
    ["that close with half a code", () => frame(0x88, Buffer.from([3])), 1002],
  ])("%s end the connection", async (_, bytes, code) => {
    await begin();
    const socket = await raw();
    socket.write(bytes());
    const [answer] = (await once(socket, "data")) as [Buffer];
    expect([answer[0], answer.readUInt16BE(2)]).toEqual([0x88, code]);
    socket.destroy();
  });

  it("of a message that does not arrive end the connection, and give its room back", async () => {
    await begin({ SWITCHYARD_BODY_GRACE_MS: "200" });
    const socket = await raw();
    const head = Buffer.from([0x81, 0xfe, 0xff, 0xff, 1, 2, 3, 4]);
    socket.write(head);
    const [answer] = (await once(socket, "data")) as [Buffer];
    expect([answer[0], answer.readUInt16BE(2)]).toEqual([0x88, 1008]);
    socket.destroy();
  });

  it("in pieces of a byte are one message, with a ping between them", async () => {
    await begin();
    const socket = await raw();
    const [start, end] = ['{"type":"response.', 'create","input":"hi","model":"auto"}'].map((part) =>
      Buffer.from(part),
    );
    const bytes = [frame(0x01, start as Buffer), frame(0x89, Buffer.from("so?")), frame(0x80, end as Buffer)];
    socket.setNoDelay(true);
    for (const byte of Buffer.concat(bytes)) socket.write(Buffer.from([byte]));
    let read = "";
    socket.on("data", (piece) => {
      read += piece.toString("latin1");
    });
    while (!read.includes("response.completed")) await once(socket, "data");
    expect(read.startsWith(`\x8a\x03so?`)).toBe(true);
    socket.destroy();
  });
});
