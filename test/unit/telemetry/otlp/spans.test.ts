// Samplers by their names, the content of an export, and that the exporter stays out of a process that exports nothing.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Tracing } from "../../../../src/config/options/telemetry.ts";
import { openSpanSender } from "../../../../src/telemetry/otlp/spans.ts";
import type { Span } from "../../../../src/telemetry/spans.ts";
import { startCollector, takes } from "../../../support/network/collector.ts";

const SRC = join(import.meta.dirname, "../../../../src");
const TRACING: Tracing = {
  url: "http://127.0.0.1:1/v1/traces",
  headers: {},
  protocol: "http/json",
  compression: "none",
  timeoutMs: 1_000,
  resource: {},
  sampler: "always_on",
  samplerRatio: 1,
  queueMax: 10,
  delayMs: 1_000,
  hasContent: false,
};
// The ratio is compared with the number that a trace's id stands for.
const LOW = "00000001000000010000000100000001";
const HIGH = "fffffffffffffffffffffffffffffff0";
const SPAN = "b7ad6b7169203331";

describe("which requests are traced", () => {
  it.each<readonly [sampler: string, ratio: number, alone: boolean, sampled: boolean, unsampled: boolean]>([
    ["always_on", 1, true, true, true],
    ["always_off", 1, false, false, false],
    ["traceidratio", 0, false, false, false],
    ["traceidratio", 1, true, true, true],
    ["parentbased_always_on", 1, true, true, false],
    ["parentbased_always_off", 1, false, true, false],
    ["parentbased_traceidratio", 0, false, true, false],
    ["parentbased_traceidratio", 1, true, true, false],
  ])("%s with %d: alone %s, in a sampled trace %s, in one that is not %s", (sampler, samplerRatio, ...expected) => {
    const { isSampled } = openSpanSender({ ...TRACING, sampler, samplerRatio }, "1");
    const caller = (isCallerSampled: boolean) => ({ traceId: LOW, spanId: SPAN, isSampled: isCallerSampled });
    const seen = [isSampled(LOW, null), isSampled(LOW, caller(true)), isSampled(LOW, caller(false))];
    expect(seen).toEqual(expected);
  });

  it("a ratio takes some traces and not others, always the same", () => {
    const { isSampled } = openSpanSender({ ...TRACING, sampler: "traceidratio", samplerRatio: 0.5 }, "1");
    const ids = Array.from({ length: 200 }, (_, index) => (index + 1).toString(16).padStart(8, "0") + HIGH.slice(8));
    const spread = ids.map((id) => isSampled(id.split("").toReversed().join(""), null));
    expect(new Set(spread).size).toBe(2);
    expect(ids.map((id) => isSampled(id.split("").toReversed().join(""), null))).toEqual(spread);
  });
});

describe("an export", () => {
  const attributes = { text: "é", whole: 7, below: -1, part: 0.5, off: false, list: ["a", "b"] };
  const span: Span = {
    ...{ name: "n", kind: "client", spanId: SPAN, parentSpanId: SPAN, beganAt: 0.5, endedAt: 1.25 },
    ...{ attributes, isError: true },
  };
  const context = { traceId: LOW, spanId: SPAN, parentSpanId: null, isSampled: true };
  const outgoing = { span, context, clockOffsetMs: 1_700_000_000_000 };
  const exported = async (protocol: Tracing["protocol"]): Promise<Buffer> => {
    const collector = await startCollector();
    const otlp = openSpanSender({ ...TRACING, protocol, url: collector.url, resource: { "service.name": "s" } }, "1");
    await otlp.send([outgoing]);
    otlp.close();
    await collector.close();
    return collector.posts[0]?.body as Buffer;
  };

  it("as JSON has the span, its process and its scope", async () => {
    const { resourceSpans } = JSON.parse(String(await exported("http/json")));
    expect(resourceSpans).toHaveLength(1);
    const [{ resource, scopeSpans }] = resourceSpans;
    expect(resource.attributes).toContainEqual({ key: "service.name", value: { stringValue: "s" } });
    expect(resource.attributes).toContainEqual({ key: "service.version", value: { stringValue: "1" } });
    expect(scopeSpans[0].scope).toMatchObject({ name: "switchyard", version: "1" });
    expect(scopeSpans[0].spans).toMatchObject([
      {
        ...{ traceId: LOW, spanId: SPAN, parentSpanId: SPAN, name: "n", kind: 3, status: { code: 2 } },
        ...{ startTimeUnixNano: "1700000000000500000", endTimeUnixNano: "1700000000001250000" },
        attributes: [
          { key: "text", value: { stringValue: "é" } },
          { key: "whole", value: { intValue: 7 } },
          { key: "below", value: { intValue: -1 } },
          { key: "part", value: { doubleValue: 0.5 } },
          { key: "off", value: { boolValue: false } },
          { key: "list", value: { arrayValue: { values: [{ stringValue: "a" }, { stringValue: "b" }] } } },
        ],
      },
    ]);
  });

  it("as protobuf has ids as bytes and times as nanoseconds", async () => {
    const body = (await exported("http/protobuf")).toString("hex");
    const nanoseconds = Buffer.alloc(8);
    nanoseconds.writeBigUInt64LE(1_700_000_000_000_500_000n);
    const pieces = [`0a10${LOW}1208${SPAN}`, nanoseconds.toString("hex"), Buffer.from("service.name").toString("hex")];
    for (const piece of pieces) expect(body).toContain(piece);
  });
});

describe("the exporter", () => {
  it("tries again when the connection is cut", async () => {
    const collector = await startCollector();
    collector.behave((response) => {
      collector.behave(takes);
      response.destroy();
    });
    const otlp = openSpanSender({ ...TRACING, timeoutMs: 60_000, url: collector.url }, "1");
    await otlp.send([]);
    expect(collector.posts).toHaveLength(2);
    otlp.close();
    await collector.close();
  });

  it("ends what is under way when it is closed, and sends nothing after that", async () => {
    const collector = await startCollector();
    collector.behave(() => otlp.close());
    const otlp = openSpanSender({ ...TRACING, timeoutMs: 60_000, url: collector.url }, "1");
    await expect(otlp.send([])).rejects.toThrow("closed");
    await expect(otlp.send([])).rejects.toThrow("closed");
    expect(collector.posts).toHaveLength(1);
    await collector.close();
  });

  const files = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
  const text = (name: string): string => readFileSync(join(SRC, name), "utf8");

  it("is loaded only when it is needed: elsewhere its types are imported, or it is on demand", () => {
    const loading = files.filter((name) => /^import (?!type)[^;]*from "@opentelemetry/m.test(text(name)));
    expect(loading.map((name) => name.replace("telemetry/otlp/", "")).toSorted()).toEqual([
      "logs.ts",
      "metrics.ts",
      "sender.ts",
      "spans.ts",
    ]);
    const others = files.filter((name) => !loading.includes(name));
    const heavy = /^import (?!type)[^;]*from "[./\w-]*otlp\/(?:logs|metrics|sender|spans)\.ts"/m;
    expect(others.filter((name) => heavy.test(text(name)))).toEqual([]);
    const onDemand = /await import\("\.\.\/telemetry\/otlp\/(\w+)\.ts"\)/g;
    expect([...text("app/telemetry.ts").matchAll(onDemand)].map(([, name]) => name).toSorted()).toEqual([
      "logs",
      "metrics",
      "spans",
    ]);
  });
});
