// Metrics of generative AI, by OpenTelemetry's conventions. They are counted from the spans of calls to models, sampled or
// not, so that spans and metrics never name a call differently.

import type { Span } from "../spans.ts";

/** A histogram at one moment. */
export interface GenAiReading {
  readonly name: string;
  readonly help: string;
  readonly unit: string;
  readonly bounds: readonly number[];
  readonly series: readonly GenAiSeries[];
}

interface GenAiSeries {
  readonly attributes: MetricAttributes;
  /** Values between two bounds, and at last those above all. */
  readonly counts: number[];
  sum: number;
}

export interface GenAiMetrics {
  note(spans: readonly Span[]): void;
  readings(): readonly GenAiReading[];
}

type MetricAttributes = Readonly<Record<string, string | number>>;

const SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const FIRST_CHUNK_SECONDS = [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
const TOKENS = Array.from({ length: 14 }, (_, power) => 4 ** power);
/** Attributes of the span that a metric keeps. Ids and content would make a series of each call. */
const KEPT = [
  "gen_ai.operation.name",
  "gen_ai.provider.name",
  "gen_ai.request.model",
  "server.address",
  "server.port",
] as const;
/** Far above any catalogue. A name that a client invents must not fill the memory. */
const SERIES_MAX = 5_000;

export function createGenAiMetrics(): GenAiMetrics {
  const durations = histogram("gen_ai.client.operation.duration", "Duration of a call to a model.", "s", SECONDS);
  const firstChunks = histogram(
    "gen_ai.client.operation.time_to_first_chunk",
    "Time from a call to the first chunk of its stream.",
    ...(["s", FIRST_CHUNK_SECONDS] as const),
  );
  const tokens = histogram("gen_ai.client.token.usage", "Input and output tokens of a call.", "{token}", TOKENS);
  return {
    note(spans) {
      for (const { kind, attributes, beganAt, endedAt } of spans) {
        if (kind !== "client") continue;
        const kept = keptOf(attributes);
        const error = attributes["error.type"];
        durations.note(typeof error === "string" ? { ...kept, "error.type": error } : kept, (endedAt - beganAt) / 1000);
        noteNumber(firstChunks, kept, attributes["gen_ai.response.time_to_first_chunk"]);
        noteNumber(tokens, { ...kept, "gen_ai.token.type": "input" }, attributes["gen_ai.usage.input_tokens"]);
        noteNumber(tokens, { ...kept, "gen_ai.token.type": "output" }, attributes["gen_ai.usage.output_tokens"]);
      }
    },
    readings: () =>
      [durations, firstChunks, tokens].map(({ read }) => read()).filter(({ series }) => series.length > 0),
  };
}

interface GenAiHistogram {
  note(attributes: MetricAttributes, value: number): void;
  read(): GenAiReading;
}

function histogram(name: string, help: string, unit: string, bounds: readonly number[]): GenAiHistogram {
  const all = new Map<string, GenAiSeries>();
  return {
    note(attributes, value) {
      const key = JSON.stringify(attributes);
      const known = all.get(key);
      if (known === undefined && all.size >= SERIES_MAX) return;
      const series = known ?? { attributes, counts: Array<number>(bounds.length + 1).fill(0), sum: 0 };
      if (known === undefined) all.set(key, series);
      const above = bounds.findIndex((bound) => value <= bound);
      const place = above === -1 ? bounds.length : above;
      series.counts[place] = (series.counts[place] ?? 0) + 1;
      series.sum += value;
    },
    read: () => ({ name, help, unit, bounds, series: [...all.values()] }),
  };
}

function noteNumber(to: GenAiHistogram, attributes: MetricAttributes, value: unknown): void {
  if (typeof value === "number") to.note(attributes, value);
}

function keptOf(attributes: Span["attributes"]): MetricAttributes {
  const kept: Record<string, string | number> = {};
  for (const name of KEPT) {
    const value = attributes[name];
    if (typeof value === "string" || typeof value === "number") kept[name] = value;
  }
  return kept;
}
