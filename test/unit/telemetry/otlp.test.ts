// Samplers by their names, and that OpenTelemetry's packages stay out of a process that exports nothing.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Tracing } from "../../../src/config/options/traces.ts";
import { openOtlp } from "../../../src/telemetry/otlp.ts";

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

describe("OpenTelemetry's packages", () => {
  const files = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
  const text = (name: string): string => readFileSync(join(SRC, name), "utf8");

  it("are imported by one file", () => {
    expect(files.filter((name) => text(name).includes('"@opentelemetry/'))).toEqual(["telemetry/otlp.ts"]);
  });

  it("which is loaded only when it is needed: elsewhere its types are imported, or it is on demand", () => {
    const importers = files.filter((name) => /from "[./\w-]*\/otlp\.ts"/.test(text(name)));
    const values = importers.filter((name) => !/^import type \{[^}]*\} from "[./\w-]*\/otlp\.ts";$/m.test(text(name)));
    expect(values).toEqual([]);
    expect(files.filter((name) => text(name).includes('await import("../telemetry/otlp.ts")'))).toEqual([
      "app/traces.ts",
    ]);
  });
});
