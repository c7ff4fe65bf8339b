// Wiring of traces, where an endpoint for them is configured. The exporter is loaded
// then and only then.

import type { Settings } from "../config/settings.ts";
import type { Log } from "../core/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Destination, Destinations } from "../telemetry/spans.ts";
import { createTraces, type Traces } from "../telemetry/traces.ts";

interface TracesContext {
  readonly metrics: Pick<Metrics, "spansDropped" | "spansSent">;
  readonly version: string;
  readonly log: Log;
}

export async function openTraces(settings: Settings, context: TracesContext): Promise<Traces | null> {
  const { tracing, catalog } = settings;
  const { metrics, version, log } = context;
  if (tracing === null) return null;
  const { openOtlp } = await import("../telemetry/otlp.ts");
  return createTraces({
    tracing,
    otlp: openOtlp(tracing, version),
    destinations: destinationsOf(catalog),
    onDrop: metrics.spansDropped,
    onSent: metrics.spansSent,
    log,
  });
}

function destinationsOf({ models, providers }: Settings["catalog"]): Destinations {
  const known = new Map<string, Destination>();
  for (const { id, provider, upstream } of models.values()) {
    const address = providers.get(provider)?.baseUrl ?? "";
    known.set(id, { upstream, ...serverOf(address) });
  }
  return (model) => known.get(model) ?? { upstream: model, host: null, port: null };
}

const PORTS: Readonly<Record<string, number>> = { "http:": 80, "https:": 443 };

function serverOf(address: string): Omit<Destination, "upstream"> {
  if (!URL.canParse(address)) return { host: null, port: null };
  const { hostname, port, protocol } = new URL(address);
  return { host: hostname, port: port === "" ? (PORTS[protocol] ?? null) : Number(port) };
}
