// Metrics and log lines say the same in both protocols, and what a process counts at its end is sent.

import { expect, it } from "vitest";
import type { LogExport } from "../../../../src/config/options/telemetry.ts";
import { createMetrics } from "../../../../src/telemetry/metrics.ts";
import { createGenAiMetrics } from "../../../../src/telemetry/otlp/gen-ai.ts";
import { openLogSender } from "../../../../src/telemetry/otlp/logs.ts";
import { openMetricSender } from "../../../../src/telemetry/otlp/metrics.ts";
import type { Span } from "../../../../src/telemetry/spans.ts";
import { startCollector } from "../../../support/network/collector.ts";

const TARGET: Omit<LogExport, "url" | "protocol"> = {
  ...{ headers: {}, compression: "gzip", timeoutMs: 60_000, resource: { "service.name": "s" } },
  ...{ queueMax: 10, delayMs: 10 },
};
const STARTED_AT_MS = 1_700_000_000_000;

async function collected<Read>(
  send: (target: LogExport, path: string) => Promise<void>,
  read: (collector: Awaited<ReturnType<typeof startCollector>>) => Read,
  signal: string,
): Promise<readonly Read[]> {
  const seen: Read[] = [];
  for (const protocol of ["http/json", "http/protobuf"] as const) {
    const collector = await startCollector();
    await send({ ...TARGET, protocol, url: `${collector.url}/v1/${signal}` }, signal);
    seen.push(read(collector));
    await collector.close();
  }
  return seen;
}

const span = (attributes: Span["attributes"], seconds: number): Span => ({
  ...{ name: "chat m", kind: "client", spanId: "b7ad6b7169203331", parentSpanId: null, isError: false },
  ...{ beganAt: 0, endedAt: seconds * 1000, attributes },
});

it("metrics", async () => {
  const metrics = createMetrics("1");
  metrics.shed("memory");
  const genAi = createGenAiMetrics();
  const call = { "gen_ai.operation.name": "chat", "gen_ai.request.model": "m" };
  genAi.note([span({ ...call, "gen_ai.usage.input_tokens": 5, "gateway.request.id": "never" }, 0.64)]);
  genAi.note([span({ ...call, "error.type": "timeout" }, 100), { ...span(call, 1), kind: "server" }]);
  const readings = await metrics.readings();
  const [json, protobuf] = await collected(
    async (target) => {
      const sender = openMetricSender({ ...target, intervalMs: 1 }, "1", STARTED_AT_MS);
      await sender.send({ readings, genAi: genAi.readings(), atMs: STARTED_AT_MS + 1 });
      sender.close();
    },
    (collector) =>
      collector.metrics().map(({ points, ...metric }) => ({
        ...metric,
        // JSON has counts as numbers, and leaves out an empty unit.
        unit: metric.unit ?? "",
        points: points.map(({ count, bucketCounts, ...point }) => ({
          ...point,
          ...(count !== undefined && { count: Number(count), bucketCounts: bucketCounts?.map(Number) }),
        })),
      })),
    "metrics",
  );
  expect(json?.length).toBeGreaterThan(20);
  expect(protobuf).toEqual(json);
  const durations = json?.find(({ name }) => name === "gen_ai.client.operation.duration");
  expect(durations).toMatchObject({
    ...{ unit: "s", kind: "histogram" },
    points: [
      { attributes: call, count: 1, sum: 0.64, bucketCounts: [0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0] },
      { attributes: { ...call, "error.type": "timeout" }, bucketCounts: [...Array(14).fill(0), 1] },
    ],
  });
  expect(json?.find(({ name }) => name === "switchyard_shed_requests_total")?.points).toContainEqual(
    expect.objectContaining({
      attributes: { reason: "memory" },
      asDouble: 1,
      startTimeUnixNano: "1700000000000000000",
    }),
  );
  metrics.close();
});

it("log lines", async () => {
  const [json, protobuf] = await collected(
    async (target) => {
      const sender = openLogSender(target, "1");
      const fields = { event: "stream.broken", model: "é", attempts: [{ at: 1 }], count: 3, none: undefined, big: 7n };
      await sender.send([{ atMs: STARTED_AT_MS, level: "warn", fields, message: "broke" }]);
      sender.close();
    },
    (collector) => collector.lines(),
    "logs",
  );
  expect(json).toMatchObject([
    {
      ...{ eventName: "stream.broken", severityNumber: 13, severityText: "WARN", body: "broke" },
      attributes: { "event.name": "stream.broken", model: "é", attempts: '[{"at":1}]', count: 3, big: "7" },
    },
  ]);
  expect(protobuf?.[0]).toMatchObject({
    attributes: json?.[0]?.attributes ?? {},
    body: "broke",
    eventName: "stream.broken",
  });
});
