// Lag of the event loop, under prom-client's names. prom-client itself looks every 10 ms, which wakes an idle process for
// nothing and shows those 10 ms as lag.

import { type IntervalHistogram, monitorEventLoopDelay } from "node:perf_hooks";
import { Gauge, type Registry } from "prom-client";

const EVERY_MS = 100;
const PARTS = [
  ["min", "Least", "min", (lags) => late(lags.min)],
  ["max", "Greatest", "max", (lags) => late(lags.max)],
  ["mean", "Mean", "average", (lags) => late(lags.mean)],
  ["stddev", "Standard deviation of the", "average", (lags) => lags.stddev / 1e9],
  ["p50", "Median", "average", (lags) => late(lags.percentile(50))],
  ["p90", "90th percentile of the", "average", (lags) => late(lags.percentile(90))],
  ["p99", "99th percentile of the", "average", (lags) => late(lags.percentile(99))],
] as const satisfies readonly (readonly [
  name: string,
  help: string,
  aggregator: "min" | "max" | "average",
  seconds: (lags: IntervalHistogram) => number,
])[];

/** Takes the place of prom-client's metrics in the registry. */
export function watchEventLoop(registry: Registry, prefix: string): void {
  const lags = monitorEventLoopDelay({ resolution: EVERY_MS });
  lags.enable();
  const gauges = PARTS.map(([part, help, aggregator, seconds], index) => {
    const name = `${prefix}nodejs_eventloop_lag_${part}_seconds`;
    registry.removeSingleMetric(name);
    const gauge = new Gauge({
      name,
      help: `${help} lag of the event loop since the last reading.`,
      aggregator,
      registers: [registry],
      // The first one is read first, and reads for all.
      collect: () => (index === 0 ? readAll() : undefined),
    });
    return { gauge, seconds };
  });
  const readAll = (): void => {
    if (lags.count === 0) return;
    for (const { gauge, seconds } of gauges) gauge.set(seconds(lags));
    lags.reset();
  };
}

/** Takes the pause between two looks from the time that was measured. */
function late(betweenNs: number): number {
  return Math.max(0, betweenNs / 1e9 - EVERY_MS / 1_000);
}
