// A client that sends its body late: the wait is its own, and request log, metrics and totals agree on what was ours.

import { once } from "node:events";
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { HELLO, labYaml, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { scrape } from "../../support/gateway/scrape.ts";
import { answers, type FakeProvider, startFakeProvider } from "../../support/providers/fake-provider.ts";

let provider: FakeProvider;
let gateway: TestGateway;
beforeAll(async () => {
  provider = await startFakeProvider(answers("ok"));
  gateway = await startGateway({ yaml: labYaml(provider.url) });
});
afterAll(async () => {
  await gateway.stop();
  await provider.close();
});

const TIMEOUT = { timeout: 60_000 };
const WAITED_MS = 300;

function sendHead(): ClientRequest {
  const headers = {
    authorization: `Bearer ${gateway.key}`,
    "content-type": "application/json",
    "content-length": Buffer.byteLength(JSON.stringify(HELLO)),
    "x-request-id": "late",
  };
  const sent = request(`${gateway.url}/v1/chat/completions`, { method: "POST", headers });
  sent.flushHeaders();
  return sent;
}

async function read(path: string): Promise<Record<string, unknown>> {
  return (await (await gateway.api("GET", path)).json()) as Record<string, unknown>;
}

test("a slow upload is no overhead", async () => {
  const sent = sendHead();
  await vi.waitFor(async () => {
    expect((await scrape(gateway.url)).value("switchyard_requests_in_flight")).toBe(1);
  }, TIMEOUT);
  const seenAt = performance.now();
  await vi.waitFor(() => expect(performance.now() - seenAt).toBeGreaterThan(WAITED_MS), TIMEOUT);
  const waitedMs = performance.now() - seenAt;
  sent.end(JSON.stringify(HELLO));
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  await text(answer);
  expect(answer.statusCode).toBe(200);
  await vi.waitFor(async () => expect((await gateway.api("GET", "/api/requests/late")).status).toBe(200), TIMEOUT);

  const logged = await read("/api/requests/late");
  const overheadMs = logged.overheadMs as number;
  // Both are rounded to whole milliseconds.
  expect(logged.latencyMs).toBeGreaterThanOrEqual(Math.floor(waitedMs) - 2);
  expect(overheadMs).toBeLessThanOrEqual((logged.latencyMs as number) - waitedMs + 2);
  const seconds = (await scrape(gateway.url)).value("switchyard_overhead_seconds_sum") as number;
  expect(Math.round(seconds * 1_000)).toBe(overheadMs);
  const { data } = (await read("/api/usage?by=total")) as { data: readonly { overhead: { averageMs: number } }[] };
  expect(data.map(({ overhead }) => overhead.averageMs)).toEqual([overheadMs]);
});
