// Options of traces, metrics and logs by OTLP, under the names that OpenTelemetry gave them. Nothing is exported until an
// endpoint is named, and metrics and logs only where they are asked for: many backends take traces alone.

import type { Located } from "../located.ts";
import { number, oneOf, type Reader, reject, text, truth } from "../readers.ts";
import type { Problem, Report } from "../report.ts";
import { option, type ValuesOf } from "./option.ts";

/** The way of one signal to its collector. */
export interface OtlpTarget {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly protocol: "http/protobuf" | "http/json";
  readonly compression: "none" | "gzip";
  readonly timeoutMs: number;
  /** Attributes of this process, its service's name among them. */
  readonly resource: Readonly<Record<string, string>>;
}

/** Limits of what waits for a collector. */
interface ExportQueueTerms {
  readonly queueMax: number;
  readonly delayMs: number;
}

/** Options of traces: their address, which are sampled, and what they hold. */
export interface Tracing extends OtlpTarget, ExportQueueTerms {
  readonly sampler: string;
  /** For samplers with a ratio. */
  readonly samplerRatio: number;
  /** True if spans hold prompts, answers and end users. */
  readonly hasContent: boolean;
}

export interface MetricExport extends OtlpTarget {
  readonly intervalMs: number;
}

export interface LogExport extends OtlpTarget, ExportQueueTerms {}

/** Signals that are sent by OTLP; null for one that is not. */
export interface Exports {
  readonly tracing: Tracing | null;
  readonly metricExport: MetricExport | null;
  readonly logExport: LogExport | null;
}

const SAMPLERS = [
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
  "always_on",
  "always_off",
  "traceidratio",
] as const;
const PROTOCOLS = ["http/protobuf", "http/json"] as const;
const COMPRESSIONS = ["none", "gzip"] as const;
const EXPORTERS = ["otlp", "none"] as const;
/** The service in traces, where nobody names it. */
const SERVICE_NAME = "switchyard";
const TIMEOUT_MS = 10_000;
const MS_MAX = 600_000;

const milliseconds = number({ min: 1, max: MS_MAX, isWhole: true });

