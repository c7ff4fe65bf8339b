// Prometheus metrics. Never labelled by key or request id, so their number stays bounded.

import {
  AggregatorRegistry,
  Counter,
  collectDefaultMetrics,
  Gauge,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from "prom-client";
import type { UsageProblem } from "../core/chat.ts";
import { watchEventLoop } from "./event-loop-lag.ts";
import { type MetricNamer, type RequestMetrics, requestMetrics } from "./request-metrics.ts";

/** A breaker at one moment. */
export interface BreakerReading {
  readonly scope: string;
  readonly provider: string;
  /** Empty where the breaker is not a model's. */
  readonly model: string;
  readonly state: "closed" | "half-open" | "open" | "resting";
}

/** State of the providers at one moment. */
interface ProviderReadings {
  breakers(): readonly BreakerReading[];
  /** Models of the catalogue that have a provider: those that may be called now, and those that are cooling down. */
  models(): { readonly usable: number; readonly resting: number };
  /** Calls under way, by provider. */
  calls(): readonly { readonly provider: string; readonly count: number }[];
}

/** Told by the health of providers, and by settlements. */
interface ProviderMetrics {
  usageProblem(problem: Pick<UsageProblem, "provider" | "model" | "reason">): void;
  breakerOpened(opened: Omit<BreakerReading, "state">): void;
  retried(retry: { readonly provider: string; readonly isAllowed: boolean }): void;
  /** A request met the end of an idle connection and was sent again on a new one. */
  connectionStale(provider: string): void;
  watchProviders(readings: ProviderReadings): void;
}

/** Kinds of work that the database could not do. */
type StoreWork = "request" | "settlement" | "records";

/** Everything that /metrics shows. */
export interface Metrics extends ProviderMetrics, RequestMetrics {
  /** A request was rejected because of overload. */
  shed(reason: string): void;
  connectionDropped(): void;
  /** The length of the admission queue is read each time the metrics are. */
  watchWaiting(read: () => number): void;
  /** The number of log lines that could not be written, also read then. */
  watchLog(readDropped: () => number): void;
  /** So is the age of the oldest price in use; null where there is none. */
  watchPriceAge(readSeconds: () => number | null, readFeeds: () => Readonly<Record<string, number>>): void;
  /** So are the bytes of the request bodies in memory. */
  watchBodies(readBytes: () => number): void;
  ledgerProblems(count: number): void;
  /** Files of an open SQLite database that are no longer in their place. */
  databaseFilesLost(count: number): void;
  /** Something could not be read or written because the database was away. */
  storeError(work: StoreWork): void;
  settlementsWaiting(count: number): void;
  /** Records if per-minute limits are counted together with the other processes. */
  limitsShared(isShared: boolean): void;
  recordsDropped(reason: string, count: number): void;
  /** Counts the result of a shadow sample. */
  sampled(result: string): void;
  recordsWaiting(count: number): void;
  spansDropped(reason: string, count: number): void;
  spansSent(count: number): void;
  /** Everything as values, for the worker process that is asked to show them all. */
  readings(): Promise<MetricReadings>;
  text(): Promise<string>;
  readonly contentType: string;
  close(): void;
}

/** The values of all metrics of one process. */
export type MetricReadings = readonly MetricObjectWithValues<MetricValue<string>>[];

/** Joins the metrics of several processes into one text. Counts are added up; a metric whose sum says nothing names another way. */
export function sumMetrics(processes: readonly MetricReadings[]): Promise<string> {
  // The time of the start is left out by prom-client; that of the gateway is its first process's.
  const shown = processes.map((readings) =>
    readings.map((metric) => (metric.aggregator === "omit" ? { ...metric, aggregator: "min" as const } : metric)),
  );
  return AggregatorRegistry.aggregate(shown).metrics();
}

/** Measures the process itself: memory, processor time and event loop, and the workers it had to replace, which only a primary has. */
export function watchProcess(registry = new Registry()): { readings(): Promise<MetricReadings>; workerHung(): void } {
  // The library's own look at the event loop is turned off: ours replaces it.
  collectDefaultMetrics({ register: registry, prefix: PREFIX, eventLoopMonitoringPrecision: NEVER_MS });
  watchEventLoop(registry, PREFIX);
  const hung = new Counter({
    ...{ name: `${PREFIX}workers_hung_total`, registers: [registry] },
    help: "Worker processes that answered no more and were replaced.",
  });
  return { readings: () => registry.getMetricsAsJSON(), workerHung: () => hung.inc() };
}

const PREFIX = "switchyard_";
/** The longest time that a timer can be set to. */
const NEVER_MS = 2 ** 31 - 1;

/** Counters that start at zero: otherwise an alert on an increase would miss the first one. */
const SHED_REASONS = ["in_flight", "key_in_flight", "queue", "event_loop", "memory", "bodies", "key_bodies"];
const DROP_REASONS = ["queue-full", "content-full", "refused", "stopped"];
const SAMPLE_RESULTS = ["compared", "over_budget", "unsuitable", "failed", "dropped"];
const SPAN_DROP_REASONS = ["queue-full", "export-failed", "stopped"];
const STORE_WORKS: readonly StoreWork[] = ["request", "settlement", "records"];

/** A registry of its own, so that tests can run several gateways in one process. */
export function createMetrics(version = "unknown"): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const { readings } = watchProcess(registry);
  const named: MetricNamer = (name, help) => ({ name: `${PREFIX}${name}`, help, registers });
  showVersion(named, version);
  const store = storeMetrics(named);
  const shed = new Counter({
    ...named("shed_requests_total", "Requests rejected because of overload."),
    labelNames: ["reason"],
  });
  for (const reason of SHED_REASONS) shed.inc({ reason }, 0);
  const connectionsDropped = new Counter(
    named("connections_dropped_total", "Connections closed at once because there were too many."),
  );
  const limitsAlone = new Gauge({
    ...named("limits_alone", "1 while per-minute limits cannot be counted together with the other processes, else 0."),
    aggregator: "max",
  });
  limitsAlone.set(0);
  return {
    ...requestMetrics(named, () => store.storeError("request")),
    ...providerMetrics(named),
    ...store,
    ...spanMetrics(named),
    shed: (reason) => shed.inc({ reason }),
    connectionDropped: () => connectionsDropped.inc(),
    ...readMetrics(named),
    limitsShared: (isShared) => limitsAlone.set(isShared ? 0 : 1),
    contentType: registry.contentType,
    readings,
    text: () => registry.metrics(),
    close: () => registry.clear(),
  };
}

