// Traces as a collector on loopback gets them: the tree of spans, what they say and what they must not, and what a
// caller's and a provider's traceparent have to do with them.

import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { HELLO, labYaml, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { type CollectedSpan, type Collector, startCollector, takes } from "../../support/network/collector.ts";
import {
  answers,
  chunk,
  type FakeProvider,
  fails,
  hangs,
  startFakeProvider,
  streams,
} from "../../support/providers/fake-provider.ts";

const SECRET_WORDS = "the-prompt-is-nobodys-business";
const CHAT = { ...HELLO, messages: [{ role: "user", content: SECRET_WORDS }] };
const INTERNAL = 1;
const SERVER = 2;
const CLIENT = 3;
const ERROR = 2;

let collector: Collector;
let provider: FakeProvider;
let gateway: TestGateway;

beforeAll(async () => {
  collector = await startCollector();
  provider = await startFakeProvider(answers("ok"));
  gateway = await startGateway({
    yaml: labYaml(provider.url, ["alpha", "beta"]),
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/`,
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_EXPORTER_OTLP_HEADERS: "x-team=routing%20team",
      OTEL_SERVICE_NAME: "gateway-under-test",
      OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test",
      OTEL_BSP_SCHEDULE_DELAY: "50",
    },
  });
}, 60_000);
afterAll(async () => {
  await gateway.stop();
  await provider.close();
  await collector.close();
});
beforeEach(() => {
  provider.reset();
  collector.behave(takes);
});

interface Caller {
  readonly traceId: string;
  readonly spanId: string;
  readonly headers: Record<string, string>;
}

function caller(flags = "01"): Caller {
  const traceId = randomBytes(16).toString("hex");
  const spanId = randomBytes(8).toString("hex");
  return { traceId, spanId, headers: { traceparent: `00-${traceId}-${spanId}-${flags}` } };
}

const ofKind = (spans: readonly CollectedSpan[], kind: number): readonly CollectedSpan[] =>
  spans.filter((span) => span.kind === kind).toSorted((a, b) => (a.startTimeUnixNano < b.startTimeUnixNano ? -1 : 1));

function expectNested(spans: readonly CollectedSpan[]): void {
  const [server] = ofKind(spans, SERVER) as [CollectedSpan];
  for (const span of spans.filter((each) => each !== server)) {
    expect(span.parentSpanId).toBe(server.spanId);
    expect(BigInt(span.startTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(server.startTimeUnixNano));
    expect(BigInt(span.endTimeUnixNano)).toBeLessThanOrEqual(BigInt(server.endTimeUnixNano));
    expect(BigInt(span.endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(span.startTimeUnixNano));
  }
}

const logOf = (traceId: string): object | undefined =>
  gateway.logged.find(({ fields }) => fields.event === "request.completed" && fields.trace_id === traceId)?.fields;

describe("a request that was answered", () => {
  test("names what was read from and written to the provider's cache as the conventions do", async () => {
    const { traceId, headers } = caller();
    const details = { cached_tokens: 30, cache_write_tokens: 40 };
    const usage = { prompt_tokens: 100, completion_tokens: 5, total_tokens: 105, prompt_tokens_details: details };
    provider.once("alpha", answers("Hello", { usage }));
    await (await gateway.post("/v1/chat/completions", CHAT, headers)).text();
    const [client] = ofKind(await collector.trace(traceId, 3), CLIENT) as [CollectedSpan];
    expect(client.attributes).toMatchObject({
      "gen_ai.usage.input_tokens": 100,
      "gen_ai.usage.cache_read.input_tokens": 30,
      "gen_ai.usage.cache_creation.input_tokens": 40,
    });
  });

  test("is a SERVER span under the caller's, a route span and one CLIENT span", async () => {
    const { traceId, spanId, headers } = caller();
    const answer = await gateway.post("/v1/chat/completions", { ...CHAT, max_tokens: 50 }, headers);
    expect(answer.status).toBe(200);
    await answer.text();
    const spans = await collector.trace(traceId, 3);
    expect(spans).toHaveLength(3);
    expectNested(spans);
    const [server] = ofKind(spans, SERVER) as [CollectedSpan];
    const [route] = ofKind(spans, INTERNAL) as [CollectedSpan];
    const [client] = ofKind(spans, CLIENT) as [CollectedSpan];
    expect(server).toMatchObject({ name: "POST /v1/chat/completions", parentSpanId: spanId, status: { code: 0 } });
    expect(server.attributes).toMatchObject({
      "http.request.method": "POST",
      "http.route": "/v1/chat/completions",
      "http.response.status_code": 200,
      "gateway.request.id": answer.headers.get("x-request-id"),
      "gateway.ending": "complete",
      "gateway.routing.model": "alpha",
      "gateway.routing.answered_by": "alpha",
      "gateway.routing.fallback": false,
      "gateway.charge.usd": 0.00002835,
    });
    expect(route.name).toBe("route");
    expect(route.attributes).toMatchObject({
      "gateway.routing.tier": expect.stringMatching(/^[A-Z]+$/),
      "gateway.routing.chain": ["alpha", "beta"],
      "gateway.routing.confidence": expect.any(Number),
    });
    expect(client.name).toBe("chat alpha");
    const { hostname, port } = new URL(provider.url);
    expect(client.attributes).toEqual({
      "gen_ai.conversation.id": expect.any(String),
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "lab",
      "gen_ai.request.model": "alpha",
      "gen_ai.request.max_tokens": 50,
      "gen_ai.response.model": "alpha",
      "gen_ai.response.finish_reasons": ["stop"],
      "gen_ai.usage.input_tokens": 12,
      "gen_ai.usage.output_tokens": 5,
      "gen_ai.usage.cost": 0.00002835,
      "server.address": hostname,
      "server.port": Number(port),
      "http.response.status_code": 200,
      "gateway.provider": "lab",
      "gateway.routing.attempt": 1,
      "gateway.routing.model": "alpha",
    });
    expect(server.resource).toMatchObject({
      "service.name": "gateway-under-test",
      "service.version": expect.any(String),
      "deployment.environment.name": "test",
    });
    expect(logOf(traceId)).toMatchObject({ trace_id: traceId, span_id: server.spanId });
  });

  test("goes to /v1/traces with the configured headers", () => {
    const [post] = collector.posts;
    expect(post).toMatchObject({ path: "/v1/traces", headers: { "x-team": "routing team" } });
  });

  test("as a stream: the CLIENT span lasts to its end and knows its first chunk", async () => {
    provider.on(
      "alpha",
      streams([chunk("alpha", { content: "one " }), chunk("alpha", { content: "two" }), chunk("alpha", {}, "stop")]),
    );
    const { traceId, headers } = caller();
    const answer = await gateway.post("/v1/chat/completions", { ...CHAT, stream: true }, headers);
    expect(await answer.text()).toContain("[DONE]");
    const spans = await collector.trace(traceId, 3);
    expectNested(spans);
    const [client] = ofKind(spans, CLIENT) as [CollectedSpan];
    expect(client.attributes).toMatchObject({
      "gen_ai.request.stream": true,
      "gen_ai.response.finish_reasons": ["stop"],
      "gen_ai.response.time_to_first_chunk": expect.any(Number),
      "gen_ai.usage.output_tokens": expect.any(Number),
    });
    const seconds = Number(BigInt(client.endTimeUnixNano) - BigInt(client.startTimeUnixNano)) / 1e9;
    expect(client.attributes["gen_ai.response.time_to_first_chunk"]).toBeLessThanOrEqual(seconds);
  });
});

describe("a request that did not go well", () => {
  test("fallback: two CLIENT spans, the first an error without the provider's words", async () => {
    provider.once("alpha", fails(429, { message: `you said: ${SECRET_WORDS}` }));
    const { traceId, headers } = caller();
    expect((await gateway.post("/v1/chat/completions", CHAT, headers)).status).toBe(200);
    const spans = await collector.trace(traceId, 4);
    expectNested(spans);
    const clients = ofKind(spans, CLIENT);
    expect(clients).toHaveLength(2);
    expect(clients[0]).toMatchObject({ name: "chat alpha", status: { code: ERROR } });
    expect(clients[0]?.attributes).toMatchObject({
      "error.type": "status_429",
      "http.response.status_code": 429,
      "gateway.routing.attempt": 1,
    });
    expect(clients.at(-1)).toMatchObject({ name: "chat beta", status: { code: 0 } });
    expect(clients.at(-1)?.attributes).toMatchObject({ "gateway.routing.model": "beta" });
    expect(ofKind(spans, SERVER)[0]?.attributes).toMatchObject({
      "gateway.routing.fallback": true,
      "gateway.routing.answered_by": "beta",
    });
  });

  test("the whole chain fails: the SERVER span is an error", async () => {
    provider.on("alpha", fails(500));
    provider.on("beta", fails(500));
    const { traceId, headers } = caller();
    expect((await gateway.post("/v1/chat/completions", CHAT, headers)).status).toBe(503);
    const spans = await collector.trace(traceId, 4);
    const [server] = ofKind(spans, SERVER) as [CollectedSpan];
    expect(server.status.code).toBe(ERROR);
    expect(server.attributes).toMatchObject({ "error.type": "503", "http.response.status_code": 503 });
  });

  test("refused before routing: one span, no error of ours", async () => {
    const { traceId, headers } = caller();
    expect((await gateway.post("/v1/chat/completions", { messages: [] }, headers)).status).toBe(422);
    const [server, ...others] = await collector.trace(traceId, 1);
    expect(others).toEqual([]);
    expect(server).toMatchObject({ kind: SERVER, status: { code: 0 } });
    expect(server?.attributes).toMatchObject({ "http.response.status_code": 422 });
  });

  test("a stream breaks off: its CLIENT span and the SERVER span are errors, though the status was 200", async () => {
    provider.on("alpha", streams([chunk("alpha", { content: "half an ans" })], { ending: "cut" }));
    const { traceId, headers } = caller();
    const answer = await gateway.post("/v1/chat/completions", { ...CHAT, stream: true }, headers);
    expect(await answer.text()).toContain("stream_interrupted");
    const spans = await collector.trace(traceId, 3);
    expectNested(spans);
    const [server] = ofKind(spans, SERVER) as [CollectedSpan];
    const [client] = ofKind(spans, CLIENT) as [CollectedSpan];
    expect([server.status.code, client.status.code]).toEqual([ERROR, ERROR]);
    expect(server.attributes).toMatchObject({ "error.type": "provider-broke", "http.response.status_code": 200 });
    expect(client.attributes).toMatchObject({ "error.type": "stream_broken" });
  });

  test("the client leaves in the middle of a stream: what came until then is counted", async () => {
    provider.on("alpha", streams([chunk("alpha", { content: "one two three four" })], { ending: "hang" }));
    const { traceId, headers } = caller();
    const leaving = new AbortController();
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { ...headers, authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
      body: JSON.stringify({ ...CHAT, stream: true }),
      signal: leaving.signal,
    });
    const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    leaving.abort();
    await reader.read().catch(() => undefined);
    const spans = await collector.trace(traceId, 3);
    expectNested(spans);
    const [server] = ofKind(spans, SERVER) as [CollectedSpan];
    const [client] = ofKind(spans, CLIENT) as [CollectedSpan];
    expect(server.attributes).toMatchObject({ "gateway.ending": "client-gone", "http.response.status_code": 200 });
    expect([server.status.code, client.status.code]).toEqual([0, 0]);
    expect(client.attributes).toMatchObject({ "gen_ai.usage.output_tokens": 5, "gateway.usage.estimated": true });
  });

  test("the client leaves: its spans end and say so", async () => {
    provider.on("alpha", hangs);
    const { traceId, headers } = caller();
    const leaving = new AbortController();
    const arrived = provider.nextRequest();
    const left = fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { ...headers, authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
      body: JSON.stringify({ ...CHAT, stream: true }),
      signal: leaving.signal,
    }).catch(() => "left");
    await arrived;
    leaving.abort();
    expect(await left).toBe("left");
    const spans = await collector.trace(traceId, 3);
    expectNested(spans);
    const [server] = ofKind(spans, SERVER) as [CollectedSpan];
    expect(server.status.code).toBe(0);
    expect(server.attributes).toMatchObject({ "gateway.ending": "client-gone", "http.response.status_code": 499 });
    expect(ofKind(spans, CLIENT)).toHaveLength(1);
  });
});

test("a request in the Messages format has the same spans", async () => {
  const { traceId, headers } = caller();
  const body = { model: "auto", max_tokens: 20, messages: [{ role: "user", content: SECRET_WORDS }] };
  await (await gateway.post("/v1/messages", body, headers)).text();
  const spans = await collector.trace(traceId, 3);
  expectNested(spans);
  expect(spans.map(({ name }) => name).toSorted()).toEqual(["POST /v1/messages", "chat alpha", "route"]);
});

describe("a caller's traceparent", () => {
  test.each([
    ["is missing", undefined],
    ["has an all-zero trace", `00-${"0".repeat(32)}-${"1".repeat(16)}-01`],
    ["is text", "not a traceparent"],
  ])("that %s begins a new trace", async (_name, traceparent) => {
    const answer = await gateway.get("/v1/models", traceparent === undefined ? {} : { traceparent });
    await answer.text();
    const id = answer.headers.get("x-request-id");
    await expect
      .poll(() => collector.spans().find(({ attributes }) => attributes["gateway.request.id"] === id), {
        timeout: 60_000,
      })
      .toMatchObject({ name: "GET /v1/models", traceId: expect.stringMatching(/^(?!0+$)[0-9a-f]{32}$/) });
    const span = collector.spans().find(({ attributes }) => attributes["gateway.request.id"] === id);
    expect(span?.parentSpanId ?? "").toBe("");
  });

  test("that is not sampled is followed: no spans, but the log has its trace", async () => {
    const unsampled = caller("00");
    const sampled = caller();
    await (await gateway.get("/v1/models", unsampled.headers)).text();
    await (await gateway.get("/v1/models", sampled.headers)).text();
    await collector.trace(sampled.traceId, 1);
    expect(collector.spans().filter(({ traceId }) => traceId === unsampled.traceId)).toEqual([]);
    expect(logOf(unsampled.traceId)).toBeDefined();
  });

  test("goes to no provider that was not named for it", async () => {
    const { traceId, headers } = caller();
    await (await gateway.post("/v1/chat/completions", CHAT, { ...headers, tracestate: "a=b", baggage: "c=d" })).text();
    const sent = JSON.stringify(provider.requests.at(-1)?.headers);
    expect(sent).not.toMatch(/traceparent|tracestate|baggage/);
    expect(sent).not.toContain(traceId);
  });
});

test("no span ever holds a prompt or a key", () => {
  const everything = collector.posts.map(({ body }) => body.toString("utf8")).join("\n");
  expect(everything).toContain("gen_ai.request.model");
  expect(everything).not.toContain(SECRET_WORDS);
  expect(everything).not.toContain(gateway.key);
  expect(everything).not.toContain("lab-secret");
});