/** `exportsOf` makes settings of them. */
export const TELEMETRY_OPTIONS = {
  tracesEndpoint: option<string | null>({
    path: "tracing.endpoint",
    env: "OTEL_EXPORTER_OTLP_ENDPOINT",
    default: null,
    shownDefault: "none: nothing is sent",
    read: collectorUrl,
    help: "Where traces are sent by OTLP over HTTP: the collector's address, to which /v1/traces is added. Metrics and logs go to /v1/metrics and /v1/logs where they are on.",
  }),
  tracesOwnEndpoint: option<string | null>({
    env: "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    default: null,
    shownDefault: "none",
    read: collectorUrl,
    help: "The full address for traces, used as it is. Outweighs the endpoint above.",
  }),
  tracesHeaders: option<Pairs | null>({
    path: "tracing.headers",
    env: "OTEL_EXPORTER_OTLP_HEADERS",
    default: null,
    shownDefault: "none",
    isSecret: true,
    read: pairs,
    help: "Headers for the collector: name=value, comma-separated and percent-encoded.",
  }),
  tracesOwnHeaders: option<Pairs | null>({
    env: "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
    default: null,
    shownDefault: "none",
    isSecret: true,
    read: pairs,
    help: "The same for traces only. They are added to the others and outweigh them.",
  }),
  tracesProtocol: option<(typeof PROTOCOLS)[number]>({
    path: "tracing.protocol",
    env: "OTEL_EXPORTER_OTLP_PROTOCOL",
    default: "http/protobuf",
    read: oneOf(PROTOCOLS),
    help: `How exports are written: ${PROTOCOLS.join(" or ")}. gRPC is not supported. Collectors listen for HTTP on port 4318.`,
  }),
  tracesCompression: option<(typeof COMPRESSIONS)[number]>({
    path: "tracing.compression",
    env: "OTEL_EXPORTER_OTLP_COMPRESSION",
    default: "none",
    read: oneOf(COMPRESSIONS),
    help: "Compression of exports: none or gzip.",
  }),
  tracesTimeoutMs: option<number>({
    path: "tracing.timeoutMs",
    env: "OTEL_EXPORTER_OTLP_TIMEOUT",
    default: TIMEOUT_MS,
    read: milliseconds,
    help: "How long the collector may take for one batch, retries included.",
  }),
  serviceName: option<string | null>({
    path: "tracing.serviceName",
    env: "OTEL_SERVICE_NAME",
    default: null,
    shownDefault: SERVICE_NAME,
    read: text(),
    help: "The name of this service in traces, metrics and logs.",
  }),
  resourceAttributes: option<Pairs | null>({
    path: "tracing.resourceAttributes",
    env: "OTEL_RESOURCE_ATTRIBUTES",
    default: null,
    shownDefault: "none",
    read: pairs,
    help: "Further attributes of everything that is sent: name=value, comma-separated, such as deployment.environment.name=production.",
  }),
  sampler: option<(typeof SAMPLERS)[number]>({
    path: "tracing.sampler",
    env: "OTEL_TRACES_SAMPLER",
    default: "parentbased_always_on",
    read: oneOf(SAMPLERS),
    help: `Which requests are traced: ${SAMPLERS.join(", ")}. The parentbased ones follow a caller that sends traceparent.`,
  }),
  samplerRatio: option<number>({
    path: "tracing.samplerArg",
    env: "OTEL_TRACES_SAMPLER_ARG",
    default: 1,
    read: number({ min: 0, max: 1 }),
    help: "For the samplers with a ratio: the share of requests, from 0 to 1.",
  }),
  tracesQueueMax: option<number>({
    path: "tracing.queueMax",
    env: "OTEL_BSP_MAX_QUEUE_SIZE",
    default: 2_048,
    read: number({ min: 1, max: 1_000_000, isWhole: true }),
    help: "How many spans, and how many log lines, may wait for the collector; further ones are dropped and counted.",
  }),
  tracesDelayMs: option<number>({
    path: "tracing.delayMs",
    env: "OTEL_BSP_SCHEDULE_DELAY",
    default: 5_000,
    read: milliseconds,
    help: "How long spans and log lines are collected before they are sent.",
  }),
  tracesExporter: option<Exporter>({
    path: "tracing.exporter",
    env: "OTEL_TRACES_EXPORTER",
    default: "otlp",
    read: oneOf(EXPORTERS),
    help: "otlp, or none to send no traces although an endpoint is set.",
  }),
  tracesContent: option<boolean>({
    path: "tracing.content",
    env: "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT",
    default: false,
    read: truth,
    help: "true puts prompts, answers and end users into spans. They leave the gateway for the collector.",
  }),
  metricsExporter: option<Exporter | null>({
    path: "tracing.metricsExporter",
    env: "OTEL_METRICS_EXPORTER",
    default: null,
    shownDefault: "none, or otlp where metrics have an endpoint of their own",
    read: oneOf(EXPORTERS),
    help: "otlp sends what /metrics shows, and metrics of generative AI, to the endpoint.",
  }),
  metricsOwnEndpoint: option<string | null>({
    env: "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
    default: null,
    shownDefault: "none",
    read: collectorUrl,
    help: "The full address for metrics, used as it is.",
  }),
  metricsOwnHeaders: option<Pairs | null>({
    env: "OTEL_EXPORTER_OTLP_METRICS_HEADERS",
    default: null,
    shownDefault: "none",
    isSecret: true,
    read: pairs,
    help: "Headers for metrics only. They are added to the others and outweigh them.",
  }),
  metricsIntervalMs: option<number>({
    path: "tracing.metricsIntervalMs",
    env: "OTEL_METRIC_EXPORT_INTERVAL",
    default: 60_000,
    read: milliseconds,
    help: "How often metrics are sent.",
  }),
  logsExporter: option<Exporter | null>({
    path: "tracing.logsExporter",
    env: "OTEL_LOGS_EXPORTER",
    default: null,
    shownDefault: "none, or otlp where logs have an endpoint of their own",
    read: oneOf(EXPORTERS),
    help: "otlp sends log lines to the endpoint, too. They stay on standard output.",
  }),
  logsOwnEndpoint: option<string | null>({
    env: "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT",
    default: null,
    shownDefault: "none",
    read: collectorUrl,
    help: "The full address for logs, used as it is.",
  }),
  logsOwnHeaders: option<Pairs | null>({
    env: "OTEL_EXPORTER_OTLP_LOGS_HEADERS",
    default: null,
    shownDefault: "none",
    isSecret: true,
    read: pairs,
    help: "Headers for logs only. They are added to the others and outweigh them.",
  }),
  tracesDisabled: option<boolean>({
    path: "tracing.disabled",
    env: "OTEL_SDK_DISABLED",
    default: false,
    read: truth,
    help: "Switches OpenTelemetry off, whatever else is set.",
  }),
};

type Pairs = Readonly<Record<string, string>>;
type Exporter = (typeof EXPORTERS)[number];
type TelemetryValues = ValuesOf<typeof TELEMETRY_OPTIONS>;

