// Prometheus metrics. Never labelled by key or request id, so their number stays bounded.

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";

export interface RequestMetric {
  readonly route: string;
  readonly status: number;
  readonly tier: string;
  readonly model: string;
  readonly durationMs: number;
  readonly firstContentMs: number | null;
  readonly isFallback: boolean;
  readonly failedAttempts: readonly { readonly model: string; readonly provider: string }[];
}

export interface BreakerReading {
  readonly scope: string;
  readonly provider: string;
  /** Empty where the breaker is not a model's. */
  readonly model: string;
  readonly state: "closed" | "half-open" | "open" | "resting";
}

export interface Metrics {
  breakerOpened(opened: Omit<BreakerReading, "state">): void;
  /** Reads the breakers each time the metrics are. */
  watchBreakers(read: () => readonly BreakerReading[]): void;
  retried(retry: { readonly provider: string; readonly isAllowed: boolean }): void;
  begin(): void;
  end(metric: RequestMetric): void;
  /** A request was refused because there is too much to do. */
  shed(reason: string): void;
  connectionDropped(): void;
  /** Reads the length of the line at the door each time the metrics are. */
  watchWaiting(read: () => number): void;
  ledgerProblems(count: number): void;
  /** Whether per-minute limits are counted together with the other processes. */
  limitsShared(isShared: boolean): void;
  recordsDropped(reason: string, count: number): void;
  recordsWaiting(count: number): void;
  text(): Promise<string>;
  readonly contentType: string;
  close(): void;
}

const BREAKER_VALUES = { closed: 0, "half-open": 1, open: 2, resting: 3 } as const;
const DURATION_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];

export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry, prefix: "switchyard_" });
  const named = (name: string, help: string) => ({ name: `switchyard_${name}`, help, registers });
  const requests = new Counter({
    ...named("requests_total", "Requests answered."),
    labelNames: ["route", "status", "tier", "model"],
  });
  const duration = new Histogram({
    ...named("request_duration_seconds", "From the first byte in to the last byte out."),
    labelNames: ["route"],
    buckets: DURATION_SECONDS,
  });
  const firstContent = new Histogram({
    ...named("time_to_first_content_seconds", "From the first byte in to the first content of an answer."),
    labelNames: ["model"],
    buckets: DURATION_SECONDS,
  });
  const fallbacks = new Counter({
    ...named("fallbacks_total", "Requests answered by a fallback."),
    labelNames: ["model"],
  });
  const failures = new Counter({
    ...named("failed_attempts_total", "Attempts on a model that failed."),
    labelNames: ["provider", "model"],
  });
  const inFlight = new Gauge(named("requests_in_flight", "Requests being served now."));
  const shed = new Counter({
    ...named("shed_requests_total", "Requests refused because there was too much to do."),
    labelNames: ["reason"],
  });
  const connectionsDropped = new Counter(
    named("connections_dropped_total", "Connections closed at once because there were too many."),
  );
  const ledgerProblems = new Gauge(named("ledger_problems", "Rows of the ledger that did not fit at the last audit."));
  ledgerProblems.set(0);
  const limitsAlone = new Gauge(
    named("limits_alone", "1 while per-minute limits cannot be counted together with the other processes, else 0."),
  );
  limitsAlone.set(0);
  const recordsDropped = new Counter({
    ...named("records_dropped_total", "Request records, or their contents, that could not be kept."),
    labelNames: ["reason"],
  });
  const recordsWaiting = new Gauge(named("records_waiting", "Request records that the store has not taken yet."));
  return {
    ...breakerMetrics(registry),
    shed: (reason) => shed.inc({ reason }),
    connectionDropped: () => connectionsDropped.inc(),
    watchWaiting: (read) => watchWaiting(registry, read),
    recordsDropped: (reason, count) => recordsDropped.inc({ reason }, count),
    recordsWaiting: (count) => recordsWaiting.set(count),
    ledgerProblems: (count) => ledgerProblems.set(count),
    limitsShared: (isShared) => limitsAlone.set(isShared ? 0 : 1),
    contentType: registry.contentType,
    text: () => registry.metrics(),
    close: () => registry.clear(),
    begin: () => inFlight.inc(),
    end(metric) {
      inFlight.dec();
      requests.inc({ route: metric.route, status: metric.status, tier: metric.tier, model: metric.model });
      duration.observe({ route: metric.route }, metric.durationMs / 1000);
      if (metric.firstContentMs !== null) firstContent.observe({ model: metric.model }, metric.firstContentMs / 1000);
      if (metric.isFallback) fallbacks.inc({ model: metric.model });
      for (const { provider, model } of metric.failedAttempts) failures.inc({ provider, model });
    },
  };
}

function watchWaiting(registry: Registry, read: () => number): void {
  new Gauge({
    name: "switchyard_requests_waiting",
    help: "Requests in line for the gateway itself.",
    registers: [registry],
    collect() {
      this.set(read());
    },
  });
}

function breakerMetrics(registry: Registry): Pick<Metrics, "breakerOpened" | "watchBreakers" | "retried"> {
  const registers = [registry];
  const labelNames = ["scope", "provider", "model"] as const;
  const opened = new Counter({
    name: "switchyard_breaker_openings_total",
    help: "How often a breaker opened.",
    labelNames,
    registers,
  });
  const retries = new Counter({
    name: "switchyard_retries_total",
    help: "Second tries on the same model; refused ones were over the provider's share.",
    labelNames: ["provider", "outcome"],
    registers,
  });
  return {
    breakerOpened: ({ scope, provider, model }) => opened.inc({ scope, provider, model }),
    retried: ({ provider, isAllowed }) => retries.inc({ provider, outcome: isAllowed ? "made" : "refused" }),
    watchBreakers(read) {
      new Gauge({
        name: "switchyard_breaker_state",
        help: "0 closed, 1 half-open, 2 open, 3 resting as the provider asked.",
        labelNames,
        registers,
        collect() {
          for (const { state, ...labels } of read()) this.set(labels, BREAKER_VALUES[state]);
        },
      });
    },
  };
}
