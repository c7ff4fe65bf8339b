// The charts of the overview about requests: tiers and errors.

import { TIERS } from "../../../src/core/tiers.ts";
import type { Load } from "../../api.ts";
import { BarChart } from "../../charts/bars.tsx";
import { Figure, Legend } from "../../charts/figure.tsx";
import { fullTimeLabel, timesOf } from "../../charts/scale.ts";
import { count, percent } from "../../format.ts";
import type { Range } from "../../range.ts";
import type { List, Usage } from "../../types.ts";
import { byGroup, perStep, sum } from "../../usage.ts";
import { opens, requestsHref, subtitle } from "./range.ts";

export function TierMix({ range, tiers }: { readonly range: Range; readonly tiers: Load<List<Usage>> }) {
  const times = timesOf(range, range.step);
  const groups = byGroup(tiers.data);
  const total = sum(tiers.data?.data ?? [], ({ requests }) => requests);
  const stacks = TIERS.map((tier) => ({
    name: tier,
    mark: `tier-${tier}`,
    values: perStep(range, groups.get(tier) ?? [], ({ requests }) => requests, 0),
  }));
  const shares = TIERS.map((tier) => sum(groups.get(tier) ?? [], ({ requests }) => requests) / (total || 1));
  const most = TIERS[shares.indexOf(Math.max(...shares))];
  return (
    <Figure
      title="Tier mix"
      trend={
        total === 0
          ? subtitle(range)
          : `${subtitle(range)}. Most requests (${percent(Math.max(...shares))}) were ${most}.`
      }
      table={{
        head: ["Time, UTC", ...TIERS],
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
        label="Share of requests by tier over time"
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

interface Kind {
  readonly name: string;
  readonly mark: string;
  isOf(status: number): boolean;
  /** The filter of the log that finds the same; of several statuses, those that there were. */
  readonly filter: (statuses: readonly number[]) => string;
}

const KINDS: readonly Kind[] = [
  { name: "402 no credits", mark: "warn", isOf: (status) => status === 402, filter: () => "402" },
  { name: "429 limits", mark: "caution", isOf: (status) => status === 429, filter: () => "429" },
  {
    ...{ name: "other 4xx", mark: "muted", isOf: (status) => status >= 400 && status < 500 },
    filter: (statuses) => statuses.join(",") || "4xx",
  },
  { name: "5xx", mark: "bad", isOf: (status) => status >= 500, filter: () => "5xx" },
  { name: "broken off", mark: "broken", isOf: () => true, filter: () => "broken" },
];

export function StatusChart({ range, statuses }: { readonly range: Range; readonly statuses: Load<List<Usage>> }) {
  const times = timesOf(range, range.step);
  const stacks = KINDS.map((kind) => {
    const rows = (statuses.data?.data ?? []).filter(({ group }) => kindOf(Number(group)) === kind);
    const values = times.map((time) =>
      sum(
        rows.filter(({ start }) => Date.parse(start) === time),
        ({ errors }) => errors,
      ),
    );
    const status = kind.filter([...new Set(rows.map(({ group }) => Number(group)))]);
    // Which statuses there were is not known before they are read.
    const link = statuses.data === null ? {} : { href: requestsHref({ status }) };
    return { name: kind.name, mark: kind.mark, values, ...link };
  });
  const total = sum(statuses.data?.data ?? [], ({ errors }) => errors);
  return (
    <Figure
      title="Errors"
      trend={
        statuses.data === null
          ? subtitle(range)
          : `${subtitle(range)}. ${total === 0 ? "None." : `${count(total)} in all.`}`
      }
      table={{
        head: ["Time, UTC", ...stacks.map(({ name }) => name)],
        rows: times.map((time, index) => [
          fullTimeLabel(time, range.step),
          ...stacks.map(({ values }) => count(values[index])),
        ]),
      }}
      legend={<Legend entries={stacks} />}
    >
      <BarChart
        label="Errors by kind over time"
        times={times}
        step={range.step}
        format={count}
        stacks={stacks}
        {...opens(range, { status: "error" })}
      />
    </Figure>
  );
}

function kindOf(status: number): Kind | undefined {
  return KINDS.find((kind) => kind.isOf(status));
}