/** Metrics whose values are read each time they are shown. */
function readMetrics(named: MetricNamer): Pick<Metrics, "watchWaiting" | "watchLog" | "watchBodies" | "watchPriceAge"> {
  return {
    watchWaiting(read) {
      new Gauge({
        ...named("requests_waiting", "Requests in the admission queue."),
        collect() {
          this.set(read());
        },
      });
    },
    watchLog(readDropped) {
      new Counter({
        ...named("log_lines_dropped_total", "Log lines that could not be written."),
        collect() {
          this.reset();
          this.inc(readDropped());
        },
      });
    },
    watchBodies(readBytes) {
      new Gauge({
        ...named("request_body_bytes", "Bytes of request bodies in memory, as charged to the budget for them."),
        collect() {
          this.set(readBytes());
        },
      });
    },
    watchPriceAge(readSeconds, readFeeds) {
      new Gauge({
        ...named("price_age_seconds", "Age of the oldest price in use, since its day or since a feed had the same."),
        aggregator: "max",
        collect() {
          this.reset();
          const seconds = readSeconds();
          if (seconds !== null) this.set(seconds);
        },
      });
      new Gauge({
        ...named("price_feed_age_seconds", "Time since a price feed changed last."),
        labelNames: ["feed"],
        aggregator: "max",
        collect() {
          this.reset();
          for (const [feed, seconds] of Object.entries(readFeeds())) this.set({ feed }, seconds);
        },
      });
    },
  };
}

function showVersion(named: MetricNamer, version: string): void {
  new Gauge({
    ...named("build_info", "1, labelled with the version that runs."),
    labelNames: ["version"],
    aggregator: "first",
  }).set({ version }, 1);
}

type StoreMetrics = Pick<
  Metrics,
  | "ledgerProblems"
  | "databaseFilesLost"
  | "storeError"
  | "settlementsWaiting"
  | "recordsDropped"
  | "recordsWaiting"
  | "sampled"
>;

