// The charts of the overview about money, models, tiers, errors and latency. Each states its trend in words, has a
// table, and opens the requests behind a point.

import { useState } from "preact/hooks";
import { TIERS } from "../../../src/core/tiers.ts";
import { BarChart, RankedBars } from "../../charts/bars.tsx";
import { Figure, Legend } from "../../charts/figure.tsx";
import { LineChart } from "../../charts/lines.tsx";
import { fullTimeLabel, timesOf } from "../../charts/scale.ts";
import { zoneName } from "../../clock.ts";
import { count, duration, exact, percent, plural, usd, usdColumn } from "../../format.ts";
import { Segmented } from "../../kit/button.tsx";
import { Check } from "../../kit/field.tsx";
import { Empty } from "../../kit/states.tsx";
import type { Share, Usage } from "../../types.ts";
import { baseline, byGroup, cumulative, OTHER, perStep, spent, sum } from "../../usage.ts";
import { opens, requestsHref, type Series, subtitle } from "./drill-down.ts";
import * as TEXT from "./text.ts";

/** Number of models with a row of their own. The rest share one row, which shows each of them when opened. */
const MODELS_MAX = 8;

/** Draws what was paid against the baseline; the area between the lines is what was saved. */
export function SpendChart({ range, rows, isWaiting }: Series) {
  const [isCumulative, setCumulative] = useState(false);
  const times = timesOf(range, range.step);
  // The same numbers, each step alone or with all before it.
  const along = isCumulative ? cumulative : (values: readonly number[]) => values;
  const paid = along(perStep(range, rows, spent, 0));
  // The cost of the same requests on the baseline model.
  const would = along(perStep(range, rows, baseline, 0));
  const saved = sum(rows, baseline) - sum(rows, spent);
  // Spent and baseline are compared, so the table has one format for both.
  const inColumn = usdColumn(would);
  return (
    <Figure
      title={TEXT.spendVsBaseline}
      isWaiting={isWaiting}
      trend={TEXT.spendSummary(
        subtitle(range),
        usd(sum(rows, spent)),
        usd(sum(rows, baseline)),
        saved < 0 ? "lost" : "saved",
        usd(Math.abs(saved)),
      )}
      table={{
        head: [TEXT.timeIn(zoneName(range.step)), TEXT.spent, TEXT.baseline, TEXT.saved],
        rows: times.map((time, index) => [
          fullTimeLabel(time, range.step),
          inColumn(paid[index] ?? 0),
          inColumn(would[index] ?? 0),
          inColumn((would[index] ?? 0) - (paid[index] ?? 0)),
        ]),
      }}
      actions={<Check label={TEXT.cumulative} isOn={isCumulative} onChange={setCumulative} />}
      legend={
        <Legend
          entries={[
            { name: TEXT.spent, mark: "accent" },
            { name: TEXT.baseline, mark: "muted" },
          ]}
        />
      }
    >
      <LineChart
        label={TEXT.spendCaption}
        times={times}
        step={range.step}
        format={usd}
        isFilledBetween
        lines={[
          { name: TEXT.spent, mark: "accent", values: paid },
          { name: TEXT.baseline, mark: "muted", values: would },
        ]}
        {...opens(range, {})}
      />
    </Figure>
  );
}

