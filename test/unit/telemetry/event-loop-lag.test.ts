// How late the event loop runs, as /metrics shows it.

import { setTimeout as wait } from "node:timers/promises";
import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { watchProcess } from "../../../src/telemetry/metrics.ts";

const PREFIX = "switchyard_nodejs_eventloop_lag";

/** A busy machine is late now and then. Each reading starts afresh. */
const SEVERAL = { interval: 350, timeout: 120_000 };

async function read(registry: Registry): Promise<Map<string, number>> {
  const lines = (await registry.metrics()).split("\n").filter((line) => line.startsWith(PREFIX));
  return new Map(
    lines.map((line) => line.split(" ") as [string, string]).map(([name, value]) => [name, Number(value)]),
  );
}

test("a loop that stood still is late by that time, until it was read", async () => {
  const registry = new Registry();
  const startedAtMs = performance.now();
  watchProcess(registry);
  await wait(250);
  const untilMs = performance.now() + 400;
  while (performance.now() < untilMs);
  const readMax = async (): Promise<number> => (await read(registry)).get(`${PREFIX}_max_seconds`) as number;
  // Longer than the 100 ms between two looks. A reading before the next look would forget the time in between.
  await wait(350);
  const late = await readMax();
  expect(late).toBeGreaterThan(0.25);
  expect(late).toBeLessThan((performance.now() - startedAtMs) / 1000);
  await expect.poll(readMax, SEVERAL).toBeLessThan(late);
});

test("every part has a number under its usual name, and the time between two looks is no lag", async () => {
  const registry = new Registry();
  watchProcess(registry);
  await wait(350);
  const lags = await read(registry);
  const parts = ["", "_min", "_max", "_mean", "_stddev", "_p50", "_p90", "_p99"];
  expect([...lags.keys()].sort()).toEqual(parts.map((part) => `${PREFIX}${part}_seconds`).sort());
  for (const seconds of lags.values()) expect(seconds).toBeGreaterThanOrEqual(0);
  // Otherwise no reading would be below the 0.1 seconds between two looks.
  await expect.poll(async () => (await read(registry)).get(`${PREFIX}_min_seconds`), SEVERAL).toBeLessThan(0.09);
});
