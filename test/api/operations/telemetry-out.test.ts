// Traces with content, metrics and log lines by OTLP, as the collectors of Langfuse and Datadog read them. The recipes are
// those of the documentation: its commands are run, with the address of a collector here in place of theirs.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { HELLO, labYaml, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { type CollectedSpan, type Collector, startCollector } from "../../support/network/collector.ts";
import { answers, type FakeProvider, fails, startFakeProvider } from "../../support/providers/fake-provider.ts";

const PAGE = readFileSync(join(import.meta.dirname, "../../../docs/operate/traces.md"), "utf8");
const ASKED = "What is the capital of Peru?";
const ANSWERED = "Lima, of course.";
const DETAILS = { cached_tokens: 30, cache_write_tokens: 40 };
const USAGE = { prompt_tokens: 100, completion_tokens: 5, total_tokens: 105, prompt_tokens_details: DETAILS };
const CLIENT = 3;

/** The variables that the recipe below a heading sets. */
function recipe(
  name: string,
  address: string,
  collector: Collector,
  env: Record<string, string>,
): Record<string, string> {
  const [, script = ""] = new RegExp(`\\*\\*${name}\\*\\*[^]*?\`\`\`sh\\n([^]*?)\`\`\``).exec(PAGE) ?? [];
  expect(script).toContain(address);
  const run = `${script.replaceAll(address, collector.url)}\nenv`;
  const printed = execFileSync("bash", ["-c", run], {
    encoding: "utf8",
    env: { PATH: process.env.PATH ?? "", ...env },
  });
  const lines = printed.split("\n").filter((line) => line.startsWith("OTEL_"));
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]));
}

let provider: FakeProvider;
const closing: (() => Promise<void>)[] = [];

beforeAll(async () => {
  provider = await startFakeProvider(answers(ANSWERED, { usage: USAGE }));
});
beforeEach(() => provider.reset());
afterAll(async () => {
  for (const close of closing.toReversed()) await close();
  await provider.close();
});

async function observed(name: string, address: string, env: Record<string, string>) {
  const collector = await startCollector();
  closing.push(collector.close);
  const variables = recipe(name, address, collector, env);
  const gateway = await startGateway({
    yaml: labYaml(provider.url, ["alpha", "beta"]),
    env: { ...variables, OTEL_BSP_SCHEDULE_DELAY: "50", OTEL_METRIC_EXPORT_INTERVAL: "100" },
  });
  closing.push(gateway.stop);
  return { collector, gateway };
}

const TOOL_CALL = { id: "call_1", type: "function", function: { name: "atlas", arguments: '{"of":"Peru"}' } };
const CHAT = {
  ...HELLO,
  user: "ada",
  service_session: "trip",
  messages: [
    { role: "system", content: "Be brief." },
    { role: "user", content: [{ type: "text", text: "Hello" }] },
    { role: "assistant", content: null, tool_calls: [TOOL_CALL] },
    { role: "tool", tool_call_id: "call_1", content: "Lima" },
    { role: "user", content: ASKED },
  ],
};

async function ask(gateway: TestGateway, traceId: string, body: object = CHAT): Promise<void> {
  const headers = { traceparent: `00-${traceId}-00f067aa0ba902b7-01` };
  const answer = await gateway.post("/v1/chat/completions", body, headers);
  expect(answer.status).toBe(200);
  await answer.text();
}

/** A generation as Langfuse makes it of a span: its table "Property mapping", read on 19 November 2026. */
function inLangfuse({ attributes, resource, status }: CollectedSpan) {
  const total = attributes["gen_ai.usage.cost"];
  const read = Number(attributes["gen_ai.usage.cache_read.input_tokens"] ?? 0);
  const written = Number(attributes["gen_ai.usage.cache_creation.input_tokens"] ?? 0);
  return {
    type: ["chat", "text_completion", "generate_content"].includes(String(attributes["gen_ai.operation.name"]))
      ? "generation"
      : "span",
    model: attributes["gen_ai.response.model"] ?? attributes["gen_ai.request.model"],
    input: JSON.parse(String(attributes["gen_ai.input.messages"] ?? "null")),
    output: JSON.parse(String(attributes["gen_ai.output.messages"] ?? "null")),
    usage: {
      input: Number(attributes["gen_ai.usage.input_tokens"]) - read - written,
      ...{ input_cached_tokens: read, input_cache_creation: written },
      output: attributes["gen_ai.usage.output_tokens"],
    },
    cost: total,
    sessionId: attributes["gen_ai.conversation.id"],
    userId: attributes["user.id"],
    version: resource["service.version"],
    level: status?.code === 2 ? "ERROR" : "DEFAULT",
  };
}

