// The overview: what was paid, what the baseline would have cost, and everything that explains the difference.

import { useEffect, useState } from "preact/hooks";
import { useLoad } from "../../api.ts";
import { exact, percent, span, usd, utc } from "../../format.ts";
import { Check } from "../../kit/field.tsx";
import { PageHead, RangePicker } from "../../kit/page.tsx";
import { Empty, Shown } from "../../kit/states.tsx";
import { keep, kept } from "../../parts/kept.ts";
import { KeyPicker } from "../../parts/key-picker.tsx";
import { baselineNamed } from "../../parts/text.ts";
import { currentRange, type Range, rangeQuery } from "../../range.ts";
import { hrefTo, place, setQuery } from "../../router.ts";
import { session } from "../../session.ts";
import { useSignal } from "../../signal.ts";
import type { OverviewData } from "../../types.ts";
import { AttemptChart } from "./attempts.tsx";
import { LatencyChart, ModelMix, SpendChart, StatusChart, TierMix } from "./charts.tsx";
import { Checklist } from "./checklist.tsx";

import { LastErrors, TopKeys } from "./lists.tsx";
import * as TEXT from "./text.ts";
import { Tiles } from "./tiles.tsx";

/** The subtitle while there is nothing to count. */
const PURPOSE = TEXT.purpose;
/** Interval at which the numbers are read again while "Auto-refresh" is on. */
const EVERY_MS = 10_000;
const TICK_MS = 1_000;
/** Shorter interval for users who have just sent their first request and wait to see it. */
const FIRST_EVERY_MS = 2_000;

/** Remembers that the checklist was dismissed. */
const DISMISSED = "switchyard.checklist";

/** Shows the checklist until a real provider has answered, or the user dismisses it. Leaving it lasts as long as the visit. */
export function Overview() {
  // Neither the first request nor the first provider takes the checklist away: the user leaves it.
  const stage = useSignal<"unknown" | "waiting" | "left">(firstStage());
  const isLive = place.value.query.get("live") !== "off";
  const key = place.value.query.get("key");
  const range = currentRange();
  const everyMs = stage.value === "waiting" ? FIRST_EVERY_MS : isLive ? EVERY_MS : 0;
  const narrowed = key === null ? "" : `&key=${encodeURIComponent(key)}`;
  const load = useLoad<OverviewData>(`/api/overview?by=${range.step}&${rangeQuery(range)}${narrowed}`, { everyMs });
  const isNew = load.data?.isStarted === false;
  useEffect(() => {
    if (isNew && stage.value === "unknown") stage.value = "waiting";
  }, [isNew, stage]);
  if (stage.value !== "left" && (isNew || stage.value === "waiting")) {
    return (
      <>
        <PageHead title={TEXT.overview} purpose={PURPOSE} />
        <Checklist
          latest={load.data?.latest ?? null}
          onDone={() => (stage.value = "left")}
          onDismiss={() => {
            keep(DISMISSED, "yes");
            stage.value = "left";
          }}
        />
      </>
    );
  }
  return (
    <>
      <PageHead title={TEXT.overview} purpose={<SavingsSentence data={load.data} range={range} />}>
        <KeyPicker all={TEXT.allKeys} />
        <RangePicker />
      </PageHead>
      <Shown load={load} frame={null}>
        {() => null}
      </Shown>
      {(load.data !== null || load.error === null) && <Dashboard data={load.data} range={range} everyMs={everyMs} />}
      <footer class="row faint">
        {load.loadedAtMs !== null && <UpdatedAgo atMs={load.loadedAtMs} />}
        <Check
          label={TEXT.autoRefresh}
          isOn={isLive}
          onChange={(isOn) => setQuery({ live: isOn ? null : "off" }, { replace: true })}
        />
      </footer>
    </>
  );
}

function firstStage() {
  if (kept(DISMISSED) !== null) return "left";
  return session.value?.sandbox === true ? "waiting" : "unknown";
}

interface DashboardProps {
  /** Numbers of the page; null while they are read. Every part then keeps its place without a number. */
  readonly data: OverviewData | null;
  readonly range: Range;
  readonly everyMs: number;
}

/** Keeps the same parts in the same places, so that switches in charts keep their state when the range changes. */
function Dashboard({ data, range, everyMs }: DashboardProps) {
  const isWaiting = data === null;
  const part = <Row,>(rows: readonly Row[] | undefined) => ({ range, rows: rows ?? [], isWaiting });
  return (
    <>
      <Tiles range={range} data={data} />
      {data !== null && (data.total?.requests ?? 0) === 0 && (
        <Empty title={TEXT.noRequests(range.label.toLowerCase())}>
          <a href={hrefTo("/", { range: "30d", from: null, to: null })}>{TEXT.showLast30Days}</a>
        </Empty>
      )}
      <div class="charts">
        <SpendChart {...part(data?.series)} />
        <TierMix {...part(data?.tiers)} />
        <ModelMix {...part(data?.models)} />
        <LatencyChart {...part(data?.series)} />
        <StatusChart {...part(data?.statuses)} />
        <AttemptChart {...part(data?.series)} everyMs={everyMs} />
        <TopKeys keys={data?.keys} />
        <LastErrors errors={data?.errors} />
      </div>
    </>
  );
}

/** Counts the seconds since, so that numbers which stopped coming look old. */
function UpdatedAgo({ atMs }: { readonly atMs: number }) {
  const [nowMs, setNowMs] = useState(atMs);
  useEffect(() => {
    setNowMs(Date.now());
    const timer = setInterval(() => setNowMs(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, [atMs]);
  return <span title={utc(atMs)}>{TEXT.updatedAgo(span(nowMs - atMs))}</span>;
}

/** The point of the gateway in one sentence. Only operators may see which model is the baseline. */
function SavingsSentence({ data, range }: { readonly data: OverviewData | null; readonly range: Range }) {
  const total = data?.total ?? null;
  if (total === null || total.requests === 0) return <span class="proof">{PURPOSE}</span>;
  const saved = Number(total.savedUsd) / (Number(total.baselineUsd) || 1);
  return (
    <span class="proof">
      {TEXT.youSpentIn(range.label)} <b title={exact(total.chargeUsd)}>{usd(total.chargeUsd)}</b> {TEXT.insteadOf}{" "}
      <b title={exact(total.baselineUsd)}>{usd(total.baselineUsd)}</b> {TEXT.on}{" "}
      {baselineNamed(data?.baselineModel ?? TEXT.someBaseline, data?.baselinePrice ?? null)} (
      {saved >= 0 ? TEXT.savedShare(percent(saved)) : TEXT.moreThanBaseline(percent(-saved))}).
    </span>
  );
}
