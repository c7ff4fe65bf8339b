// Time on the overview: to the first token, in total, and the gateway's own part of it beside the providers'.

import { useState } from "preact/hooks";
import { Figure, Legend } from "../../charts/figure.tsx";
import { LineChart } from "../../charts/lines.tsx";
import { fullTimeLabel, timesOf } from "../../charts/scale.ts";
import { duration, percent } from "../../format.ts";
import { Segmented } from "../../kit/button.tsx";
import type { Usage } from "../../types.ts";
import { perStep, sum } from "../../usage.ts";
import { opens, type Series, subtitle } from "./range.ts";

const CHOICES = [
  { value: "firstContent", label: "first token" },
  { value: "latency", label: "total" },
  { value: "overhead", label: "gateway" },
] as const;
type What = (typeof CHOICES)[number]["value"];

export function LatencyChart({ range, series }: Series) {
  const [what, setWhat] = useState<What>("firstContent");
  const times = timesOf(range, range.step);
  const rows = series.data?.data ?? [];
  const lines = [
    { name: "p50", mark: "accent", values: perStep(range, rows, (row) => row[what].p50Ms, null) },
    { name: "p95", mark: "muted", values: perStep(range, rows, (row) => row[what].p95Ms, null) },
  ];
  const worst = Math.max(0, ...(lines[1]?.values ?? []).filter((value) => value !== null));
  const slowest = `The slowest ${range.step} had a p95 of ${duration(worst)}.`;
  return (
    <Figure
      title="Latency"
      trend={`${subtitle(range)}. ${what === "overhead" ? ownPart(rows) : slowest}`}
      table={{
        head: ["Time, UTC", "p50", "p95"],
        rows: times.map((time, index) => [
          fullTimeLabel(time, range.step),
          ...lines.map(({ values }) => duration(values[index])),
        ]),
      }}
      actions={
        <Segmented label="Which time" choices={CHOICES} value={what} onChange={(value) => setWhat(value as What)} />
      }
      legend={<Legend entries={lines.map(({ name, mark }) => ({ name, mark }))} />}
    >
      <LineChart
        label={what === "overhead" ? "The gateway's own time until the first token" : "Latency over time"}
        times={times}
        step={range.step}
        format={duration}
        lines={lines}
        {...opens(range, {})}
      />
    </Figure>
  );
}

/** Averages weighed by requests, as each step has its own. */
function ownPart(rows: readonly Usage[]): string {
  const known = rows.filter(({ overhead }) => overhead.averageMs !== null);
  const requests = sum(known, (row) => row.requests);
  if (requests === 0) return "No answers to measure yet.";
  const own = sum(known, (row) => (row.overhead.averageMs ?? 0) * row.requests) / requests;
  const whole = sum(known, (row) => (row.overhead.firstContentAverageMs ?? 0) * row.requests) / requests;
  const share = percent(own / (whole || 1));
  return `Until the first token the gateway took ${duration(own)}, providers ${duration(whole - own)}: ${share} is ours.`;
}
