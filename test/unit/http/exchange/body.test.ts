// Bodies of requests, as a server reads them: whole, and no later than their last byte.

import { type AddressInfo, connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { type FastifyInstance, fastify } from "fastify";
import { afterEach, beforeEach, expect, test } from "vitest";
import { bodyOf, handleBodies } from "../../../../src/http/exchange/body.ts";
import { BodyBudget } from "../../../../src/http/overload/body-budget.ts";

const GRACE_MS = 10_000;
const BUDGET_BYTES = 1024 * 1024;
/** Enough for a part to arrive alone. */
const PART_MS = 20;

let server: FastifyInstance;
let budget: BodyBudget;

beforeEach(async () => {
  server = fastify();
  budget = new BodyBudget(BUDGET_BYTES, () => undefined);
  server.decorateRequest("caller", null);
  handleBodies(server, budget, GRACE_MS);
  server.post("/", (request, reply) => {
    reply.send({ body: bodyOf(request).toString(), isStreamOver: request.raw.readableEnded });
  });
  await server.listen({ host: "127.0.0.1", port: 0 });
});

afterEach(() => server.close());

function open(head: string): Socket {
  const socket = connect((server.server.address() as AddressInfo).port, "127.0.0.1");
  socket.write(
    `POST / HTTP/1.1\r\nhost: test\r\nconnection: close\r\ncontent-type: application/json\r\n${head}\r\n\r\n`,
  );
  return socket;
}

async function answerOn(socket: Socket): Promise<{ body: string; isStreamOver: boolean }> {
  const [, body = ""] = (await text(socket)).split("\r\n\r\n");
  return JSON.parse(body) as { body: string; isStreamOver: boolean };
}

test("a body of declared length is read with its last byte, not with the end of its stream", async () => {
  const socket = open("content-length: 7");
  socket.write('{"a":1}');
  expect(await answerOn(socket)).toEqual({ body: '{"a":1}', isStreamOver: false });
});

test("a body that comes in parts is read when the last is here", async () => {
  const socket = open("content-length: 7");
  for (const part of ['{"a', '":', "1}"]) {
    socket.write(part);
    await pause(PART_MS);
  }
  expect((await answerOn(socket)).body).toBe('{"a":1}');
});

test("a body of unknown length is read with the end of its stream", async () => {
  const socket = open("transfer-encoding: chunked");
  socket.write('3\r\n{"a\r\n');
  socket.write('4\r\n":1}\r\n0\r\n\r\n');
  expect(await answerOn(socket)).toEqual({ body: '{"a":1}', isStreamOver: true });
});

test("the parts of a long body are freed when they are copied, and it is whole", async () => {
  const parts: Buffer[] = [];
  const server = fastify();
  server.decorateRequest("caller", null);
  handleBodies(server, budget, GRACE_MS);
  server.addHook("preParsing", (_request, _reply, payload, done) => {
    payload.on("data", (part: Buffer) => parts.push(part));
    done();
  });
  server.post("/", (request) => ({
    isWhole: bodyOf(request).equals(long),
    freed: parts.map(({ length }) => length === 0),
  }));
  const long = Buffer.from(JSON.stringify({ text: "ab".repeat(100_000) }));
  const url = await server.listen({ host: "127.0.0.1", port: 0 });
  const headers = { "content-type": "application/json" };
  const answer = await fetch(url, { method: "POST", headers, body: long });
  const { isWhole, freed } = (await answer.json()) as { isWhole: boolean; freed: boolean[] };
  await server.close();
  expect(isWhole).toBe(true);
  expect(freed).toContain(true);
});

test("a body without bytes is read as well", async () => {
  expect((await answerOn(open("content-length: 0"))).body).toBe("");
});

test("a connection that stays open brings the next body", async () => {
  const head = "POST / HTTP/1.1\r\nhost: test\r\ncontent-type: application/json\r\ncontent-length: 7\r\n";
  const bodies = ['{"a":1}', '{"b":2}'];
  const kept = connect((server.server.address() as AddressInfo).port, "127.0.0.1");
  kept.write(`${head}\r\n${bodies[0]}${head}connection: close\r\n\r\n${bodies[1]}`);
  const answers = (await text(kept)).match(/"body":"(?:[^"\\]|\\.)*"/g);
  expect(answers).toEqual(bodies.map((body) => `"body":${JSON.stringify(body)}`));
  expect(budget.usedBytes).toBe(0);
});
