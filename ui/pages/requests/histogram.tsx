// Requests over the range as the filters let them through, answered and failed. Dragging zooms in.

import { useLoad } from "../../api.ts";
import { BarChart } from "../../charts/bars.tsx";
import { Figure, Legend } from "../../charts/figure.tsx";
import { fullTimeLabel, stepMs, timesOf } from "../../charts/scale.ts";
import { zoneName } from "../../clock.ts";
import { count, plural } from "../../format.ts";
import { type Range, rangeQuery } from "../../range.ts";
import { setQuery } from "../../router.ts";
import type { HistogramBar, List } from "../../types.ts";
import * as TEXT from "./text.ts";

/** Height below that of other charts: people come for the list under it. */
const HEIGHT_PX = 72;
/** Interval of reading while live, which is enough for a bar that grows. */
const LIVE_EVERY_MS = 10_000;

/** The same filter as the list, as it stands in the query. */
interface RequestHistogramProps {
  readonly range: Range;
  readonly filter: string;
  readonly isLive: boolean;
}

/** Every step of the range has a bar, also where nothing happened. */
export function RequestHistogram({ range, filter, isLive }: RequestHistogramProps) {
  const load = useLoad<List<HistogramBar>>(
    `/api/requests/histogram?by=${range.step}&${rangeQuery(range)}${filter}`,
    isLive ? { everyMs: LIVE_EVERY_MS } : {},
  );
  const bars = new Map((load.data?.data ?? []).map((bar) => [Date.parse(bar.start), bar]));
  const times = timesOf(range, range.step);
  const read = (of: (bar: HistogramBar) => number): readonly number[] =>
    times.map((time) => {
      const bar = bars.get(time);
      return bar === undefined ? 0 : of(bar);
    });
  const stacks = [
    { name: TEXT.success, mark: "accent", values: read(({ requests, errors }) => requests - errors) },
    { name: TEXT.errors, mark: "bad", values: read(({ errors }) => errors) },
  ];
  const total = [...bars.values()].reduce((sum, { requests }) => sum + requests, 0);
  return (
    <Figure
      title={TEXT.requestsOverTime}
      load={load}
      trend={TEXT.histogramHint(
        range.label,
        range.step,
        zoneName(range.step),
        plural(total, filter === "" ? "request" : TEXT.matchingRequest),
      )}
      table={{
        head: [TEXT.timeIn(zoneName(range.step)), TEXT.success, TEXT.errors],
        rows: times.map((time, index) => [
          fullTimeLabel(time, range.step),
          ...stacks.map(({ values }) => count(values[index])),
        ]),
      }}
      legend={<Legend entries={stacks} />}
    >
      <BarChart
        label={TEXT.histogramCaption}
        times={times}
        step={range.step}
        format={count}
        heightPx={HEIGHT_PX}
        stacks={stacks}
        onZoom={(first, last) => zoom(times, range, [first, last])}
        onPick={(index) => zoom(times, range, [index, index])}
      />
    </Figure>
  );
}

/** A chosen range goes to the address, and the list starts at its newest request again. */
function zoom(times: readonly number[], range: Range, [first, last]: readonly [number, number]): void {
  setQuery({
    range: null,
    after: null,
    from: new Date(times[first] ?? range.fromMs).toISOString(),
    to: new Date((times[last] ?? range.toMs) + stepMs(range.step)).toISOString(),
  });
}
