// /api/events on a server of its own: nobody is left watching, and there is a limit to how many may.

import { type FastifyInstance, fastify } from "fastify";
import { afterEach, expect, test } from "vitest";
import { createWrongKeys } from "../../../../src/accounts/limits/wrong-keys.ts";
import { eventsRoute } from "../../../../src/http/api/requests/events.ts";
import { registerRoute } from "../../../../src/http/api/route.ts";
import type { OperatorContext } from "../../../../src/http/context.ts";
import { sendError, toGatewayError } from "../../../../src/http/exchange/errors.ts";
import { SILENT_LOG } from "../../../../src/telemetry/log.ts";
import { createTail } from "../../../../src/telemetry/tail.ts";
import { openEvents } from "../../../support/events.ts";
import { makeRecord, written } from "../../../support/stores/records.ts";

const servers: FastifyInstance[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    // The client opens connections in advance, which nobody else would close.
    server.server.closeAllConnections();
    await server.close();
  }
});

async function startServer(streamsMax = 10, streamsPerAccountMax = 10) {
  const requests = { histogram: async () => ({ bars: [], fromMs: 0, toMs: 0 }) };
  const tail = createTail({ requests, isShared: false, now: Date.now, log: SILENT_LOG });
  const state = { server: { adminToken: "secret", writeStallMs: 60_000 } };
  const edge = {
    settings: state,
    records: { tail },
    wrongTokens: createWrongKeys(() => 1_000),
    tokens: { isTokenShaped: () => false },
    keys: { nameOf: () => null },
    profiles: { nameOf: () => null },
    accounts: { get: async (id: string) => ({ id, name: id, createdAtMs: 0 }) },
  } as unknown as OperatorContext;
  const server = fastify({ exposeHeadRoutes: true });
  server.decorateRequest("identity", null);
  server.setErrorHandler((error, request, reply) => sendError(toGatewayError(error), request, reply));
  registerRoute(server, edge, {
    route: eventsRoute({ checkMs: 20, streamsMax, streamsPerAccountMax }),
    routes: [],
  });
  servers.push(server);
  const url = `${await server.listen({ host: "127.0.0.1", port: 0 })}/api/events`;
  const open = (query = "") => openEvents(`${url}${query}`, { authorization: "Bearer secret" });
  return { tail, open, server, state };
}

async function until(isTrue: () => boolean): Promise<void> {
  for (let waited = 0; !isTrue() && waited < 10_000; waited += 5) await new Promise((r) => setTimeout(r, 5));
  expect(isTrue()).toBe(true);
}

test("a client that leaves is watched for no more", async () => {
  const { tail, open } = await startServer();
  const streams = await Promise.all([open(), open(), open()]);
  for (const stream of streams) await stream.until("ready");
  expect(tail.count()).toBe(3);
  for (const stream of streams) stream.close();
  await until(() => tail.count() === 0);
});

test("each client hears of its account and through its filter only", async () => {
  const { tail, open } = await startServer();
  const [all, failed, other] = await Promise.all([open(), open("?status=error"), open("?account=other")]);
  for (const stream of [all, failed, other]) await stream.until("ready");
  const good = makeRecord();
  const bad = makeRecord({ status: 503, answeredBy: null });
  const foreign = makeRecord({ accountId: "other" });
  tail.tell([good, bad, foreign].map(written));
  expect([(await all.until("request")).id, (await all.until("request")).id]).toEqual([good.id, bad.id]);
  expect((await failed.until("request")).id).toBe(bad.id);
  expect((await other.until("request")).id).toBe(foreign.id);
});

test("one more than there may be is sent away", async () => {
  const { open } = await startServer(1);
  await (await open()).until("ready");
  const refused = await open();
  expect(refused.answer.status).toBe(503);
  expect(refused.answer.headers.get("retry-after")).toBe("30");
});

test("a user who may not see it any more is cut off", async () => {
  const { tail, open, state } = await startServer();
  const stream = await open();
  await stream.until("ready");
  await stream.until("alive");
  state.server.adminToken = "another";
  await expect(stream.until("request")).rejects.toThrow("the stream ended");
  await until(() => tail.count() === 0);
});

test("closing the server ends every stream cleanly", async () => {
  const { open, server } = await startServer();
  const stream = await open();
  await stream.until("ready");
  const ended = expect(stream.until("request")).rejects.toThrow("the stream ended");
  await server.close();
  await ended;
});

test("one account cannot take every place", async () => {
  const { open } = await startServer(10, 2);
  const statuses: number[] = [];
  for (const account of ["a", "a", "a", "b"]) statuses.push((await open(`?account=${account}`)).answer.status);
  expect(statuses).toEqual([200, 200, 503, 200]);
});
