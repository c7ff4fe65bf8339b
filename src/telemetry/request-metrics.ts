// Metrics of requests: count, duration, overhead, fallbacks, tokens and money. Labels are routes, tiers, models of the
// catalogue and fixed words, so their number stays bounded.

import { Counter, Gauge, Histogram, type HistogramConfiguration, type Registry } from "prom-client";
import type { NanoUsd, TokenBuckets } from "../core/money.ts";

/** Times of one request in the gateway, without those of client and provider. Null for a part that it did not have. */
interface GatewayPass {
  /** From the whole request to its first attempt at a provider. */
  readonly inMs: number | null;
  readonly wholeMs: number | null;
  /** The first and the last text of a stream. */
  readonly firstMs: number | null;
  readonly lastMs: number | null;
}

/** One request that is over, as the metrics count it. */
export interface RequestMetric {
  readonly route: string;
  readonly status: number;
  readonly tier: string;
  readonly model: string;
  readonly durationMs: number;
  readonly firstContentMs: number | null;
  /** Time that the gateway itself took; null when no provider answered. */
  readonly overheadMs: number | null;
  /** Time that the decision took; null when there was none. */
  readonly decisionMs: number | null;
  readonly pass: GatewayPass;
  readonly fallback: { readonly from: string; readonly to: string; readonly reason: string } | null;
  readonly failedAttempts: readonly { readonly model: string; readonly provider: string; readonly reason: string }[];
  readonly cost: { readonly buckets: TokenBuckets; readonly charge: NanoUsd; readonly baseline: NanoUsd } | null;
  /** True if the request failed because the database was away. */
  readonly isStoreAway: boolean;
}

/** The name with our prefix, the help text, and the registry that a metric belongs to. */
export type MetricNamer = (name: string, help: string) => { name: string; help: string; registers: Registry[] };

/** Told once when a request begins and once when it ends. */
export interface RequestMetrics {
  begin(): void;
  end(metric: RequestMetric): void;
}

/** From a cached reply to a long stream. */
const DURATION_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];
const OVERHEAD_SECONDS = [0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1];
/** Steps of 0.1 ms up to one millisecond. */
const PASS_SECONDS = [
  0.0001, 0.0002, 0.0003, 0.0004, 0.0005, 0.0006, 0.0007, 0.0008, 0.0009, 0.001, 0.0015, 0.002, 0.003, 0.005, 0.01,
  0.025, 0.05, 0.1, 0.25, 1,
];
/** A decision takes well below a millisecond. */
const DECISION_SECONDS = [0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05];

export function requestMetrics(named: MetricNamer, storeError: () => void): RequestMetrics {
  const count = requestCounter(named);
  const times = timeMetrics(named);
  const fallbacks = new Counter({
    ...named("fallbacks_total", "Requests answered by another model than the one chosen, by why that one failed."),
    labelNames: ["from", "to", "reason"],
  });
  const failures = new Counter({
    ...named("failed_attempts_total", "Attempts on a model that failed."),
    labelNames: ["provider", "model", "reason"],
  });
  let inFlight = 0;
  new Gauge({
    ...named("requests_in_flight", "Requests being served now."),
    collect() {
      this.set(inFlight);
    },
  });
  const spend = spendingMetrics(named);
  return {
    begin() {
      inFlight += 1;
    },
    end(metric) {
      const { model, fallback, cost } = metric;
      inFlight -= 1;
      count(metric);
      times(metric);
      if (fallback !== null) fallbacks.inc(fallback);
      for (const { provider, model: tried, reason } of metric.failedAttempts) {
        failures.inc({ provider, model: tried, reason });
      }
      if (cost !== null) spend(model, cost);
      if (metric.isStoreAway) storeError();
    },
  };
}

/** A failure as one of a few words. Providers may send any status, and labels must stay few. */
export function failureReason({ failure, status }: { failure: string | null; status: number | null }): string {
  if (failure !== "status" || status === null) return failure ?? "unknown";
  if (status === 429 || status === 401 || status === 403 || status === 404) return `status_${status}`;
  return status >= 500 ? "status_5xx" : "status_4xx";
}

