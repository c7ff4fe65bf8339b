// /api/events over HTTP: told at once, of one's own account only, ended by log-out and by the end of the
// process; with several processes on one PostgreSQL, told that others wrote.

import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type EventStream, openEvents } from "../../support/events.ts";
import { ADMIN_TOKEN, HELLO, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { join, type Person, setUpOperator } from "../../support/gateway/signed-in.ts";
import { createTestDatabase } from "../../support/stores/postgres.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

const streams: EventStream[] = [];
afterEach(() => {
  for (const stream of streams.splice(0)) stream.close();
});
const open = async (headers: Record<string, string>, query = "", { url } = gateway): Promise<EventStream> => {
  const stream = await openEvents(`${url}/api/events${query}`, headers);
  streams.push(stream);
  return stream;
};
const ADMIN = { authorization: `Bearer ${ADMIN_TOKEN}` };
const cookieOf = ({ cookie }: Person): Record<string, string> => ({ cookie: `switchyard_session=${cookie}` });
const ask = async (id: string, body: object = HELLO, { post } = gateway): Promise<void> => {
  await (await post("/v1/chat/completions", body, { "x-request-id": id })).text();
};

describe("a watcher", () => {
  it("hears of each request as a line of the log, when it can be read", async () => {
    const stream = await open(ADMIN);
    expect(stream.answer.headers.get("content-type")).toContain("text/event-stream");
    await stream.until("ready");
    await ask("watched");
    const line = await stream.until("request");
    const { data } = (await (await gateway.api("GET", "/api/requests?q=watched")).json()) as { data: object[] };
    expect(line).toEqual(data[0]);
  });

  it("hears only what the filter lets through", async () => {
    const stream = await open(ADMIN, "?status=4xx");
    await stream.until("ready");
    await ask("good");
    await ask("bad", {});
    expect((await stream.until("request")).requestId).toBe("bad");
  });

  it.each([
    ["nobody", {}, "", 401],
    ["a wrong token", { authorization: "Bearer no" }, "", 401],
    ["an unknown account", ADMIN, "?account=nobody", 404],
    ["a wrong filter", ADMIN, "?tier=HUGE", 400],
  ])("is refused as %s", async (_who, headers, query, status) => {
    expect((await open(headers as Record<string, string>, query)).answer.status).toBe(status);
  });
});

describe("people", () => {
  it("hear of their own account only, until they sign out", async () => {
    const operator = await setUpOperator(gateway);
    const { id } = (await (await operator.call("POST", "/api/accounts", { name: "b" })).json()) as { id: string };
    const owner = await join(gateway, { email: "owner@example.com", role: "owner", accountId: id });
    expect((await open(cookieOf(owner), "?account=default")).answer.status).toBe(404);
    const [theirs, all] = [await open(cookieOf(owner)), await open(cookieOf(operator))];
    await theirs.until("ready");
    await ask("not theirs");
    await all.until("request");
    await owner.call("DELETE", "/api/session");
    await expect(theirs.until("request")).rejects.toThrow("the stream ended");
  });

  it("who may see less from now on are cut off", async () => {
    for (const role of ["member", "billing"]) {
      const email = `${role}@example.com`;
      const viewer = await join(gateway, { email, role: "viewer", accountId: "default" });
      const stream = await open(cookieOf(viewer));
      await stream.until("ready");
      const { user } = (await (await viewer.call("GET", "/api/session")).json()) as { user: { id: string } };
      expect((await gateway.api("PATCH", `/api/users/${user.id}`, { role })).status).toBe(200);
      await expect(stream.until("request")).rejects.toThrow("the stream ended");
    }
  });
});

it("the end of the process ends the stream, and does not wait for it", async () => {
  const short = await startGateway({ env: { SWITCHYARD_DRAIN_SECONDS: "60" } });
  const stream = await open(ADMIN, "", short);
  await stream.until("ready");
  await short.stop();
  await expect(stream.until("request")).rejects.toThrow("the stream ended");
});

describe("two processes on one PostgreSQL", async () => {
  const database = await createTestDatabase();
  it.skipIf(database === null)("tell their watchers that the other wrote", async () => {
    const shared = { database: database?.url ?? "", env: { SWITCHYARD_SECRET: "a-secret-for-both-gateways" } };
    const one = await startGateway(shared);
    const two = await startGateway({ ...shared, creditsUsd: null });
    try {
      const stream = await open(ADMIN, "", two);
      await stream.until("ready");
      let isTold = false;
      const told = stream.until("changed").then(() => {
        isTold = true;
      });
      // The first look is what later ones are compared with, so one request alone may go unnoticed.
      for (let n = 0; !isTold && n < 20; n += 1) {
        await ask(`elsewhere-${n}`, HELLO, one);
        await Promise.race([told, new Promise((resolve) => setTimeout(resolve, 2_000))]);
      }
      expect(isTold).toBe(true);
    } finally {
      await two.stop();
      await one.stop();
      await database?.drop();
    }
  });
});
