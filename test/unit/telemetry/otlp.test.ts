// Samplers by their names, the bytes of an export, and that the exporter stays out of a process that exports nothing.

import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it, test, vi } from "vitest";
import type { Tracing } from "../../../src/config/options/traces.ts";
import { openOtlp } from "../../../src/telemetry/otlp.ts";
import { exportRequest, toProtobuf } from "../../../src/telemetry/otlp-message.ts";
import type { Span } from "../../../src/telemetry/spans.ts";

const SRC = join(import.meta.dirname, "../../../src");
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
};
// The ratio is compared with the number that a trace's id stands for.
const LOW = "00000001000000010000000100000001";
const HIGH = "fffffffffffffffffffffffffffffff0";
const SPAN = "b7ad6b7169203331";

/** Read back by the official protobuf classes once, field by field. */
const GOLDEN =
  "0ada010a150a130a0c736572766963652e6e616d6512030a017312c0010a0f0a0a7377697463687961726412013112ac010a10000000010000000100000001000000011208b7ad6b71692033312208b7ad6b71692033312a016e30033920a13136fe9c971741d0123d36fe9c97174a0c0a047465787412040a02c3a94a0b0a0577686f6c65120218074a140a0562656c6f77120b18ffffffffffffffffff014a110a0470617274120921000000000000e03f4a090a036f6666120210004a140a046c697374120c2a0a0a030a01610a030a01627a021802850101000000";

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
    const { isSampled } = openOtlp({ ...TRACING, sampler, samplerRatio }, "1");
    const caller = (isCallerSampled: boolean) => ({ traceId: LOW, spanId: SPAN, isSampled: isCallerSampled });
    const seen = [isSampled(LOW, null), isSampled(LOW, caller(true)), isSampled(LOW, caller(false))];
    expect(seen).toEqual(expected);
  });

  it("a ratio takes some traces and not others, always the same", () => {
    const { isSampled } = openOtlp({ ...TRACING, sampler: "traceidratio", samplerRatio: 0.5 }, "1");
    const ids = Array.from({ length: 200 }, (_, index) => (index + 1).toString(16).padStart(8, "0") + HIGH.slice(8));
    const spread = ids.map((id) => isSampled(id.split("").toReversed().join(""), null));
    expect(new Set(spread).size).toBe(2);
    expect(ids.map((id) => isSampled(id.split("").toReversed().join(""), null))).toEqual(spread);
  });
});

test("an export as protobuf", () => {
  const attributes = { text: "é", whole: 7, below: -1, part: 0.5, off: false, list: ["a", "b"] };
  const times = { beganAt: 0.5, endedAt: 1.25 };
  const span: Span = {
    name: "n",
    kind: "client",
    spanId: SPAN,
    parentSpanId: SPAN,
    ...times,
    attributes,
    isError: true,
  };
  const context = { traceId: LOW, spanId: SPAN, parentSpanId: null, isSampled: true };
  const outgoing = { span, context, clockOffsetMs: 1_700_000_000_000 };
  const request = exportRequest([outgoing], { resource: { "service.name": "s" }, version: "1" });
  expect(toProtobuf(request).toString("hex")).toBe(GOLDEN);
});

describe("the exporter", () => {
  it("joins no signal with one that lives as long as the process, which Node 20 would never forget", async () => {
    const joined = vi.spyOn(AbortSignal, "any");
    const otlp = openOtlp(TRACING, "1");
    await expect(otlp.send([])).rejects.toThrow("ECONNREFUSED");
    otlp.close();
    expect(joined).not.toHaveBeenCalled();
    joined.mockRestore();
  });

  it("ends what is under way when it is closed, and sends nothing after that", async () => {
    let calls = 0;
    const collector = createServer(() => {
      calls += 1;
      otlp.close();
    });
    await new Promise<void>((resolve) => collector.listen(0, "127.0.0.1", resolve));
    const { port } = collector.address() as AddressInfo;
    const otlp = openOtlp({ ...TRACING, timeoutMs: 60_000, url: `http://127.0.0.1:${port}/v1/traces` }, "1");
    await expect(otlp.send([])).rejects.toThrow("socket hang up");
    await expect(otlp.send([])).rejects.toThrow("closed");
    expect(calls).toBe(1);
    collector.close();
  });

  const files = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
  const text = (name: string): string => readFileSync(join(SRC, name), "utf8");

  it("is loaded only when it is needed: elsewhere its types are imported, or it is on demand", () => {
    const importers = files.filter((name) => /from "[./\w-]*\/otlp\.ts"/.test(text(name)));
    const values = importers.filter((name) => !/^import type \{[^}]*\} from "[./\w-]*\/otlp\.ts";$/m.test(text(name)));
    expect(values).toEqual([]);
    expect(files.filter((name) => text(name).includes('await import("../telemetry/otlp.ts")'))).toEqual([
      "app/traces.ts",
    ]);
  });
});
