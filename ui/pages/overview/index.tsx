// The overview: what was paid, what the baseline would have cost, and everything that explains the difference.

import { useSignal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { useLoad } from "../../api.ts";
import { percent, span, usd, utc } from "../../format.ts";
import { Check } from "../../kit/field.tsx";
import { PageHead, RangePicker } from "../../kit/page.tsx";
import { Empty, Shown } from "../../kit/states.tsx";
import { KeyPicker } from "../../parts/key-picker.tsx";
import { currentRange, type Range, rangeBefore, rangeQuery } from "../../range.ts";
import { hrefTo, place, setQuery } from "../../router.ts";
import { isOperator } from "../../session.ts";
import type { Explore, List, RequestLine, Usage } from "../../types.ts";
import { LatencyChart, ModelMix, SpendChart, StatusChart, TierMix } from "./charts.tsx";
import { Checklist } from "./checklist.tsx";
import { FallbackChart } from "./fallbacks.tsx";
import { LastErrors, TOP_KEYS, TopKeys } from "./lists.tsx";
import * as TEXT from "./text.ts";
import { Tiles } from "./tiles.tsx";

/** The subtitle while there is nothing to count. */
const PURPOSE = TEXT.purpose;
/** How often the numbers are read again while "Auto-refresh" is on. */
const EVERY_MS = 10_000;
const TICK_MS = 1_000;
/** Somebody who has just sent their first request is waiting for it. */
const FIRST_EVERY_MS = 2_000;

/** A gateway that has answered nothing shows the checklist, and keeps it until the user leaves it. */
export function Overview() {
  // The first request must not take the checklist away: the user leaves it.
  const stage = useSignal<"unknown" | "waiting" | "left">("unknown");
  const options = stage.value === "waiting" ? { everyMs: FIRST_EVERY_MS } : {};
  const latest = useLoad<List<RequestLine>>("/api/requests?limit=1", options);
  const first = latest.data?.data[0] ?? null;
  // A failed request is no start: it counts only when another one was answered.
  const isFailed = first?.error === true;
  const answered = useLoad<List<RequestLine>>(isFailed ? "/api/requests?limit=1&status=2xx" : null, options);
  const isNew = latest.data !== null && (first === null || (isFailed && answered.data?.data.length === 0));
  useEffect(() => {
    if (isNew && stage.value === "unknown") stage.value = "waiting";
  }, [isNew, stage]);
  if (stage.value !== "left" && (isNew || stage.value === "waiting")) {
    return (
      <>
        <PageHead title={TEXT.overview} purpose={PURPOSE} />
        <Checklist latest={first} onDone={() => (stage.value = "left")} />
      </>
    );
  }
  return (
    <Shown load={isFailed ? answered : latest} rows={10}>
      {() => <Dashboard />}
    </Shown>
  );
}

/** All numbers of the page, each read once and handed to the parts that show it. */
function Dashboard() {
  const isLive = place.value.query.get("live") !== "off";
  const key = place.value.query.get("key");
  const range = currentRange();
  const options = isLive ? { everyMs: EVERY_MS } : {};
  const narrowed = key === null ? "" : `&key=${encodeURIComponent(key)}`;
  // Percentiles are costly to compute, so only the charts that show them ask for them.
  const query = (by: string, span: { fromMs: number; toMs: number }, group = ""): string =>
    `/api/usage?by=${by}&${rangeQuery(span)}${group === "" ? "" : `&latency=false&group=${group}`}${narrowed}`;
  const total = useLoad<List<Usage>>(query("total", range), options);
  // The time before does not change any more, so it is read once.
  const before = useLoad<List<Usage>>(query("total", rangeBefore(range)));
  const series = useLoad<List<Usage>>(query(range.step, range), options);
  const tiers = useLoad<List<Usage>>(query(range.step, range, "tier"), options);
  const statuses = useLoad<List<Usage>>(query(range.step, range, "status"), options);
  const models = useLoad<List<Usage>>(query("total", range, "model"), options);
  const top = `/api/explore?metric=cost&by=key&top=${TOP_KEYS}&${rangeQuery(range)}${narrowed}`;
  const keys = useLoad<Explore>(top, options);
  const isQuiet = total.data !== null && (total.data.data[0]?.requests ?? 0) === 0;
  return (
    <>
      <PageHead title={TEXT.overview} purpose={<SavingsSentence total={total.data?.data[0] ?? null} range={range} />}>
        <KeyPicker all={TEXT.allKeys} />
        <RangePicker />
      </PageHead>
      <Tiles range={range} total={total} before={before} series={series} />
      {isQuiet && (
        <Empty title={TEXT.noRequests(range.label.toLowerCase())}>
          <a href={hrefTo("/", { range: "30d", from: null, to: null })}>{TEXT.showLast30Days}</a>
        </Empty>
      )}
      <div class="charts">
        <SpendChart range={range} series={series} />
        <TierMix range={range} tiers={tiers} />
        <ModelMix models={models} />
        <LatencyChart range={range} series={series} />
        <StatusChart range={range} statuses={statuses} />
        <FallbackChart range={range} series={series} everyMs={isLive ? EVERY_MS : 0} />
        <TopKeys keys={keys} />
        <LastErrors range={range} />
      </div>
      <footer class="row faint">
        {total.loadedAtMs !== null && <UpdatedAgo atMs={total.loadedAtMs} />}
        <Check
          label={TEXT.autoRefresh}
          isOn={isLive}
          onChange={(isOn) => setQuery({ live: isOn ? null : "off" }, { replace: true })}
        />
      </footer>
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
function SavingsSentence({ total, range }: { readonly total: Usage | null; readonly range: Range }) {
  const model = useLoad<{ readonly baselineModel: string }>(isOperator() ? "/api/settings" : null).data?.baselineModel;
  if (total === null || total.requests === 0) return <span class="proof">{PURPOSE}</span>;
  const saved = Number(total.savedUsd) / (Number(total.baselineUsd) || 1);
  return (
    <span class="proof">
      {TEXT.youSpentIn(range.label)} <b title={total.chargeUsd}>{usd(total.chargeUsd)}</b> {TEXT.insteadOf}{" "}
      <b title={total.baselineUsd}>{usd(total.baselineUsd)}</b> {TEXT.on} {model ?? TEXT.someBaseline} (
      {saved >= 0 ? TEXT.savedShare(percent(saved)) : TEXT.moreThanBaseline(percent(-saved))}).
    </span>
  );
}
