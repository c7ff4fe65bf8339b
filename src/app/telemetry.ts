// Wiring of what goes out by OTLP: traces, metrics and log lines. The exporters are loaded only where an endpoint is
// configured.

import type { Catalog } from "../catalog/catalog.ts";
import { telemetryName } from "../catalog/telemetry-names.ts";
import type { LogExport, MetricExport } from "../config/options/telemetry.ts";
import type { Settings } from "../config/settings.ts";
import type { LogEvent } from "../core/events.ts";
import type { Log, LogFields } from "../core/log.ts";
import { lowestLevel, withoutSecrets } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { createGenAiMetrics, type GenAiMetrics } from "../telemetry/otlp/gen-ai.ts";
import type { OutgoingLine } from "../telemetry/otlp/logs.ts";
import { createExportQueue, reportTrouble } from "../telemetry/otlp/queue.ts";
import type { Destination, Destinations } from "../telemetry/spans.ts";
import { createTraces, GOODBYE_MS, type Traces } from "../telemetry/traces.ts";

interface TelemetryContext {
  readonly snapshots: { current(): { readonly catalog: Catalog } };
  readonly metrics: Pick<Metrics, "spansDropped" | "spansSent" | "readings">;
  readonly version: string;
  readonly log: Log;
}

/** Exports while the gateway runs. Log lines have a way of their own, because they begin earlier and end later. */
export interface Telemetry {
  /** The maker of spans; null where neither spans nor metrics of them are made. */
  readonly traces: Traces | null;
  close(): Promise<void>;
}

export async function openTelemetry(settings: Settings, context: TelemetryContext): Promise<Telemetry> {
  const { tracing, metricExport } = settings;
  const { snapshots, metrics, version, log } = context;
  const genAi = metricExport === null ? null : createGenAiMetrics();
  const pushed = metricExport === null || genAi === null ? null : await pushMetrics(metricExport, genAi, context);
  if (tracing === null && genAi === null) return { traces: null, close: async () => undefined };
  const sender =
    tracing === null ? null : (await import("../telemetry/otlp/spans.ts")).openSpanSender(tracing, version);
  const traces = createTraces({
    sent: tracing === null || sender === null ? null : { tracing, sender },
    ...{ genAi, destinations: destinationsOf(() => snapshots.current().catalog) },
    onDrop: metrics.spansDropped,
    onSent: metrics.spansSent,
    log,
  });
  return {
    traces,
    async close() {
      await traces.close();
      // After the spans, because they count.
      await pushed?.close();
    },
  };
}

/** Sends all metrics of this process at every interval, and once more at the end. */
async function pushMetrics(
  target: MetricExport,
  genAi: GenAiMetrics,
  { metrics, version, log }: TelemetryContext,
): Promise<{ close(): Promise<void> }> {
  const { openMetricSender } = await import("../telemetry/otlp/metrics.ts");
  const sender = openMetricSender(target, version, Date.now());
  const report = reportTrouble("metrics", log);
  let isSending = false;
  const push = async (): Promise<void> => {
    // A collector that takes longer than the interval gets the newest values next time: they are sums.
    if (isSending) return;
    isSending = true;
    try {
      await sender.send({ readings: await metrics.readings(), genAi: genAi.readings(), atMs: Date.now() });
      report(null);
    } catch (error) {
      report(error);
    } finally {
      isSending = false;
    }
  };
  const timer = setInterval(() => void push(), target.intervalMs).unref();
  return {
    async close() {
      clearInterval(timer);
      const late = setTimeout(sender.close, GOODBYE_MS);
      await push();
      clearTimeout(late);
      sender.close();
    },
  };
}

export interface ExportedLog {
  /** Writes each line twice: as before, and for the collector. */
  readonly log: Log;
  close(): Promise<void>;
}

/** The log as it is where no lines are exported. Lines that could not be sent are on standard output all the same. */
export async function openLogExport(settings: Settings, log: Log, version: string): Promise<ExportedLog> {
  const { logExport, logging } = settings;
  if (logExport === null) return { log, close: async () => undefined };
  const { openLogSender } = await import("../telemetry/otlp/logs.ts");
  const sender = openLogSender(logExport, version);
  const queue = queueOfLines(logExport, sender.send, log);
  const isWritten = lowestLevel(logging.logLevel);
  const twice =
    <Level extends keyof Log>(level: Level) =>
    (fields: LogFields<LogEvent<Level>>, message: string): void => {
      (log[level] as (fields: LogFields, message: string) => void)(fields, message);
      if (!isWritten(level)) return;
      queue.add([{ atMs: Date.now(), level, fields: withoutSecrets(fields, 0), message }]);
    };
  return {
    log: { debug: twice("debug"), info: twice("info"), warn: twice("warn"), error: twice("error") },
    async close() {
      await queue.stop(GOODBYE_MS);
      sender.close();
    },
  };
}

/** Trouble with the collector is told on standard output alone. */
function queueOfLines(
  { queueMax, delayMs }: LogExport,
  send: (lines: readonly OutgoingLine[]) => Promise<void>,
  log: Log,
) {
  const unseen = (): void => undefined;
  return createExportQueue<OutgoingLine>({
    ...{ signal: "logs", send, queueMax, delayMs, log },
    ...{ onDrop: unseen, onSent: unseen },
  });
}

/** Names a model. Without an entry in the catalogue, only its id is known. */
function destinationsOf(current: () => Catalog): Destinations {
  let [catalog, known] = [current(), new Map<string, Destination>()];
  return (id, provider) => {
    if (catalog !== current()) [catalog, known] = [current(), new Map()];
    const name = `${id}\n${provider}`;
    const destination = known.get(name) ?? destinationOf(id, provider, catalog);
    known.set(name, destination);
    return destination;
  };
}

function destinationOf(id: string, provider: string, { models, providers }: Catalog): Destination {
  const host = models.get(id)?.hosts.find((each) => each.provider === provider);
  if (host === undefined) return { upstream: id, provider, host: null, port: null };
  const server = serverOf(providers.get(provider)?.baseUrl ?? "");
  return { upstream: host.upstream, provider: telemetryName(provider, server.host), ...server };
}

const PORTS: Readonly<Record<string, number>> = { "http:": 80, "https:": 443 };

function serverOf(address: string): Pick<Destination, "host" | "port"> {
  if (!URL.canParse(address)) return { host: null, port: null };
  const { hostname, port, protocol } = new URL(address);
  return { host: hostname, port: port === "" ? (PORTS[protocol] ?? null) : Number(port) };
}
