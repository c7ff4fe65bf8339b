// The chart of attempts: which attempt answered, or which providers failed.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { useLoad } from "../../api.ts";
import { BarChart } from "../../charts/bars.tsx";
import { Figure, Legend } from "../../charts/figure.tsx";
import { fullTimeLabel, timesOf } from "../../charts/scale.ts";
import { zoneName } from "../../clock.ts";
import { count } from "../../format.ts";
import { Segmented } from "../../kit/button.tsx";
import { Check } from "../../kit/field.tsx";
import { rangeQuery } from "../../range.ts";
import { place } from "../../router.ts";
import type { Failures, List } from "../../types.ts";
import { describeFailures, describeTries, failureStacks, tryStacks } from "./attempt-stacks.ts";
import { opens, requestsHref, type Series, subtitle } from "./drill-down.ts";
import * as TEXT from "./text.ts";

/** The series of the page; the failures per provider are read only while they are shown. */
interface AttemptChartProps extends Series {
  /** Interval at which the failures are read again; 0 is never. */
  readonly everyMs: number;
}

/** The two views. */
const CHOICES = [
  { value: "try", label: TEXT.byAttempt },
  { value: "provider", label: TEXT.byProvider },
] as const;

/** Two views of the same question. */
export function AttemptChart(props: AttemptChartProps) {
  const [what, setWhat] = useState<string>("try");
  const choice = <Segmented label={TEXT.attemptsBy} choices={CHOICES} value={what} onChange={setWhat} />;
  return what === "try" ? <ByTry {...props} choice={choice} /> : <ByProvider {...props} choice={choice} />;
}

/** A view with the switch to the other one. */
type ChosenChartProps = AttemptChartProps & { readonly choice: ComponentChildren };

/** Requests that the first attempt answered would dwarf the others, so they are drawn on request only. */
function ByTry({ range, rows, isWaiting, choice }: ChosenChartProps) {
  const [isWhole, setWhole] = useState(false);
  const times = timesOf(range, range.step);
  const stacks = tryStacks(range, rows);
  // The table and the legend always show all of them.
  const drawn = stacks.filter(({ at }) => isWhole || at !== "first");
  return (
    <Figure
      title={TEXT.attempts}
      isWaiting={isWaiting}
      trend={`${subtitle(range)}. ${describeTries(rows)}`}
      table={{
        head: [TEXT.timeIn(zoneName(range.step)), ...stacks.map(({ name }) => name)],
        rows: times.map((time, index) => [
          fullTimeLabel(time, range.step),
          ...stacks.map(({ values, isKnown }) => (isKnown[index] ? count(values[index]) : "–")),
        ]),
      }}
      actions={
        <>
          <Check label={TEXT.includeFirstAttempts} isOn={isWhole} onChange={setWhole} />
          {choice}
        </>
      }
      legend={
        <Legend
          entries={stacks.map(({ name, mark, at, total }) => ({
            name: `${name} · ${count(total)}`,
            mark,
            href: requestsHref({ answered: at }),
          }))}
        />
      }
    >
      <BarChart
        label={isWhole ? TEXT.attemptsCaption : TEXT.laterCaption}
        times={times}
        step={range.step}
        format={count}
        stacks={drawn}
        {...opens(range, { answered: drawn.map(({ at }) => at).join(",") })}
      />
    </Figure>
  );
}

/** Requests that each provider failed, whether or not another one answered. */
function ByProvider({ range, rows, everyMs, choice }: ChosenChartProps) {
  const key = place.value.query.get("key");
  // The failures follow the key filter of the page.
  const narrowed = key === null ? "" : `&key=${encodeURIComponent(key)}`;
  const path = `/api/usage/failures?by=${range.step}&${rangeQuery(range)}${narrowed}`;
  const failures = useLoad<List<Failures>>(path, { everyMs });
  const times = timesOf(range, range.step);
  const stacks = failureStacks(range, failures.data?.data ?? []);
  return (
    <Figure
      title={TEXT.attempts}
      load={failures}
      trend={`${subtitle(range)}. ${describeFailures(stacks, rows)}`}
      table={{
        head: [TEXT.timeIn(zoneName(range.step)), ...stacks.map(({ name }) => name)],
        rows: times.map((time, index) => [
          fullTimeLabel(time, range.step),
          ...stacks.map(({ values }) => count(values[index])),
        ]),
      }}
      actions={choice}
      legend={
        <Legend
          entries={stacks.map(({ name, mark, total, provider }) => ({
            name: `${name} · ${count(total)}`,
            mark,
            ...(provider === null ? {} : { href: requestsHref({ failed: provider }) }),
          }))}
        />
      }
    >
      <BarChart
        label={TEXT.providersCaption}
        times={times}
        step={range.step}
        format={count}
        stacks={stacks}
        {...opens(range, { answered: "second,later,none" })}
      />
    </Figure>
  );
}
