// Times in buckets, as prom-client would show them.

import { Histogram, Registry } from "prom-client";
import { expect, test } from "vitest";
import { TimeHistogram } from "../../../src/telemetry/request-metrics.ts";

const TIMES: readonly (readonly [string, number])[] = [
  ["/a", 0.001],
  ["/a", 0.01],
  ["/a", 0.0101],
  ["/b", 7],
  ["/b", 0],
];
const BUCKETS = [0.01, 0.1, 1];

function pair(labelNames: readonly string[]) {
  const [ours, theirs] = [new Registry(), new Registry()];
  const named = { name: "times_seconds", help: "Times.", labelNames: [...labelNames], buckets: BUCKETS };
  return {
    ...{ ours, theirs },
    own: new TimeHistogram({ ...named, registers: [ours] }),
    other: new Histogram({ ...named, registers: [theirs] }),
  };
}

test("with a label, texts and values are those of prom-client", async () => {
  const { ours, theirs, own, other } = pair(["route"]);
  for (const [route, seconds] of TIMES) {
    own.note(seconds, route);
    other.observe({ route }, seconds);
  }
  expect(await ours.metrics()).toBe(await theirs.metrics());
  const readings = await theirs.getMetricsAsJSON();
  expect(await ours.getMetricsAsJSON()).toEqual(JSON.parse(JSON.stringify(readings, withoutExemplar)));
  expect(await ours.metrics()).toContain('times_seconds_bucket{le="0.01",route="/a"} 2');
});

test("without a label, zeros are shown before the first time", async () => {
  const { ours, theirs, own, other } = pair([]);
  expect(await ours.metrics()).toBe(await theirs.metrics());
  for (const [, seconds] of TIMES) {
    own.note(seconds);
    other.observe(seconds);
  }
  expect(await ours.metrics()).toBe(await theirs.metrics());
});

function withoutExemplar(name: string, value: unknown): unknown {
  return name === "exemplar" ? undefined : value;
}
