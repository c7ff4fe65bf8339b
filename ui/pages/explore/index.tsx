// Explore: any metric by one or two dimensions, as chart, table and CSV. Everything is in the address, so a chart can be
// saved and sent.

import { useLoad, withAccount } from "../../api.ts";
import { BarChart, RankedBars } from "../../charts/bars.tsx";
import { Figure, Legend } from "../../charts/figure.tsx";
import { LineChart } from "../../charts/lines.tsx";
import { fullTimeLabel, timesOf } from "../../charts/scale.ts";
import { zoneName } from "../../clock.ts";
import { categoryName, count, duration, plural, usd, usdColumn } from "../../format.ts";
import { ButtonLink } from "../../kit/button.tsx";
import { CopyButton } from "../../kit/copy.tsx";
import { Choice } from "../../kit/field.tsx";
import { PageHead, RangePicker } from "../../kit/page.tsx";
import { Empty } from "../../kit/states.tsx";
import { baselineIs, baselineNamed } from "../../parts/text.ts";
import { currentRange, type Range, rangeQuery } from "../../range.ts";
import { type Changes, hrefTo, place, setQuery } from "../../router.ts";
import type { Explore as Explored } from "../../types.ts";
import { opens } from "../overview/drill-down.ts";
import { filterNames, filterQuery } from "../requests/filter-names.ts";
import { Filters } from "../requests/filters.tsx";
import { SavedViews } from "../requests/views.tsx";
import * as TEXT from "./text.ts";

const TAG = "tag:";
/** Number of groups that are shown by name, one for each colour. */
const TOP = 10;

/** The metric, the dimensions and the filters of the request log. */
export function Explore() {
  const { query } = place.value;
  const range = currentRange();
  const metric = query.get("metric") ?? "cost";
  // `time` is hours or days, as the range asks for.
  const by = (query.get("by") ?? "time,model").split(",");
  const asked = by.map((name) => (name === "time" ? range.step : name));
  const isNamed = !by.includes(TAG);
  const path = `/api/explore?metric=${metric}&by=${encodeURIComponent(asked.join(","))}&top=${TOP}&${rangeQuery(range)}${filterQuery(query)}`;
  const load = useLoad<Explored>(isNamed ? path : null);
  const names = by.map((name) => (name.startsWith(TAG) ? name.slice(TAG.length) : (TEXT.DIMENSIONS[name] ?? name)));
  const title = TEXT.title(TEXT.METRICS[metric] ?? metric, names.join(", "));
  const shape = shapeOf(load.data, { by, names, metric, range });
  return (
    <>
      <PageHead title={TEXT.explore} purpose={TEXT.purpose}>
        <CopyButton kind="plain" text={location.href} label={TEXT.copyLink} />
        <ButtonLink href={withAccount(`${path}&format=csv`)} download="">
          {TEXT.csv}
        </ButtonLink>
        <RangePicker />
      </PageHead>
      <div class="filters">
        <Choice
          label={TEXT.metric}
          value={metric}
          options={TEXT.METRICS}
          onChange={(value) => setQuery({ metric: value })}
        />
        <Dimension label={TEXT.by} by={by} at={0} />
        <Dimension label={TEXT.andBy} by={by} at={1} />
      </div>
      <Filters>
        <SavedViews path="/explore" />
      </Filters>
      <Figure
        title={title}
        load={load}
        trend={trendOf(load.data, range)}
        table={shape.table}
        legend={<Legend entries={shape.series} />}
      >
        {load.data?.data.length === 0 ? (
          <Empty title={TEXT.noData} />
        ) : (
          <Chart shape={shape} title={title} range={range} />
        )}
      </Figure>
    </>
  );
}

function trendOf(data: Explored | null, range: Range): string {
  const trend = TEXT.trend(
    range.label,
    zoneName(range.step),
    data?.source === "requests" ? TEXT.fromRequests : TEXT.fromTotals,
  );
  return data?.metric === "saved"
    ? `${trend} ${baselineIs(baselineNamed(data.baselineModel, data.baselinePrice))}`
    : trend;
}

/** Chart to draw: series over time, or else a ranking. */
interface Shape {
  readonly series: readonly ExploreSeries[];
  readonly isOverTime: boolean;
  readonly isTiming: boolean;
  readonly format: (value: number) => string;
  readonly rows: Parameters<typeof RankedBars>[0]["rows"];
  readonly table: { readonly head: readonly string[]; readonly rows: readonly (readonly string[])[] };
}

interface ExploreSeries {
  readonly name: string;
  readonly mark: string;
  readonly values: (number | null)[];
  readonly href?: string;
}

interface Asked {
  readonly by: readonly string[];
  readonly names: readonly string[];
  readonly metric: string;
  readonly range: Range;
}

type Row = Explored["data"][number];

