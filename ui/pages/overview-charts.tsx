// The charts of the overview about money and time. Each states its trend in words, has a table, and opens the requests
// behind a point.

import { useState } from "preact/hooks";
import type { Load } from "../api.ts";
import { RankedBars } from "../charts/bars.tsx";
import { Figure, Legend } from "../charts/figure.tsx";
import { LineChart } from "../charts/lines.tsx";
import { fullTimeLabel, timesOf } from "../charts/scale.ts";
import { count, duration, percent, usd } from "../format.ts";
import { Segmented } from "../kit/button.tsx";
import { Check } from "../kit/field.tsx";
import { Empty } from "../kit/states.tsx";
import { hrefTo } from "../router.ts";
import type { List, Usage } from "../types.ts";
import { baseline, cumulative, OTHER, perStep, spent, sum } from "../usage.ts";
import { opens, type Series, subtitle } from "./overview-range.ts";

const MODELS_MAX = 8;

export function SpendChart({ range, series }: Series) {
  const [isCumulative, setCumulative] = useState(false);
  const times = timesOf(range, range.step);
  const rows = series.data?.data ?? [];
  const along = isCumulative ? cumulative : (values: readonly number[]) => values;
  const paid = along(perStep(range, rows, spent, 0));
  const would = along(perStep(range, rows, baseline, 0));
  const saved = sum(rows, baseline) - sum(rows, spent);
  return (
    <Figure
      title="Spend against baseline"
      trend={`${subtitle(range)}. Paid ${usd(sum(rows, spent))}, baseline ${usd(sum(rows, baseline))}: ${saved < 0 ? "lost" : "saved"} ${usd(Math.abs(saved))}.`}
      table={{
        head: ["Time, UTC", "Paid", "Baseline", "Saved"],
        rows: times.map((time, index) => [
          fullTimeLabel(time, range.step),
          usd(paid[index]),
          usd(would[index]),
          usd((would[index] ?? 0) - (paid[index] ?? 0)),
        ]),
      }}
      actions={<Check label="cumulative" isOn={isCumulative} onChange={setCumulative} />}
      legend={
        <Legend
          entries={[
            { name: "paid", mark: "accent" },
            { name: "baseline", mark: "muted" },
          ]}
        />
      }
    >
      <LineChart
        label="Spend against baseline over time"
        times={times}
        step={range.step}
        format={usd}
        isFilledBetween
        lines={[
          { name: "paid", mark: "accent", values: paid },
          { name: "baseline", mark: "muted", values: would },
        ]}
        {...opens(range, {})}
      />
    </Figure>
  );
}

export function ModelMix({ models }: { readonly models: Load<List<Usage>> }) {
  const ranked = [...(models.data?.data ?? [])]
    .filter(({ group }) => group !== null)
    .sort((a, b) => spent(b) - spent(a));
  const total = sum(ranked, spent);
  const rest = ranked.slice(MODELS_MAX);
  const rows = ranked.slice(0, MODELS_MAX).map((row) => ({
    id: row.group ?? "",
    label: row.group,
    value: spent(row),
    shown: usd(row.chargeUsd),
    detail: `${count(row.requests)} requests`,
    href: hrefTo("/requests", { model: row.group }),
  }));
  const other = {
    id: OTHER,
    label: `${OTHER} (${rest.length})`,
    value: sum(rest, spent),
    shown: usd(sum(rest, spent)),
    href: hrefTo("/requests"),
  };
  const [top] = ranked;
  return (
    <Figure
      title="Model mix"
      trend={
        top === undefined
          ? "By spend."
          : `By spend. ${top.group} got ${percent(spent(top) / (total || 1))} of the money.`
      }
      table={{
        head: ["Model", "Requests", "Spend", "Saved"],
        rows: ranked.map((row) => [row.group ?? "", count(row.requests), usd(row.chargeUsd), usd(row.savedUsd)]),
      }}
    >
      {rows.length === 0 ? (
        <Empty title="No model answered yet" />
      ) : (
        <RankedBars rows={rest.length > 0 ? [...rows, other] : rows} />
      )}
    </Figure>
  );
}

export function LatencyChart({ range, series }: Series) {
  const [what, setWhat] = useState<"firstContent" | "latency">("firstContent");
  const times = timesOf(range, range.step);
  const rows = series.data?.data ?? [];
  const p50 = perStep(range, rows, (row) => row[what].p50Ms, null);
  const p95 = perStep(range, rows, (row) => row[what].p95Ms, null);
  const lines = [
    { name: "p50", mark: "accent", values: p50 },
    { name: "p95", mark: "muted", values: p95 },
  ];
  const worst = Math.max(0, ...p95.filter((value) => value !== null));
  return (
    <Figure
      title="Latency"
      trend={`${subtitle(range)}. The slowest ${range.step} had a p95 of ${duration(worst)}.`}
      table={{
        head: ["Time, UTC", "p50", "p95"],
        rows: times.map((time, index) => [fullTimeLabel(time, range.step), duration(p50[index]), duration(p95[index])]),
      }}
      actions={
        <Segmented
          label="Which time"
          choices={[
            { value: "firstContent", label: "first token" },
            { value: "latency", label: "total" },
          ]}
          value={what}
          onChange={(value) => setWhat(value as "firstContent" | "latency")}
        />
      }
      legend={<Legend entries={lines.map(({ name, mark }) => ({ name, mark }))} />}
    >
      <LineChart
        label="Latency over time"
        times={times}
        step={range.step}
        format={duration}
        lines={lines}
        {...opens(range, {})}
      />
    </Figure>
  );
}
