// The charts of the overview about money. Each states its trend in words, has a table, and opens the requests
// behind a point.

import { useState } from "preact/hooks";
import type { Load } from "../../api.ts";
import { RankedBars } from "../../charts/bars.tsx";
import { Figure, Legend } from "../../charts/figure.tsx";
import { LineChart } from "../../charts/lines.tsx";
import { fullTimeLabel, timesOf } from "../../charts/scale.ts";
import { count, percent, usd } from "../../format.ts";
import { Check } from "../../kit/field.tsx";
import { Empty } from "../../kit/states.tsx";
import type { List, Usage } from "../../types.ts";
import { baseline, cumulative, OTHER, perStep, spent, sum } from "../../usage.ts";
import { opens, requestsHref, type Series, subtitle } from "./range.ts";

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
  const [isWhole, setWhole] = useState(false);
  const ranked = [...(models.data?.data ?? [])]
    .filter(({ group }) => group !== null)
    .sort((a, b) => spent(b) - spent(a));
  const total = sum(ranked, spent);
  const most = isWhole ? ranked.length : MODELS_MAX;
  const rest = ranked.slice(most);
  const rows = ranked.slice(0, most).map((row) => ({
    id: row.group ?? "",
    label: row.group,
    value: spent(row),
    shown: usd(row.chargeUsd),
    detail: `${count(row.requests)} requests`,
    href: requestsHref({ model: row.group }),
  }));
  const other = {
    id: OTHER,
    label: `${OTHER} (${rest.length})`,
    value: sum(rest, spent),
    shown: usd(sum(rest, spent)),
    detail: "show each",
    onOpen: () => setWhole(true),
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