interface RequestCount extends Pick<RequestMetric, "route" | "status" | "tier" | "model"> {
  count: number;
}

/** Written into the counter only when the metrics are read. */
function requestCounter(named: MetricNamer): (metric: RequestMetric) => void {
  const counts = new Map<string, RequestCount>();
  new Counter({
    ...named("requests_total", "Requests answered."),
    labelNames: ["route", "status", "tier", "model"],
    collect() {
      this.reset();
      for (const { count, ...labels } of counts.values()) this.inc(labels, count);
    },
  });
  return ({ route, status, tier, model }) => {
    const name = `${route} ${status} ${tier} ${model}`;
    const known = counts.get(name);
    if (known === undefined) counts.set(name, { route, status, tier, model, count: 1 });
    else known.count += 1;
  };
}

/** Durations, each with the buckets of its scale. */
function timeMetrics(named: MetricNamer): (metric: RequestMetric) => void {
  const duration = new TimeHistogram({
    ...named("request_duration_seconds", "From the first byte in to the last byte out."),
    labelNames: ["route"],
    buckets: DURATION_SECONDS,
  });
  const firstContent = new TimeHistogram({
    ...named("time_to_first_content_seconds", "From the first byte in to the first content of an answer."),
    labelNames: ["model"],
    buckets: DURATION_SECONDS,
  });
  const overhead = new TimeHistogram({
    ...named(
      "overhead_seconds",
      "What the gateway itself took of an answered request: before the first attempt, and from the answer to its booking.",
    ),
    buckets: OVERHEAD_SECONDS,
  });
  const decision = new TimeHistogram({
    ...named("decision_seconds", "What it took to decide on a tier and a chain."),
    buckets: DECISION_SECONDS,
  });
  const passed = passMetrics(named);
  return ({ route, model, durationMs, firstContentMs, overheadMs, decisionMs, pass }) => {
    duration.note(durationMs / 1000, route);
    if (firstContentMs !== null) firstContent.note(firstContentMs / 1000, model);
    if (overheadMs !== null) overhead.note(overheadMs / 1000);
    if (decisionMs !== null) decision.note(decisionMs / 1000);
    passed(pass);
  };
}

/** The two parts of a request that a client waits for because of the gateway. */
function passMetrics(named: MetricNamer): (pass: GatewayPass) => void {
  const toProvider = new TimeHistogram({
    ...named("to_provider_seconds", "From the last byte of a request to its first attempt at a provider."),
    buckets: PASS_SECONDS,
  });
  const toClient = new TimeHistogram({
    ...named(
      "to_client_seconds",
      "From bytes of a provider to the bytes for the client: of a whole answer, or the first and the last text of a stream.",
    ),
    labelNames: ["part"],
    buckets: PASS_SECONDS,
  });
  return ({ inMs, wholeMs, firstMs, lastMs }) => {
    if (inMs !== null) toProvider.note(inMs / 1000);
    if (wholeMs !== null) toClient.note(wholeMs / 1000, "whole");
    if (firstMs !== null) toClient.note(firstMs / 1000, "first");
    if (lastMs !== null) toClient.note(lastMs / 1000, "last");
  };
}

/** Cost of one model so far. */
interface ModelSpend {
  readonly tokens: { -readonly [Bucket in keyof TokenBuckets]: number };
  charge: NanoUsd;
  baseline: NanoUsd;
}

/** Token buckets and the label they have on the wire. */
const KINDS = [
  ["input", "input"],
  ["cacheRead", "cache_read"],
  ["cacheWrite", "cache_write"],
  ["output", "output"],
] as const;