function shapeOf(data: Explored | null, asked: Asked): Shape {
  const { by, names, metric, range } = asked;
  const isTiming = /P\d\d$/.test(metric);
  const format = /cost|saved/.test(metric) ? usd : isTiming ? duration : count;
  const rows = data?.data ?? [];
  const nameOf = (row: Row, at: number): string => {
    const { value = null, label, other } = row.by[at] ?? {};
    if (other === true) return TEXT.other((data?.values[at] ?? 0) - TOP);
    return by[at] === "category" && value !== null ? categoryName(value) : (label ?? value ?? TEXT.none);
  };
  const column = format === usd ? usdColumn(rows.map(({ value }) => value)) : format;
  const shown = (value: number | null | undefined): string => (value == null ? "–" : column(value));
  const numberOf = ({ value }: Row): number | null => (value === null ? null : Number(value));
  const isOverTime = by.includes("time");
  const series = isOverTime ? seriesOf(rows, asked, nameOf) : [];
  const overTime = {
    head: [TEXT.timeIn(zoneName(range.step)), ...series.map(({ name }) => name)],
    rows: timesOf(range, range.step).map((time, at) => [
      fullTimeLabel(time, range.step),
      ...series.map(({ values }) => shown(values[at])),
    ]),
  };
  const ranked = {
    head: [...names, TEXT.METRICS[metric] ?? metric, TEXT.requests],
    rows: rows.map((row) => [...by.map((_, at) => nameOf(row, at)), shown(numberOf(row)), count(row.requests)]),
  };
  return {
    ...{ series, isOverTime, isTiming, format, table: isOverTime ? overTime : ranked },
    rows: rows.map((row, index) => ({
      id: String(index),
      label: <bdi>{by.map((_, at) => nameOf(row, at)).join(" · ")}</bdi>,
      value: Math.max(0, Number(row.value)),
      shown: shown(numberOf(row)),
      detail: plural(row.requests, "request"),
      ...hrefOf(row, by),
    })),
  };
}

/** One series for each value of the other dimension, or one for all. */
function seriesOf(
  rows: readonly Row[],
  { by, metric, range }: Asked,
  nameOf: (row: Row, at: number) => string,
): readonly ExploreSeries[] {
  const times = timesOf(range, range.step);
  const timeAt = by.indexOf("time");
  const empty = /P\d\d$/.test(metric) ? null : 0;
  const series = new Map<string, ExploreSeries>();
  let hues = 0;
  for (const row of rows) {
    const name = by.length === 1 ? (TEXT.METRICS[metric] ?? metric) : nameOf(row, 1 - timeAt);
    const { value = null, other } = row.by[1 - timeAt] ?? {};
    const markOf = () => (other === true ? "muted" : by[1 - timeAt] === "tier" ? `tier-${value}` : `hue-${hues++}`);
    const known = series.get(name) ?? { name, mark: markOf(), values: times.map(() => empty), ...hrefOf(row, by) };
    const at = times.indexOf(Date.parse(row.by[timeAt]?.value ?? ""));
    if (at >= 0) known.values[at] = row.value === null ? null : Number(row.value);
    series.set(name, known);
  }
  return [...series.values()];
}

/** The requests behind a row, whatever the time. */
function hrefOf(row: Row, by: readonly string[]): { href?: string } {
  const changes = row.by.map(({ value, other }, at) => (other === true ? null : narrowing(by[at] ?? "", value)));
  return changes.includes(null) ? {} : { href: hrefTo("/requests", Object.assign(filters(), ...changes)) };
}

/** The filter of the request log that finds the same; null where there is none. */
function narrowing(name: string, value: string | null): Changes | null {
  if (name === "time") return {};
  if (name === "sessionState" || (value === null && /^(?:tag:|category|status)/.test(name))) return null;
  return name.startsWith(TAG) ? { tag: `${name.slice(TAG.length)}=${value}` } : { [name]: value ?? "none" };
}

/** Reads the filters from the address. */
function filters(): Changes {
  const { query } = place.value;
  return Object.fromEntries(filterNames(query).map((name) => [name, query.get(name)]));
}

/** A click opens the requests of a step, dragging zooms. */
function Chart({ shape, title, range }: { readonly shape: Shape; readonly title: string; readonly range: Range }) {
  if (!shape.isOverTime) return <RankedBars rows={shape.rows} />;
  const common = { label: title, times: timesOf(range, range.step), step: range.step, format: shape.format };
  const lines = shape.series;
  if (shape.isTiming) return <LineChart {...common} lines={lines} {...opens(range, filters())} />;
  const stacks = lines.map((line) => ({ ...line, values: line.values.map(Number) }));
  return <BarChart {...common} stacks={stacks} {...opens(range, filters())} />;
}

/** The first dimension is always there; the second may be left out, and both differ. */
function Dimension({ label, by, at }: { readonly label: string; readonly by: readonly string[]; readonly at: 0 | 1 }) {
  const value = by[at] ?? "";
  const isTag = value.startsWith(TAG);
  const change = (next: string): void => {
    const both = at === 0 ? [next, by[1]] : [by[0], next];
    setQuery({ by: [...new Set(both)].filter((name) => name !== undefined && name !== "").join(",") });
  };
  return (
    <>
      <Choice
        label={label}
        value={isTag ? TAG : value}
        options={at === 0 ? TEXT.DIMENSIONS : { "": TEXT.nothingElse, ...TEXT.DIMENSIONS }}
        onChange={change}
      />
      {isTag && (
        <input
          aria-label={TEXT.tagNameOf(label)}
          placeholder={TEXT.tagName}
          value={value.slice(TAG.length)}
          onChange={(event) => change(TAG + event.currentTarget.value.trim().replaceAll(",", ""))}
        />
      )}
    </>
  );
}
