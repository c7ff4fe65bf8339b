// How many requests there were over the range, answered and failed. Dragging zooms in.

import { useLoad } from "../api.ts";
import { BarChart } from "../charts/bars.tsx";
import { Figure, Legend } from "../charts/figure.tsx";
import { fullTimeLabel, stepMs, timesOf } from "../charts/scale.ts";
import { count } from "../format.ts";
import { type Range, rangeQuery } from "../range.ts";
import { place, setQuery } from "../router.ts";
import type { List, Usage } from "../types.ts";
import { perStep, sum } from "../usage.ts";

const HEIGHT_PX = 72;
/** What the totals can be narrowed by; the rest narrows the list only. */
const NARROWS = ["tier", "model", "key"];

export function RequestHistogram({ range }: { readonly range: Range }) {
  const { query } = place.value;
  const narrowed = NARROWS.filter((name) => query.has(name))
    .map((name) => `&${name}=${encodeURIComponent(query.get(name) ?? "")}`)
    .join("");
  const rows = useLoad<List<Usage>>(`/api/usage?by=${range.step}&${rangeQuery(range)}${narrowed}`).data?.data ?? [];
  const times = timesOf(range, range.step);
  const stacks = [
    { name: "answered", mark: "accent", values: perStep(range, rows, ({ requests, errors }) => requests - errors, 0) },
    { name: "errors", mark: "bad", values: perStep(range, rows, ({ errors }) => errors, 0) },
  ];
  const isPart = ["status", "category", "fallback", "q"].some((name) => query.has(name));
  return (
    <Figure
      title="Requests over time"
      trend={`${range.label}, by ${range.step}, UTC: ${count(sum(rows, ({ requests }) => requests))} requests.${isPart ? " Counted by tier, model and key only; the other filters narrow the list." : " Drag to zoom."}`}
      table={{
        head: ["Time, UTC", "Answered", "Errors"],
        rows: times.map((time, index) => [
          fullTimeLabel(time, range.step),
          ...stacks.map(({ values }) => count(values[index])),
        ]),
      }}
      legend={<Legend entries={stacks} />}
    >
      <BarChart
        label="Requests over time, answered and failed"
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

function zoom(times: readonly number[], range: Range, [first, last]: readonly [number, number]): void {
  setQuery({
    range: null,
    after: null,
    from: new Date(times[first] ?? range.fromMs).toISOString(),
    to: new Date((times[last] ?? range.toMs) + stepMs(range.step)).toISOString(),
  });
}
