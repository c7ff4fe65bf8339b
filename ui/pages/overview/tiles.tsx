// The six numbers of the overview. Each says how it changed and how it is computed, and opens the requests behind it.

import { Spark } from "../../charts/spark.tsx";
import { count, duration, percent, shortUsd } from "../../format.ts";
import { Popover } from "../../kit/popover.tsx";
import { Skeleton } from "../../kit/states.tsx";
import type { Range } from "../../range.ts";
import type { OverviewData, Usage } from "../../types.ts";
import { perStep } from "../../usage.ts";
import { requestsHref } from "./drill-down.ts";
import * as TEXT from "./text.ts";

/** A number: how it is read, shown and explained. */
interface Tile {
  readonly name: string;
  readonly about: string;
  readonly read: (row: Usage) => number | null;
  readonly show: (value: number) => string;
  /** A second number beside the first. */
  readonly note?: (row: Usage) => string;
  /** Direction that is good; null takes no side. */
  readonly better: "more" | "less" | null;
  /** The requests behind it; all of them where nothing is said. */
  readonly filter?: Readonly<Record<string, string>>;
}

/** Tiles in the order of the page. */
const TILES: readonly Tile[] = [
  {
    name: TEXT.requests,
    about: TEXT.requestsHint,
    read: ({ requests }) => requests,
    show: count,
    better: null,
  },
  {
    name: TEXT.spend,
    about: TEXT.spendHint,
    read: ({ chargeUsd }) => Number(chargeUsd),
    show: shortUsd,
    better: "less",
  },
  {
    name: TEXT.saved,
    about: TEXT.savedHint,
    read: ({ savedUsd }) => Number(savedUsd),
    show: shortUsd,
    note: ({ savedUsd, baselineUsd }) => percent(Number(savedUsd) / (Number(baselineUsd) || 1)),
    better: "more",
  },
  {
    name: "TTFT (p95)",
    about: TEXT.ttftHint,
    read: ({ firstContent }) => firstContent.p95Ms,
    show: duration,
    // With fewer than twenty requests, the 95th percentile is the slowest one.
    note: ({ requests, errors }) => (requests - errors < 20 ? TEXT.slowestOf(requests - errors) : ""),
    better: "less",
  },
  {
    name: TEXT.errorRate,
    about: TEXT.errorRateHint,
    read: ({ errors, requests }) => (requests === 0 ? null : errors / requests),
    show: percent,
    note: ({ errors }) => count(errors),
    better: "less",
    filter: { status: "error" },
  },
  {
    name: TEXT.fallbackRate,
    about: TEXT.fallbackRateHint,
    read: ({ fallbacks, requests }) => (requests === 0 ? null : fallbacks / requests),
    show: percent,
    note: ({ fallbacks }) => count(fallbacks),
    better: "less",
    filter: { fallback: "true" },
  },
];

/** A change beyond this says only that there was next to nothing before. */
const CHANGE_MAX = 10;

/** One card per number, with its course over the range. */
export function Tiles({ range, data }: { readonly range: Range; readonly data: OverviewData | null }) {
  return (
    <section class="tiles" aria-label={TEXT.keyNumbers}>
      {TILES.map((tile) => (
        <TileCard
          key={tile.name}
          tile={tile}
          now={data?.total ?? null}
          then={data?.before ?? null}
          isLoaded={data !== null}
        >
          {perStep(range, data?.series ?? [], tile.read, null)}
        </TileCard>
      ))}
    </section>
  );
}

/** The children are the values of each step, for the sparkline. */
interface TileCardProps {
  readonly tile: Tile;
  readonly now: Usage | null;
  readonly then: Usage | null;
  readonly isLoaded: boolean;
  readonly children: readonly (number | null)[];
}

/** The place is kept while the number loads. */
function TileCard({ tile, now, then, isLoaded, children }: TileCardProps) {
  const value = now === null ? null : tile.read(now);
  const href = requestsHref(tile.filter);
  return (
    <article class="card tile">
      <h2>
        {tile.name}
        <Popover kind="why" label="?" name={TEXT.aboutTile(tile.name)}>
          {tile.about}
        </Popover>
      </h2>
      {isLoaded ? (
        <a class="big" href={href} title={value === null ? undefined : String(value)}>
          {value === null ? "–" : tile.show(value)}
          {now !== null && tile.note !== undefined && <small>{tile.note(now)}</small>}
        </a>
      ) : (
        <Skeleton rows={1} />
      )}
      <div class="tile-foot">
        <Change tile={tile} value={value} before={then === null ? null : tile.read(then)} />
        <Spark values={children} />
      </div>
    </article>
  );
}

/** The number now and in the time before. */
interface ChangeProps {
  readonly tile: Tile;
  readonly value: number | null;
  readonly before: number | null;
}

/** The change in percent. From zero there is none to compute. */
function Change({ tile, value, before }: ChangeProps) {
  if (value === null || before === null || before === 0) {
    return (
      <span class="faint" title={TEXT.noPrevious}>
        –
      </span>
    );
  }
  const change = (value - before) / Math.abs(before);
  const isGood = tile.better === null || change === 0 ? null : change > 0 === (tile.better === "more");
  const tone = isGood === null ? "faint" : isGood ? "good" : "bad";
  const arrow = change > 0 ? "▲" : change < 0 ? "▼" : "";
  return (
    <span class={tone} title={TEXT.previously(tile.show(before))}>
      {arrow} {Math.abs(change) < CHANGE_MAX ? percent(Math.abs(change)) : ">1,000%"}
    </span>
  );
}