/** Models by spend, the largest first. */
export function ModelMix({ rows: models, isWaiting }: Series<Share>) {
  const [isWhole, setWhole] = useState(false);
  const ranked = [...models]
    // Requests that no model answered cost nothing.
    .filter(({ group }) => group !== null)
    .sort((a, b) => spent(b) - spent(a));
  const total = sum(ranked, spent);
  const inColumn = usdColumn(ranked.map(spent));
  const most = isWhole ? ranked.length : MODELS_MAX;
  const rest = ranked.slice(most);
  const rows = ranked.slice(0, most).map((row) => ({
    id: row.group ?? "",
    label: row.group,
    value: spent(row),
    shown: inColumn(row.chargeUsd),
    title: exact(row.chargeUsd),
    detail: plural(row.requests, "request"),
    href: requestsHref({ model: row.group }),
  }));
  // A button, since the rest has no address of its own.
  const other = {
    id: OTHER,
    label: `${OTHER} (${rest.length})`,
    value: sum(rest, spent),
    shown: inColumn(sum(rest, spent)),
    detail: TEXT.showAll,
    onOpen: () => setWhole(true),
  };
  const [top] = ranked;
  return (
    <Figure
      title={TEXT.modelMix}
      isWaiting={isWaiting}
      trend={top === undefined ? TEXT.bySpend : TEXT.ofSpend(top.group, percent(spent(top) / (total || 1)))}
      table={{
        head: [TEXT.model, TEXT.requests, TEXT.spend, TEXT.saved],
        rows: ranked.map((row) => [
          row.group ?? "",
          count(row.requests),
          inColumn(row.chargeUsd),
          inColumn(row.savedUsd),
        ]),
      }}
    >
      {rows.length === 0 ? (
        <Empty title={TEXT.noModelAnswered} />
      ) : (
        <RankedBars rows={rest.length > 0 ? [...rows, other] : rows} />
      )}
    </Figure>
  );
}

/** The share of each tier per step. */
export function TierMix({ range, rows, isWaiting }: Series<Share>) {
  const times = timesOf(range, range.step);
  const groups = byGroup(rows);
  const stacks = TIERS.map((tier) => ({
    name: tier,
    mark: `tier-${tier}`,
    values: perStep(range, groups.get(tier) ?? [], ({ requests }) => requests, 0),
  }));
  // Shares of the whole range, for the trend. Requests without a tier are in none of the bars, so they count for none.
  const counts = TIERS.map((tier) => sum(groups.get(tier) ?? [], ({ requests }) => requests));
  const total = sum(counts, (each) => each);
  const shares = counts.map((each) => each / (total || 1));
  const most = TIERS[shares.indexOf(Math.max(...shares))];
  return (
    <Figure
      title={TEXT.tierMix}
      isWaiting={isWaiting}
      trend={total === 0 ? subtitle(range) : TEXT.topTier(subtitle(range), most, percent(Math.max(...shares)))}
      table={{
        head: [TEXT.timeIn(zoneName(range.step)), ...TIERS],
        rows: times.map((time, index) => [
          fullTimeLabel(time, range.step),
          ...stacks.map(({ values }) => count(values[index])),
        ]),
      }}
      legend={
        <Legend entries={TIERS.map((tier) => ({ name: tier, mark: `tier-${tier}`, href: requestsHref({ tier }) }))} />
      }
    >
      <BarChart
        label={TEXT.tierCaption}
        times={times}
        step={range.step}
        format={count}
        isShare
        stacks={stacks}
        {...opens(range, {})}
      />
    </Figure>
  );
}

/** A kind of error: which statuses it holds, and the filter that finds the same in the request log. */
interface Kind {
  readonly name: string;
  readonly mark: string;
  isOf(status: number): boolean;
  /** The filter of the request log that finds the same. Of several statuses, those that occurred. */
  readonly filter: (statuses: readonly number[]) => string;
}

/** Kinds in the order of checking: the first that fits counts. */
const KINDS: readonly Kind[] = [
  { name: TEXT.outOfCredits402, mark: "grave", isOf: (status) => status === 402, filter: () => "402" },
  { name: TEXT.rateLimited429, mark: "caution", isOf: (status) => status === 429, filter: () => "429" },
  {
    ...{ name: TEXT.other4xx, mark: "muted", isOf: (status) => status >= 400 && status < 500 },
    filter: (statuses) => statuses.join(",") || "4xx",
  },
  { name: TEXT.serverError5xx, mark: "bad", isOf: (status) => status >= 500, filter: () => "5xx" },
  // The remaining errors have a good status: the response was cut off.
  { name: TEXT.interrupted, mark: "broken", isOf: () => true, filter: () => "broken" },
];