const INPUT = [
  { role: "system", parts: [{ type: "text", content: "Be brief." }] },
  { role: "user", parts: [{ type: "text", content: "Hello" }] },
  { role: "assistant", parts: [{ type: "tool_call", id: "call_1", name: "atlas", arguments: { of: "Peru" } }] },
  { role: "tool", parts: [{ type: "tool_call_response", id: "call_1", response: "Lima" }] },
  { role: "user", parts: [{ type: "text", content: ASKED }] },
];
const OUTPUT = [{ role: "assistant", parts: [{ type: "text", content: ANSWERED }], finish_reason: "stop" }];

test("Langfuse sees a generation with prompt, answer, tokens, cost, session and user", async () => {
  const keys = { PUBLIC_KEY: "pk-lf-1", SECRET_KEY: "sk-lf-2=" };
  const { collector, gateway } = await observed("Langfuse", "https://cloud.langfuse.com", keys);
  const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
  await ask(gateway, traceId);
  const spans = await collector.trace(traceId, 3);
  const [post] = collector.posts;
  const signedIn = `Basic ${Buffer.from("pk-lf-1:sk-lf-2=").toString("base64")}`;
  expect(post).toMatchObject({
    path: "/api/public/otel/v1/traces",
    headers: { authorization: signedIn, "content-type": "application/x-protobuf", "x-langfuse-ingestion-version": "4" },
  });
  const generations = spans.map(inLangfuse).filter(({ type }) => type === "generation");
  expect(generations).toEqual([
    {
      ...{ type: "generation", model: "alpha", input: INPUT, output: OUTPUT },
      usage: { input: 30, input_cached_tokens: 30, input_cache_creation: 40, output: 5 },
      cost: expect.any(Number),
      sessionId: expect.any(String),
      ...{ userId: "ada", version: expect.any(String), level: "DEFAULT" },
    },
  ]);
  expect(generations[0]?.cost).toBeGreaterThan(0);
  // Langfuse takes traces alone.
  expect(new Set(collector.posts.map(({ path }) => path))).toEqual(new Set(["/api/public/otel/v1/traces"]));
  expect(gateway.logged.some(({ fields }) => fields.event === "otlp.export_failed")).toBe(false);
});

describe("Datadog", () => {
  const traceId = "0af7651916cd43dd8448eb211c80319c";
  let collector: Collector;
  let gateway: TestGateway;
  beforeAll(async () => {
    ({ collector, gateway } = await observed("Datadog", "https://otlp.datadoghq.com", { DD_API_KEY: "dd-key" }));
  });

  test("sees a call to a model by the conventions of 1.37 or newer", async () => {
    await ask(gateway, traceId);
    const spans = await collector.trace(traceId, 3);
    expect(collector.posts[0]).toMatchObject({
      path: "/v1/traces",
      headers: { "dd-api-key": "dd-key", "dd-otlp-source": "llmobs", "content-type": "application/x-protobuf" },
    });
    // The application is named by the service of the root span.
    for (const { resource } of spans) expect(resource).toMatchObject({ "service.name": "switchyard" });
    const [call] = spans.filter(({ kind }) => kind === CLIENT);
    expect(call?.attributes).toMatchObject({
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "lab",
      "gen_ai.request.model": "alpha",
      "gen_ai.response.finish_reasons": ["stop"],
      "gen_ai.usage.input_tokens": 100,
      "gen_ai.usage.output_tokens": 5,
    });
    expect(JSON.parse(String(call?.attributes["gen_ai.input.messages"]))).toEqual(INPUT);
    expect(JSON.parse(String(call?.attributes["gen_ai.output.messages"]))).toEqual(OUTPUT);
  });

  test("a long prompt is cut to its newest part, and a fallback sends it once", async () => {
    const long = "b7ad6b7169203331a3ce929d0e0e4736";
    provider.once("alpha", fails(500));
    const messages = [
      { role: "user", content: "first ".repeat(20_000) },
      { role: "assistant", content: "yes" },
      { role: "user", content: ASKED },
    ];
    await ask(gateway, long, { ...HELLO, messages });
    const spans = await collector.trace(long, 4);
    const inputs = spans.flatMap(({ attributes }) => attributes["gen_ai.input.messages"] ?? []).map(String);
    expect(inputs).toHaveLength(1);
    expect(inputs[0]?.length).toBeLessThan(40_000);
    const shown = JSON.parse(inputs[0] ?? "[]");
    expect(shown.at(-1)).toEqual({ role: "user", parts: [{ type: "text", content: ASKED }] });
    expect(shown[0].parts[0].content).toMatch(/^first first .*…$/);
  });
});