/** The exports that the options ask for. */
export function exportsOf(values: TelemetryValues): Exports {
  const { tracesOwnEndpoint, metricsOwnEndpoint, logsOwnEndpoint } = values;
  const traces = targetOf(values, "traces", [tracesOwnEndpoint, values.tracesOwnHeaders, values.tracesExporter]);
  const metrics = targetOf(values, "metrics", [metricsOwnEndpoint, values.metricsOwnHeaders, values.metricsExporter]);
  const logs = targetOf(values, "logs", [logsOwnEndpoint, values.logsOwnHeaders, values.logsExporter]);
  const queue = { queueMax: values.tracesQueueMax, delayMs: values.tracesDelayMs };
  const { sampler, samplerRatio, tracesContent: hasContent } = values;
  return {
    tracing: traces === null ? null : { ...traces, ...queue, sampler, samplerRatio, hasContent },
    metricExport: metrics === null ? null : { ...metrics, intervalMs: values.metricsIntervalMs },
    logExport: logs === null ? null : { ...logs, ...queue },
  };
}

/** An address of its own asks for the signal, too. */
function targetOf(
  values: TelemetryValues,
  signal: "traces" | "metrics" | "logs",
  [ownUrl, ownHeaders, exporter]: readonly [string | null, Pairs | null, Exporter | null],
): OtlpTarget | null {
  const { tracesEndpoint: base } = values;
  const url = ownUrl ?? (base === null ? null : `${base.replace(/\/+$/, "")}/v1/${signal}`);
  const isWanted = exporter === null ? ownUrl !== null : exporter === "otlp";
  if (values.tracesDisabled || !isWanted || url === null) return null;
  const named = values.serviceName === null ? {} : { "service.name": values.serviceName };
  return {
    url,
    headers: { ...values.tracesHeaders, ...ownHeaders },
    protocol: values.tracesProtocol,
    compression: values.tracesCompression,
    timeoutMs: values.tracesTimeoutMs,
    resource: { "service.name": SERVICE_NAME, ...values.resourceAttributes, ...named },
  };
}

const ENDPOINTS = ["tracesEndpoint", "tracesOwnEndpoint", "metricsOwnEndpoint", "logsOwnEndpoint"] as const;
const EXPORTER_NAMES = ["tracesExporter", "metricsExporter", "logsExporter"] as const;

/**
 * Turns problems with OTEL_ variables into warnings where nothing is sent: other programs on the machine may use them.
 * An endpoint that cannot be read was meant for us and stays a problem.
 */
export function forgiveUnused(values: TelemetryValues, { problems, warnings }: Report): void {
  const isOff = values.tracesDisabled || EXPORTER_NAMES.every((name) => (values[name] ?? "none") === "none");
  const places = ENDPOINTS.map((name) => placeOf(TELEMETRY_OPTIONS[name].env ?? ""));
  const isNamed = ENDPOINTS.some((name) => values[name] !== null);
  if (!isOff && (isNamed || problems.some(({ place }) => places.includes(place)))) return;
  const isForgiven = ({ place }: Problem): boolean => place.startsWith(placeOf("OTEL_"));
  warnings.push(...problems.filter(isForgiven));
  problems.splice(0, problems.length, ...problems.filter((problem) => !isForgiven(problem)));
}

function placeOf(variable: string): string {
  return `environment ${variable}`;
}

/** Credentials in the address would end up in logs. */
function collectorUrl(node: Located, report: Report): string | undefined {
  const expected = "an http or https address, such as http://127.0.0.1:4318";
  const value = text({ test: URL.canParse, expected })(node, report);
  if (value === undefined) return undefined;
  const { protocol, username, password } = new URL(value);
  if (protocol !== "http:" && protocol !== "https:") return reject(node, report, expected);
  if (username === "" && password === "") return value;
  const message = "the address must not hold a user name or password; use OTEL_EXPORTER_OTLP_HEADERS";
  report.problems.push({ place: node.place, message, suggestion: null });
  return undefined;
}

/** Headers and attributes, as OpenTelemetry writes them in one variable. */
function pairs(node: Located, report: Report): Pairs | undefined {
  const expected = "name=value, with commas between several";
  const written = text({ test: (value) => readPairs(value) !== null, expected });
  const value = (written satisfies Reader<string>)(node, report);
  return value === undefined ? undefined : (readPairs(value) ?? undefined);
}

/** Reads W3C baggage: percent-encoded, without the spaces around names and values. Null for text of another form. */
function readPairs(value: string): Pairs | null {
  const found: Record<string, string> = {};
  for (const piece of value.split(",").filter((each) => each.trim() !== "")) {
    const [, name, content] = /^\s*([^\s=,;]+)\s*=\s*([^,;]*?)\s*$/.exec(piece) ?? [];
    const decoded = content === undefined ? null : decode(content);
    if (name === undefined || decoded === null) return null;
    found[name] = decoded;
  }
  return found;
}

function decode(content: string): string | null {
  try {
    return decodeURIComponent(content);
  } catch {
    return null;
  }
}
