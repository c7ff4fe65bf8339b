// Metrics by OTLP: what /metrics shows, under the same names, and the metrics of generative AI. Counts go on from the start
// of the process, as Prometheus has them.

import {
  JsonMetricsSerializer,
  MetricsExporterMetricsHelper,
  ProtobufMetricsSerializer,
} from "@opentelemetry/otlp-transformer";
import {
  AggregationTemporality,
  DataPointType,
  type MetricData,
  type ResourceMetrics,
} from "@opentelemetry/sdk-metrics";
import type { MetricObjectWithValues, MetricValue } from "prom-client";
import type { MetricExport } from "../../config/options/telemetry.ts";
import type { MetricReadings } from "../metrics.ts";
import type { GenAiReading } from "./gen-ai.ts";
import { hrTime, type OtlpSender, openSender, originOf } from "./sender.ts";

/** All metrics of a process at one moment. */
export interface OutgoingMetrics {
  readonly readings: MetricReadings;
  readonly genAi: readonly GenAiReading[];
  readonly atMs: number;
}

type PromReading = MetricObjectWithValues<MetricValue<string>>;
/** A value; in a histogram, the name says which of its parts it is. */
type Value = PromReading["values"][number] & { readonly metricName?: string };
type PointTimes = { readonly startTime: [number, number]; readonly endTime: [number, number] };

const CODEC = {
  json: JsonMetricsSerializer,
  protobuf: ProtobufMetricsSerializer,
  counts: MetricsExporterMetricsHelper,
};
/** ValueType.DOUBLE of OpenTelemetry: a sum of money is none of whole numbers. */
const DOUBLE = 1;

export function openMetricSender(
  target: MetricExport,
  version: string,
  startedAtMs: number,
): OtlpSender<OutgoingMetrics> {
  const sender = openSender<ResourceMetrics>(target, CODEC);
  const { resource, scope } = originOf(target, version);
  return {
    send({ readings, genAi, atMs }) {
      const times = { startTime: hrTime(startedAtMs), endTime: hrTime(atMs) };
      const metrics = [
        ...readings.flatMap((reading) => metricOf(reading, times)),
        ...genAi.map((reading) => genAiMetric(reading, times)),
      ];
      return sender.send({ resource, scopeMetrics: [{ scope, metrics }] });
    },
    close: sender.close,
  };
}

/** A metric without values is left out, as is a value that is no number. */
function metricOf(reading: PromReading, times: PointTimes): readonly MetricData[] {
  const { help } = reading;
  const shared = {
    // Names carry their units, as in Prometheus. A unit here would be added to them again.
    descriptor: { name: reading.name, description: help, unit: "", valueType: DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  };
  if (String(reading.type) === "histogram") {
    const dataPoints = histogramPoints(reading.values, times);
    return dataPoints.length === 0 ? [] : [{ ...shared, dataPointType: DataPointType.HISTOGRAM, dataPoints }];
  }
  const dataPoints = reading.values
    .filter(({ value }) => Number.isFinite(value))
    .map(({ labels, value }) => ({ ...times, attributes: attributesOf(labels), value }));
  if (dataPoints.length === 0) return [];
  if (String(reading.type) === "counter")
    return [{ ...shared, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints }];
  return [{ ...shared, dataPointType: DataPointType.GAUGE, dataPoints }];
}

interface HistogramSeries {
  readonly attributes: Record<string, string>;
  readonly boundaries: number[];
  /** Values up to each bound, and at last all of them. */
  readonly reached: number[];
  sum: number;
}

/** Prometheus counts what is below a bound, OpenTelemetry what is between two. */
function histogramPoints(values: readonly Value[], times: PointTimes) {
  const bySeries = new Map<string, HistogramSeries>();
  for (const { labels, value, metricName } of values) {
    const { le, ...others } = labels as Readonly<Record<string, string | number>>;
    const name = JSON.stringify(others);
    const series = bySeries.get(name) ?? { attributes: attributesOf(others), boundaries: [], reached: [], sum: 0 };
    bySeries.set(name, series);
    if (metricName?.endsWith("_sum") === true) series.sum = value;
    if (le === undefined) continue;
    series.reached.push(value);
    if (le !== "+Inf") series.boundaries.push(Number(le));
  }
  return [...bySeries.values()].map(({ attributes, boundaries, reached, sum }) => ({
    ...times,
    attributes,
    value: {
      buckets: { boundaries, counts: reached.map((count, place) => count - (reached[place - 1] ?? 0)) },
      ...{ sum, count: reached.at(-1) ?? 0 },
    },
  }));
}

function attributesOf(labels: Readonly<Record<string, string | number | undefined>>): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).map(([name, value]) => [name, String(value)]));
}

function genAiMetric({ name, help, unit, bounds, series }: GenAiReading, times: PointTimes): MetricData {
  return {
    descriptor: { name, description: help, unit, valueType: DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
    dataPointType: DataPointType.HISTOGRAM,
    dataPoints: series.map(({ attributes, counts, sum }) => ({
      ...times,
      attributes: { ...attributes },
      value: {
        buckets: { boundaries: [...bounds], counts: [...counts] },
        ...{ sum, count: counts.reduce((all, each) => all + each, 0) },
      },
    })),
  };
}