describe("metrics and log lines", () => {
  const traceId = "0af7651916cd43dd8448eb211c803aaa";
  let collector: Collector;
  let gateway: TestGateway;
  beforeAll(async () => {
    ({ collector, gateway } = await observed("A collector", "http://127.0.0.1:4318", {}));
    await ask(gateway, traceId);
    await ask(gateway, "0af7651916cd43dd8448eb211c803bbb");
  });

  const metric = (name: string) => collector.metrics().find((each) => each.name === name);
  const requests = () =>
    (metric("switchyard_requests_total")?.points ?? []).reduce((sum, { asDouble = 0 }) => sum + asDouble, 0);

  test("have what /metrics shows, under the same names", async () => {
    await vi.waitFor(() => expect(requests()).toBe(2), { timeout: 60_000 });
    const shown = await (await gateway.get("/metrics", { authorization: "Bearer test-admin-token" })).text();
    const names = [...shown.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name);
    const sent = collector.metrics().map(({ name }) => name);
    // One without any value yet is not sent.
    const valued = names.filter((name) =>
      new RegExp(`^${name}(?:_count)?(?:\\{[^}]*\\})? [\\d.e+-]+$`, "m").test(shown),
    );
    expect(valued.length).toBeGreaterThan(30);
    expect(valued.filter((name) => !sent.includes(name as string))).toEqual([]);
    expect(metric("switchyard_requests_total")).toMatchObject({
      kind: "sum",
      isMonotonic: true,
      aggregationTemporality: 2,
    });
    expect(metric("switchyard_requests_in_flight")?.kind).toBe("gauge");
    const duration = metric("switchyard_request_duration_seconds");
    const point = duration?.points.find(({ attributes }) => attributes.route === "/v1/chat/completions");
    expect(Number(point?.count)).toBe(2);
    expect(point?.bucketCounts).toHaveLength((point?.explicitBounds?.length ?? 0) + 1);
    expect((point?.bucketCounts ?? []).reduce((sum: number, each) => sum + Number(each), 0)).toBe(2);
    expect(duration?.resource).toMatchObject({
      "service.name": "switchyard",
      "service.instance.id": expect.any(String),
    });
  });

  test("have those of generative AI, by model, provider and kind of token", async () => {
    await vi.waitFor(() => expect(requests()).toBe(2), { timeout: 60_000 });
    const call = { "gen_ai.operation.name": "chat", "gen_ai.provider.name": "lab", "gen_ai.request.model": "alpha" };
    expect(metric("gen_ai.client.operation.duration")).toMatchObject({
      ...{ kind: "histogram", unit: "s" },
      points: [{ attributes: call, count: "2" }],
    });
    const tokens = metric("gen_ai.client.token.usage")?.points ?? [];
    expect(tokens.map(({ attributes, sum, count }) => [attributes["gen_ai.token.type"], sum, Number(count)])).toEqual([
      ["input", 200, 2],
      ["output", 10, 2],
    ]);
    // No stream was asked for.
    expect(metric("gen_ai.client.operation.time_to_first_chunk")).toBeUndefined();
  });

  test("lines have their event, severity, trace and fields, and no prompt or key", async () => {
    const line = await vi.waitFor(
      () => {
        const found = collector.lines().find((each) => each.traceId === traceId);
        if (found === undefined) throw new Error("not yet");
        return found;
      },
      { timeout: 60_000 },
    );
    expect(line).toMatchObject({
      ...{ eventName: "request.completed", severityText: "INFO", severityNumber: 9, body: "request" },
      attributes: { "event.name": "request.completed", status: 200, tier: expect.any(String), model: "alpha" },
      resource: { "service.name": "switchyard" },
    });
    const server = (await collector.trace(traceId, 3)).find(({ kind }) => kind === 2);
    expect(line.spanId).toBe(server?.spanId);
    const everything = JSON.stringify([collector.lines(), collector.spans(), collector.metrics()]);
    expect(everything).not.toContain(ASKED);
    expect(everything).not.toContain(ANSWERED);
    expect(everything).not.toContain(gateway.key);
  });
});