/** Metrics of the ledger and the request log that an operator must see at once. */
function storeMetrics(named: MetricNamer): StoreMetrics {
  const ledgerProblems = new Gauge({
    ...named("ledger_problems", "Rows of the ledger that did not fit at the last audit."),
    aggregator: "max",
  });
  const filesLost = new Gauge({
    ...named("database_files_lost", "Files of the open SQLite database that were deleted, moved or replaced."),
    aggregator: "max",
  });
  const storeErrors = new Counter({
    ...named("store_errors_total", "What the database could not do because it was away, by whose work it was."),
    labelNames: ["work"],
  });
  for (const work of STORE_WORKS) storeErrors.inc({ work }, 0);
  const settlementsWaiting = new Gauge(
    named("settlements_waiting", "Charges kept on disk that the database has not taken yet."),
  );
  const recordsDropped = new Counter({
    ...named("records_dropped_total", "Request records, or their contents, that could not be kept."),
    labelNames: ["reason"],
  });
  for (const reason of DROP_REASONS) recordsDropped.inc({ reason }, 0);
  const samples = new Counter({
    ...named("shadow_samples_total", "Requests drawn for a shadow sample, by what became of them."),
    labelNames: ["result"],
  });
  for (const result of SAMPLE_RESULTS) samples.inc({ result }, 0);
  const recordsWaiting = new Gauge(named("records_waiting", "Request records that the store has not taken yet."));
  return {
    ledgerProblems: (count) => ledgerProblems.set(count),
    databaseFilesLost: (count) => filesLost.set(count),
    storeError: (work) => storeErrors.inc({ work }),
    settlementsWaiting: (count) => settlementsWaiting.set(count),
    recordsDropped: (reason, count) => recordsDropped.inc({ reason }, count),
    recordsWaiting: (count) => recordsWaiting.set(count),
    sampled: (result) => samples.inc({ result }),
  };
}

/** Metrics of the trace export. */
function spanMetrics(named: MetricNamer): Pick<Metrics, "spansDropped" | "spansSent"> {
  const dropped = new Counter({
    ...named("spans_dropped_total", "Spans of traces that the collector did not get."),
    labelNames: ["reason"],
  });
  for (const reason of SPAN_DROP_REASONS) dropped.inc({ reason }, 0);
  const sent = new Counter(named("spans_sent_total", "Spans of traces that the collector took."));
  return { spansDropped: (reason, count) => dropped.inc({ reason }, count), spansSent: (count) => sent.inc(count) };
}

/** The numbers that alerts compare with. */
const BREAKER_VALUES = { closed: 0, "half-open": 1, open: 2, resting: 3 } as const;
const BREAKER_LABELS = ["scope", "provider", "model"] as const;

/** States are read when the metrics are, not kept up to date. */
function providerMetrics(named: MetricNamer): ProviderMetrics {
  const opened = new Counter({
    ...named("breaker_openings_total", "How often a breaker opened."),
    labelNames: BREAKER_LABELS,
  });
  const retries = new Counter({
    ...named("retries_total", "Retries on the same model; refused ones were over the provider's retry budget."),
    labelNames: ["provider", "outcome"],
  });
  const stale = new Counter({
    ...named("stale_connections_total", "Idle connections that a provider closed as a request was sent on them."),
    labelNames: ["provider"],
  });
  const usageProblems = new Counter({
    ...named("usage_problems_total", "Responses whose token counts were missing or implausible."),
    labelNames: ["provider", "model", "reason"],
  });
  return {
    usageProblem: ({ provider, model, reason }) => usageProblems.inc({ provider, model, reason }),
    breakerOpened: ({ scope, provider, model }) => opened.inc({ scope, provider, model }),
    retried: ({ provider, isAllowed }) => retries.inc({ provider, outcome: isAllowed ? "made" : "refused" }),
    connectionStale: (provider) => stale.inc({ provider }),
    watchProviders(readings) {
      for (const { provider } of readings.calls()) stale.inc({ provider }, 0);
      watchProviders(readings, named);
    },
  };
}

/** Gauges that are computed when the metrics are read. */
function watchProviders({ breakers, models, calls }: ProviderReadings, named: MetricNamer): void {
  new Gauge({
    ...named("breaker_state", "0 closed, 1 half-open, 2 open, 3 cooling down as the provider asked."),
    labelNames: BREAKER_LABELS,
    aggregator: "max",
    collect() {
      this.reset();
      for (const { state, ...labels } of breakers()) this.set(labels, BREAKER_VALUES[state]);
    },
  });
  new Gauge({
    ...named("models", "Models with a provider: usable now, or resting while a breaker lets no call through."),
    labelNames: ["state"],
    aggregator: "first",
    collect() {
      for (const [state, count] of Object.entries(models())) this.set({ state }, count);
    },
  });
  new Gauge({
    ...named("provider_calls_in_flight", "Calls to providers under way, streams until their end."),
    labelNames: ["provider"],
    collect() {
      this.reset();
      for (const { provider, count } of calls()) this.set({ provider }, count);
    },
  });
}
