// Log lines by OTLP: the message as body, the event by its name, and every other field as an attribute.

import { JsonLogsSerializer, LogsExporterMetricsHelper, ProtobufLogsSerializer } from "@opentelemetry/otlp-transformer";
import type { LogExport } from "../../config/options/telemetry.ts";
import type { Log } from "../../core/log.ts";
import { hrTime, type Origin, type OtlpSender, openSender, originOf } from "./sender.ts";

/** A line as it was written, without secrets. */
export interface OutgoingLine {
  readonly atMs: number;
  readonly level: keyof Log;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
}

type LogRecord = Parameters<typeof JsonLogsSerializer.serializeRequest>[0][number];

const CODEC = { json: JsonLogsSerializer, protobuf: ProtobufLogsSerializer, counts: LogsExporterMetricsHelper };
/** Numbers of OpenTelemetry's severities. */
const SEVERITIES = { debug: 5, info: 9, warn: 13, error: 17 } as const;
// A line does not say whether its trace was sampled.
const FLAGS_UNKNOWN = 0;

export function openLogSender(target: LogExport, version: string): OtlpSender<readonly OutgoingLine[]> {
  const sender = openSender<LogRecord[]>(target, CODEC);
  const origin = originOf(target, version);
  return {
    send: (lines) => sender.send(lines.map((line) => logRecord(line, origin))),
    close: sender.close,
  };
}

function logRecord({ atMs, level, fields, message }: OutgoingLine, origin: Origin): LogRecord {
  const { event, trace_id: traceId, span_id: spanId, ...others } = fields;
  const hrTimeOf = hrTime(atMs);
  return {
    ...{ hrTime: hrTimeOf, hrTimeObserved: hrTimeOf },
    ...{ severityNumber: SEVERITIES[level], severityText: level.toUpperCase(), body: message },
    ...(typeof event === "string" && { eventName: event }),
    ...(isText(traceId) && isText(spanId) && { spanContext: { traceId, spanId, traceFlags: FLAGS_UNKNOWN } }),
    // Backends that do not know names of events read them from the attributes.
    attributes: attributesOf({ "event.name": event, ...others }),
    droppedAttributesCount: 0,
    ...{ resource: origin.resource, instrumentationScope: origin.scope },
  };
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

/** Writes objects as JSON, so that both outputs hold the same. */
function attributesOf(fields: Readonly<Record<string, unknown>>): LogRecord["attributes"] {
  const attributes: Record<string, LogRecord["attributes"][string]> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined || value === null) continue;
    attributes[name] =
      typeof value === "object" ? jsonOf(value) : typeof value === "bigint" ? String(value) : (value as string);
  }
  return attributes;
}

function jsonOf(value: object): string {
  try {
    return JSON.stringify(value, (_, inner) => (typeof inner === "bigint" ? String(inner) : inner)) ?? "";
  } catch {
    return String(value);
  }
}
