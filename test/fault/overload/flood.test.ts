// More requests than the gateway can serve: admission alone, with work behind it that takes as long as the test says, and
// a whole gateway whose providers or clients are slow, which is no flood.

import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { tmpdir } from "node:os";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { openSemaphores } from "../../../src/app/worker.ts";
import { load } from "../../../src/config/load.ts";
import { createAdmissionServer } from "../../../src/http/overload/admission.ts";
import { OVERLOAD_POLICY } from "../../../src/http/overload/policy.ts";
import { createQueue, type RequestQueue } from "../../../src/http/overload/queue.ts";
import { createMetrics, type Metrics } from "../../../src/telemetry/metrics.ts";
import { SHIPPED_FORMATS } from "../../support/gateway/formats.ts";
import { HELLO, labYaml, startGateway } from "../../support/gateway/gateway.ts";
import { openSocket, type RawAnswer, sendRaw } from "../../support/network/raw-http.ts";
import { chunk, startFakeProvider, streams } from "../../support/providers/fake-provider.ts";
import { few, promisedMs, scaled } from "../../support/random.ts";

vi.setConfig({ testTimeout: scaled(900_000) });

const BURST = OVERLOAD_POLICY.flood.burstRequests;
const WORKING = OVERLOAD_POLICY.concurrency.workingMinRequests;
const HEAD = "Host: x\r\nContent-Type: application/json\r\n";
const WHOLE = `POST /v1/chat/completions HTTP/1.1\r\n${HEAD}Content-Length: 2\r\n\r\n{}`;

