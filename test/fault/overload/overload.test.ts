// Overload: a rejected request is rejected at once and before it is read, accepted ones go on, and afterwards everything is
// as before.

import { setImmediate as nextRound } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { expectError } from "../../support/errors.ts";
import { HELLO, labYaml, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { openWaitingRoom } from "../../support/gateway/waiting-room.ts";
import { sendRaw } from "../../support/network/raw-http.ts";
import { type FakeProvider, startFakeProvider } from "../../support/providers/fake-provider.ts";

let provider: FakeProvider;
let gateway: TestGateway;
afterEach(async () => {
  await gateway.stop();
  await provider.close();
});

async function open(env: Record<string, string>): Promise<void> {
  provider = await startFakeProvider();
  gateway = await startGateway({ yaml: labYaml(provider.url, ["alpha"]), env });
}

const chat = (headers: Record<string, string> = {}): Promise<Response> =>
  gateway.post("/v1/chat/completions", HELLO, headers);

/** Requests that are with the provider and stay there. */
async function occupy(count: number): Promise<Promise<Response>[]> {
  const running: Promise<Response>[] = [];
  for (let sent = 0; sent < count; sent += 1) {
    const arrived = provider.nextRequest();
    running.push(chat());
    await arrived;
  }
  return running;
}

async function shedCount(reason: string): Promise<number> {
  const text = await (await gateway.get("/metrics")).text();
  const line = new RegExp(`^switchyard_shed_requests_total\\{reason="${reason}"\\} (\\d+)$`, "m").exec(text);
  return Number(line?.[1] ?? 0);
}

async function expectOpenToOperators(): Promise<void> {
  for (const path of ["/healthz", "/readyz", "/metrics", "/openapi.json"]) {
    expect([path, (await gateway.get(path)).status]).toEqual([path, 200]);
  }
  expect((await gateway.api("GET", "/api/credits")).status).toBe(200);
}

async function expectOverloaded(answer: Response): Promise<void> {
  await expectError(answer, { status: 503, code: "overloaded" });
  expect(Number(answer.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
}

describe("as many requests at once as the process may serve", () => {
  it("rejects the next one in its format, accepts it when a place is free, and charges nothing", async () => {
    await open({ SWITCHYARD_IN_FLIGHT: "3" });
    const room = openWaitingRoom(provider, "alpha");
    const running = await occupy(3);
    await expectOverloaded(await chat());
    await expectOverloaded(await gateway.get("/v1/models"));
    await expectOverloaded(await chat({ authorization: "Bearer nonsense" }));
    const message = await gateway.post("/v1/messages", { ...HELLO, max_tokens: 5 }, { "x-request-id": "mine" });
    expect([message.status, message.headers.get("request-id")]).toEqual([503, "mine"]);
    expect(await message.json()).toMatchObject({
      type: "error",
      error: { type: "overloaded_error" },
      request_id: "mine",
    });
    await expectOpenToOperators();
    expect(await shedCount("in_flight")).toBe(4);
    room.answerAll();
    for (const answer of await Promise.all(running)) expect(answer.status).toBe(200);
    expect((await chat()).status).toBe(200);
    expect(provider.requests).toHaveLength(4);
    expect(await (await gateway.api("GET", "/api/credits")).json()).toMatchObject({ heldUsd: "0" });
  });

  it("rejects before a body is read, and does not wait for a large one", async () => {
    await open({ SWITCHYARD_IN_FLIGHT: "1" });
    const room = openWaitingRoom(provider, "alpha");
    const running = await occupy(1);
    const head = "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n";
    for (const framing of ["Content-Length: 30000000", "Transfer-Encoding: chunked"]) {
      const answer = await sendRaw(gateway.url, `${head}${framing}\r\n\r\n`);
      expect(answer.status).toBe(503);
      expect(answer.headers.get("connection")).toBe("close");
      expect(answer.headers.get("x-request-id")).toMatch(/^req_/);
    }
    room.answerAll();
    await Promise.all(running);
  });
});

describe("as many requests at once as one key may have", () => {
  it("rejects its next one with 429 and leaves other keys alone", async () => {
    await open({ SWITCHYARD_IN_FLIGHT_PER_KEY: "2" });
    const other = (await (await gateway.api("POST", "/api/keys", { name: "other" })).json()) as { key: string };
    const room = openWaitingRoom(provider, "alpha");
    const running = await occupy(2);
    const refused = await chat();
    await expectError(refused, { status: 429, code: "too_many_in_flight" });
    expect(refused.headers.get("retry-after")).toBe("1");
    expect((await gateway.get("/v1/models", { authorization: `Bearer ${other.key}` })).status).toBe(200);
    expect(await shedCount("key_in_flight")).toBe(1);
    room.answerAll();
    await Promise.all(running);
    expect((await chat()).status).toBe(200);
  });
});

describe("a process without memory to spare", () => {
  it("rejects requests and stays open to operators", async () => {
    await open({ SWITCHYARD_MEMORY_PERCENT: "1" });
    await expect.poll(async () => (await chat()).status).toBe(503);
    await expectOverloaded(await chat());
    await expectOpenToOperators();
    expect(await shedCount("memory")).toBeGreaterThan(0);
    expect(gateway.logged.filter(({ fields }) => fields.event === "overload.started")).toHaveLength(1);
  });
});

describe("an event loop that cannot keep up", () => {
  it("rejects requests while it is late under load, and accepts them again afterwards", async () => {
    await open({ SWITCHYARD_EVENT_LOOP_DELAY_MS: "100" });
    const room = openWaitingRoom(provider, "alpha");
    const running = await occupy(32);
    let isBusy = true;
    const burning = (async () => {
      while (isBusy) {
        const untilMs = performance.now() + 300;
        while (performance.now() < untilMs);
        await nextRound();
      }
    })();
    const ask = async (): Promise<number> => (await gateway.get("/v1/models")).status;
    await expect.poll(() => Promise.all(Array.from({ length: 20 }, ask))).toContain(503);
    // One request at a time has a fair place.
    expect(await ask()).toBe(200);
    expect(await shedCount("event_loop")).toBeGreaterThan(0);
    isBusy = false;
    await burning;
    await expect.poll(ask).toBe(200);
    room.answerAll();
    for (const answer of await Promise.all(running)) expect(answer.status).toBe(200);
  });
});