/** Summed in plain numbers and written into the counters only when the metrics are read, so a request pays for a sum. */
function spendingMetrics(named: MetricNamer): (model: string, cost: NonNullable<RequestMetric["cost"]>) => void {
  const byModel = new Map<string, ModelSpend>();
  new Counter({
    ...named("tokens_total", "Tokens charged for, by kind; cached input is not part of input."),
    labelNames: ["model", "kind"],
    collect() {
      this.reset();
      for (const [model, { tokens }] of byModel) {
        for (const [bucket, kind] of KINDS) if (tokens[bucket] > 0) this.inc({ model, kind }, tokens[bucket]);
      }
    },
  });
  usdCounter(named("charged_usd_total", "What was charged, markup included."), byModel, ({ charge }) => charge);
  usdCounter(
    named(
      "baseline_usd_total",
      "What the same tokens would have cost on the baseline model; by the model that answered.",
    ),
    byModel,
    ({ baseline }) => baseline,
  );
  return (model, { buckets, charge, baseline }) => {
    const spent = byModel.get(model) ?? newModelSpend();
    byModel.set(model, spent);
    for (const [bucket] of KINDS) spent.tokens[bucket] += buckets[bucket];
    spent.charge += charge;
    spent.baseline += baseline;
  };
}

function newModelSpend(): ModelSpend {
  return { tokens: { input: 0, cacheRead: 0, cacheWrite: 0, output: 0 }, charge: 0n, baseline: 0n };
}

const NANO_PER_USD = 1e9;

/** Floating point is fine for graphs; the ledger is what counts. */
function usdCounter(
  named: ReturnType<MetricNamer>,
  byModel: ReadonlyMap<string, ModelSpend>,
  amountOf: (spent: ModelSpend) => NanoUsd,
): void {
  new Counter({
    ...named,
    labelNames: ["model"],
    collect() {
      this.reset();
      for (const [model, spent] of byModel) this.inc({ model }, Number(amountOf(spent)) / NANO_PER_USD);
    },
  });
}

/** The times with one value of the label. */
interface Series {
  /** By bucket; those beyond the last bound come last. */
  readonly counts: number[];
  sum: number;
}

type TimeConfiguration = HistogramConfiguration<string> & { readonly buckets: readonly number[] };

export class TimeHistogram extends Histogram<string> {
  readonly #name: string;
  readonly #help: string;
  readonly #bounds: readonly number[];
  readonly #label: string | null;
  readonly #series = new Map<string, Series>();

  constructor(configuration: TimeConfiguration) {
    super(configuration);
    const { name, help, buckets, labelNames = [] } = configuration;
    this.#name = name;
    this.#help = help;
    this.#bounds = buckets;
    this.#label = labelNames[0] ?? null;
    if (this.#label === null) this.#add("");
  }

  /** `labelled`: the value of its label, where it has one. */
  note(seconds: number, labelled = ""): void {
    const series = this.#series.get(labelled) ?? this.#add(labelled);
    let bucket = 0;
    while (bucket < this.#bounds.length && seconds > (this.#bounds[bucket] as number)) bucket += 1;
    (series.counts[bucket] as number) += 1;
    series.sum += seconds;
  }

  /** Returns the values that prom-client reads, for a text and for `get` alike. */
  async getForPromString(): Promise<object> {
    const values = [...this.#series].flatMap(([labelled, series]) => this.#valuesOf(labelled, series));
    return { name: this.#name, help: this.#help, type: "histogram", values, aggregator: "sum" };
  }

  #add(labelled: string): Series {
    const series: Series = { counts: Array<number>(this.#bounds.length + 1).fill(0), sum: 0 };
    this.#series.set(labelled, series);
    return series;
  }

  #valuesOf(labelled: string, { counts, sum }: Series): readonly object[] {
    const sharedLabels = this.#label === null ? {} : { [this.#label]: labelled };
    let count = 0;
    const buckets = [...this.#bounds, "+Inf"].map((le, bucket) => {
      count += counts[bucket] as number;
      return { labels: { le }, sharedLabels, value: count, metricName: `${this.#name}_bucket` };
    });
    return [
      ...buckets,
      { labels: {}, sharedLabels, value: sum, metricName: `${this.#name}_sum` },
      { labels: {}, sharedLabels, value: count, metricName: `${this.#name}_count` },
    ];
  }
}
