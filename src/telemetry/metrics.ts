// Prometheus metrics. Never labelled by key or request id, so their number stays bounded.

import { Counter, collectDefaultMetrics, Gauge, Registry } from "prom-client";
import { type ProviderMetrics, providerMetrics } from "./provider-metrics.ts";
import { type RequestMetrics, requestMetrics } from "./request-metrics.ts";

/** Whose work the database could not do. */
export type StoreWork = "request" | "settlement" | "records";

export interface Metrics extends ProviderMetrics, RequestMetrics {
  /** A request was refused because there is too much to do. */
  shed(reason: string): void;
  connectionDropped(): void;
  /** Reads the length of the line at the door each time the metrics are. */
  watchWaiting(read: () => number): void;
  ledgerProblems(count: number): void;
  /** Something could not be read or written because the database was away. */
  storeError(work: StoreWork): void;
  settlementsWaiting(count: number): void;
  /** Whether per-minute limits are counted together with the other processes. */
  limitsShared(isShared: boolean): void;
  recordsDropped(reason: string, count: number): void;
  recordsWaiting(count: number): void;
  spansDropped(reason: string, count: number): void;
  spansSent(count: number): void;
  text(): Promise<string>;
  readonly contentType: string;
  close(): void;
}

/** Counters that are there from the start at zero: an alert on an increase would not see the first one otherwise. */
const SHED_REASONS = ["in_flight", "key_in_flight", "queue", "event_loop", "memory"];
const DROP_REASONS = ["queue-full", "content-full", "refused", "stopped"];
const SPAN_DROP_REASONS = ["queue-full", "export-failed", "stopped"];
const STORE_WORKS: readonly StoreWork[] = ["request", "settlement", "records"];

export function createMetrics(version = "unknown"): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry, prefix: "switchyard_" });
  const named = (name: string, help: string) => ({ name: `switchyard_${name}`, help, registers });
  new Gauge({ ...named("build_info", "1, labelled with the version that runs."), labelNames: ["version"] }).set(
    { version },
    1,
  );
  const books = bookMetrics(named);
  const shed = new Counter({
    ...named("shed_requests_total", "Requests refused because there was too much to do."),
    labelNames: ["reason"],
  });
  for (const reason of SHED_REASONS) shed.inc({ reason }, 0);
  const connectionsDropped = new Counter(
    named("connections_dropped_total", "Connections closed at once because there were too many."),
  );
  const limitsAlone = new Gauge(
    named("limits_alone", "1 while per-minute limits cannot be counted together with the other processes, else 0."),
  );
  limitsAlone.set(0);
  return {
    ...requestMetrics(registry, () => books.storeError("request")),
    ...providerMetrics(registry),
    ...books,
    ...spanMetrics(named),
    shed: (reason) => shed.inc({ reason }),
    connectionDropped: () => connectionsDropped.inc(),
    watchWaiting(read) {
      new Gauge({
        ...named("requests_waiting", "Requests in line for the gateway itself."),
        collect() {
          this.set(read());
        },
      });
    },
    limitsShared: (isShared) => limitsAlone.set(isShared ? 0 : 1),
    contentType: registry.contentType,
    text: () => registry.metrics(),
    close: () => registry.clear(),
  };
}

type Named = (name: string, help: string) => { name: string; help: string; registers: Registry[] };
type BookMetrics = Pick<
  Metrics,
  "ledgerProblems" | "storeError" | "settlementsWaiting" | "recordsDropped" | "recordsWaiting"
>;

/** Of the ledger and the records: what an operator must hear of at once. */
function bookMetrics(named: Named): BookMetrics {
  const ledgerProblems = new Gauge(named("ledger_problems", "Rows of the ledger that did not fit at the last audit."));
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
  const recordsWaiting = new Gauge(named("records_waiting", "Request records that the store has not taken yet."));
  return {
    ledgerProblems: (count) => ledgerProblems.set(count),
    storeError: (work) => storeErrors.inc({ work }),
    settlementsWaiting: (count) => settlementsWaiting.set(count),
    recordsDropped: (reason, count) => recordsDropped.inc({ reason }, count),
    recordsWaiting: (count) => recordsWaiting.set(count),
  };
}

function spanMetrics(named: Named): Pick<Metrics, "spansDropped" | "spansSent"> {
  const dropped = new Counter({
    ...named("spans_dropped_total", "Spans of traces that the collector did not get."),
    labelNames: ["reason"],
  });
  for (const reason of SPAN_DROP_REASONS) dropped.inc({ reason }, 0);
  const sent = new Counter(named("spans_sent_total", "Spans of traces that the collector took."));
  return { spansDropped: (reason, count) => dropped.inc({ reason }, count), spansSent: (count) => sent.inc(count) };
}