describe("admission, when no request finishes", () => {
  let queue: RequestQueue;
  let metrics: Metrics;
  let server: Server;
  let url: string;
  let isStuck: boolean;
  let stuck: (() => void)[];
  let answers: RawAnswer[];
  let crowd: Promise<unknown>[];

  beforeEach(async () => {
    isStuck = true;
    stuck = [];
    answers = [];
    crowd = [];
    const loaded = load({ flags: {}, env: {}, cwd: tmpdir() });
    if (!loaded.ok) throw new Error("no settings");
    queue = createQueue(200);
    metrics = createMetrics();
    const log = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() };
    const pressure = { reason: () => null, close: () => undefined };
    const semaphores = openSemaphores(() => loaded.settings.limits, null);
    const context = {
      settings: loaded.settings,
      formats: SHIPPED_FORMATS,
      pressure,
      semaphores,
      metrics,
      log,
      now: Date.now,
    };
    server = createAdmissionServer(context, queue, (_request, response) => {
      const finishWork = queue.beginWork();
      const finish = (): void => {
        finishWork();
        response.end("done");
      };
      if (isStuck) stuck.push(finish);
      else finish();
    });
    server.listen({ port: 0, host: "127.0.0.1", backlog: 2 * BURST });
    await once(server, "listening");
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterEach(async () => {
    release();
    await Promise.all(crowd);
    queue.close();
    metrics.close();
    server.closeAllConnections();
    server.close();
  });

  function gather(size: number): void {
    for (let index = 0; index < size; index += 1) {
      crowd.push(
        sendRaw(url, WHOLE.replace("Length: 2", "Length: 2\r\nConnection: close")).then((one) => answers.push(one)),
      );
    }
  }

  function release(): void {
    isStuck = false;
    for (const finish of stuck.splice(0)) finish();
  }

  const rejections = (): number => answers.filter(({ status }) => status === 503).length;

  async function flood(): Promise<void> {
    gather(WORKING + BURST + 200);
    await vi.waitFor(() => expect(rejections()).toBeGreaterThan(BURST), { timeout: 300_000 });
  }

  it("rejects in the client's format, before a body is read and at once", async () => {
    await flood();
    const path = (name: string): string => `POST /v1/${name} HTTP/1.1\r\n${HEAD}X-Request-Id: mine\r\n`;
    const unread = "Content-Length: 1000\r\n\r\n";
    const chat = await sendRaw(url, `${path("chat/completions")}${unread}`);
    expect([chat.status, chat.headers.get("x-request-id")]).toEqual([503, "mine"]);
    expect(JSON.parse(chat.body)).toMatchObject({ error: { type: "provider_error", code: "overloaded" } });
    expect(Number(chat.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    const message = await sendRaw(url, `${path("messages")}${unread}`);
    expect([message.status, message.headers.get("request-id")]).toEqual([503, "mine"]);
    expect(JSON.parse(message.body)).toMatchObject({ type: "error", error: { type: "overloaded_error" } });
    const timesMs: number[] = [];
    for (let count = 0; count < 20; count += 1) {
      const atMs = performance.now();
      expect((await sendRaw(url, `${path("chat/completions")}${unread}`)).status).toBe(503);
      timesMs.push(performance.now() - atMs);
    }
    // The machine may be busy with something else at times, but hardly each time.
    expect(Math.min(...timesMs)).toBeLessThan(promisedMs(100));
    expect(await metrics.text()).toMatch(/^switchyard_shed_requests_total\{reason="queue"\} [1-9]\d+$/m);
    release();
    expect((await sendRaw(url, `GET /healthz HTTP/1.1\r\n${HEAD}\r\n`)).status).toBe(200);
  });

  it("serves accepted and later requests as soon as requests finish again", async () => {
    await flood();
    release();
    await Promise.all(crowd);
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThan(WORKING);
    for (let count = 0; count < 50; count += 1) expect((await sendRaw(url, WHOLE)).status).toBe(200);
    expect(queue.length()).toBe(0);
  });

  it("reads retries on rejected connections, though not all in one turn", async () => {
    await flood();
    const sockets = Array.from({ length: 60 }, () => openSocket(url));
    for (let round = 1; round <= 5; round += 1) {
      expect(await Promise.all(sockets.map(askOn))).toEqual(sockets.map(() => 503));
    }
    release();
    await Promise.all(crowd);
    for (const socket of sockets) expect(await askOn(socket)).toBe(200);
    for (const socket of sockets) socket.destroy();
  });
});

async function askOn(socket: Socket): Promise<number> {
  const heard = once(socket, "data");
  socket.write(WHOLE);
  const [bytes] = (await heard) as [Buffer];
  return Number(bytes.toString().slice(9, 12));
}

describe("a whole gateway with its usual limits", () => {
  // Everything of a test runs in one process: that it is busy says nothing about the gateway.
  const env = { SWITCHYARD_QUEUE_MS: "500", SWITCHYARD_REQUESTS_PER_MINUTE: "1000000" };

  it("takes thousands of slow streams: waiting for a provider is no overload", async () => {
    const provider = await startFakeProvider(streams([chunk("alpha", { content: "Hello" })], { ending: "hang" }));
    const yaml = labYaml(provider.url, ["alpha"]).replace(/timeouts: \{[^}]*\}/, "timeouts: { idleMs: 300000 }");
    const gateway = await startGateway({ yaml, env });
    const leaving = new AbortController();
    const open = async (): Promise<Response> =>
      fetch(`${gateway.url}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
        body: JSON.stringify({ ...HELLO, stream: true }),
        signal: leaving.signal,
      });
    // Not all in one go: how long a busy machine takes to open so many is not the question.
    for (let wave = 0; wave < few(3, 5); wave += 1) {
      const opened = await Promise.all(Array.from({ length: 100 }, open));
      expect(new Set(opened.map(({ status }) => status))).toEqual(new Set([200]));
    }
    leaving.abort();
    await gateway.stop();
    await provider.close();
  });

  it("keeps no request waiting for bodies that do not arrive", async () => {
    const provider = await startFakeProvider();
    const gateway = await startGateway({ yaml: labYaml(provider.url, ["alpha"]), env });
    const head = `POST /v1/chat/completions HTTP/1.1\r\n${HEAD}Authorization: Bearer ${gateway.key}\r\n`;
    const sockets = Array.from({ length: 2 * WORKING }, () => openSocket(gateway.url));
    for (const socket of sockets) {
      socket.on("error", () => undefined);
      socket.write(`${head}Content-Length: 1000\r\n\r\n{`);
    }
    await vi.waitFor(
      async () => {
        const text = await (await gateway.get("/metrics")).text();
        expect(text).toMatch(new RegExp(`^switchyard_requests_in_flight ${sockets.length}$`, "m"));
      },
      { timeout: 300_000 },
    );
    expect((await gateway.post("/v1/chat/completions", HELLO)).status).toBe(200);
    for (const socket of sockets) socket.destroy();
    await gateway.stop();
    await provider.close();
  });
});