/** Errors by kind. The legend opens each kind in the request log. */
export function StatusChart({ range, rows: statuses, isWaiting }: Series<Share>) {
  const times = timesOf(range, range.step);
  const stacks = KINDS.map((kind) => {
    const rows = statuses.filter(({ group }) => kindOf(Number(group)) === kind);
    const values = times.map((time) =>
      sum(
        rows.filter(({ start }) => Date.parse(start) === time),
        ({ errors }) => errors,
      ),
    );
    const status = kind.filter([...new Set(rows.map(({ group }) => Number(group)))]);
    return { name: kind.name, mark: kind.mark, values, href: requestsHref({ status }) };
  });
  const total = sum(statuses, ({ errors }) => errors);
  return (
    <Figure
      title={TEXT.errors}
      isWaiting={isWaiting}
      trend={`${subtitle(range)}. ${total === 0 ? TEXT.noErrors : `${plural(total, "error")}.`}`}
      table={{
        head: [TEXT.timeIn(zoneName(range.step)), ...stacks.map(({ name }) => name)],
        rows: times.map((time, index) => [
          fullTimeLabel(time, range.step),
          ...stacks.map(({ values }) => count(values[index])),
        ]),
      }}
      legend={<Legend entries={stacks} />}
    >
      <BarChart
        label={TEXT.errorsCaption}
        times={times}
        step={range.step}
        format={count}
        stacks={stacks}
        {...opens(range, { status: "error" })}
      />
    </Figure>
  );
}

/** The kind of error that a status belongs to. */
function kindOf(status: number): Kind | undefined {
  return KINDS.find((kind) => kind.isOf(status));
}

/** The times that can be drawn, by their field in the usage. */
const CHOICES = [
  { value: "firstContent", label: TEXT.ttft },
  { value: "latency", label: TEXT.total },
  { value: "overhead", label: TEXT.gateway },
] as const;
type What = (typeof CHOICES)[number]["value"];
/** Median and 95th percentile; for the gateway's own part the trend compares it with the providers'. */
export function LatencyChart({ range, rows, isWaiting }: Series) {
  const [what, setWhat] = useState<What>("firstContent");
  const times = timesOf(range, range.step);
  const lines = [
    { name: "p50", mark: "accent", values: perStep(range, rows, (row) => row[what].p50Ms, null) },
    { name: "p95", mark: "muted", values: perStep(range, rows, (row) => row[what].p95Ms, null) },
  ];
  const worst = Math.max(0, ...(lines[1]?.values ?? []).filter((value) => value !== null));
  // A step of few requests among many has no percentiles.
  const isAnswered = rows.some(({ requests, errors }) => requests > errors);
  const unknown = isAnswered ? TEXT.tooFewRequests : TEXT.noResponsesYet;
  const slowest = worst === 0 ? unknown : TEXT.worst(range.step, duration(worst));
  return (
    <Figure
      title={TEXT.latency}
      isWaiting={isWaiting}
      trend={`${subtitle(range)}. ${what === "overhead" ? ownPart(rows) : slowest}`}
      table={{
        head: [TEXT.timeIn(zoneName(range.step)), "p50", "p95"],
        rows: times.map((time, index) => [
          fullTimeLabel(time, range.step),
          ...lines.map(({ values }) => duration(values[index])),
        ]),
      }}
      actions={
        <Segmented label={TEXT.latencyOf} choices={CHOICES} value={what} onChange={(value) => setWhat(value as What)} />
      }
      legend={<Legend entries={lines.map(({ name, mark }) => ({ name, mark }))} />}
    >
      <LineChart
        label={what === "overhead" ? TEXT.overheadHint : TEXT.latencyCaption}
        times={times}
        step={range.step}
        format={duration}
        isLog
        lines={lines}
        {...opens(range, {})}
      />
    </Figure>
  );
}

/** Averages weighted by requests, because each step has its own average. */
function ownPart(rows: readonly Usage[]): string {
  const known = rows.filter(({ overhead }) => overhead.averageMs !== null);
  const requests = sum(known, (row) => row.requests);
  if (requests === 0) return TEXT.noResponsesYet;
  const own = sum(known, (row) => (row.overhead.averageMs ?? 0) * row.requests) / requests;
  const whole = sum(known, (row) => (row.overhead.firstContentAverageMs ?? 0) * row.requests) / requests;
  const share = percent(own / (whole || 1));
  return TEXT.overheadSummary(duration(own), duration(whole - own), share);
}
