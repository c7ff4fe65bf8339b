// Wiring of traces. Loads the exporter only if an endpoint is configured.

import type { Catalog } from "../catalog/catalog.ts";
import type { Settings } from "../config/settings.ts";
import type { Log } from "../core/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Destination, Destinations } from "../telemetry/spans.ts";
import { createTraces, type Traces } from "../telemetry/traces.ts";

interface TracesContext {
  readonly catalog: () => Catalog;
  readonly metrics: Pick<Metrics, "spansDropped" | "spansSent">;
  readonly version: string;
  readonly log: Log;
}

export async function openTraces(settings: Settings, context: TracesContext): Promise<Traces | null> {
  const { tracing } = settings;
  const { catalog, metrics, version, log } = context;
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
  if (host === undefined) return { upstream: id, host: null, port: null };
  return { upstream: host.upstream, ...serverOf(providers.get(provider)?.baseUrl ?? "") };
}

const PORTS: Readonly<Record<string, number>> = { "http:": 80, "https:": 443 };

function serverOf(address: string): Omit<Destination, "upstream"> {
  if (!URL.canParse(address)) return { host: null, port: null };
  const { hostname, port, protocol } = new URL(address);
  return { host: hostname, port: port === "" ? (PORTS[protocol] ?? null) : Number(port) };
}
