// The request log: a histogram over the newest requests, filters in the address, and one request beside the list.

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { useLoad, withAccount } from "../../api.ts";
import { plural } from "../../format.ts";
import { Button, ButtonLink } from "../../kit/button.tsx";
import { Check } from "../../kit/field.tsx";
import { PageHead, RangePicker } from "../../kit/page.tsx";
import { Empty, Shown } from "../../kit/states.tsx";
import { rowHref, useRowKeys } from "../../parts/row-keys.ts";
import { currentRange, type Range, rangeQuery } from "../../range.ts";
import { go, hrefTo, hrefWith, place, setQuery } from "../../router.ts";
import type { List, RequestLine } from "../../types.ts";
import { ColumnPicker } from "./columns.tsx";
import { filterNames, filterQuery, withoutFilters } from "./filter-names.ts";
import { Filters } from "./filters.tsx";
import { RequestHistogram } from "./histogram.tsx";
import { RequestSheet } from "./sheet.tsx";
import { RequestTable } from "./table.tsx";
import { type Tail, toTop, useTail, withLive } from "./tail.ts";
import * as TEXT from "./text.ts";
import { NewSince, Totals } from "./totals.tsx";
import { SavedViews } from "./views.tsx";

/** Interval at which the list is read where no stream can be opened. */
const POLL_EVERY_MS = 3_000;
/** The histogram and a screen or two of rows. */
const PAGE_ROWS = 50;

/** List, filters and open request are all in the address, so that every view can be sent to somebody. */
export function Requests() {
  const { path, query } = place.value;
  const openId = decodeURIComponent(path.split("/")[2] ?? "") || null;
  const range = currentRange();
  const after = query.get("after");
  const filter = filterQuery(query);
  // Live requests are the newest ones: an older page or a chosen range has none.
  const sorting = ["sort", "order"].map((name) => (query.has(name) ? `&${name}=${query.get(name)}` : "")).join("");
  const isNewest = after === null && sorting === "" && range.name !== "custom";
  const isTailed = query.get("tail") === "on" && isNewest;
  // The tail is needed before the list that it reloads, so the list's function arrives through a ref.
  const reload = useRef<() => void>(() => undefined);
  const tail = useTail(isTailed, filter, () => reload.current());
  const list = useLoad<List<RequestLine>>(
    `/api/requests?limit=${PAGE_ROWS}&${rangeQuery(range)}${filter}${sorting}${after === null ? "" : `&after=${after}`}`,
    tail.state === "polling" ? { everyMs: POLL_EVERY_MS } : {},
  );
  reload.current = list.reload;
  const read = list.data?.data ?? [];
  const rows = sorting === "" ? withLive(tail.requests, read) : read;
  const newest = isNewest && !isTailed ? read[0] : undefined;
  const ids = rows.map(({ id, requestId }) => (requestId === openId ? openId : id));
  const chosen = useRowKeys("/requests", ids, openId);
  return (
    <>
      <PageHead title={TEXT.requests} purpose={TEXT.purpose}>
        <Export range={range} filter={filter} />
        <RangePicker />
      </PageHead>
      <RequestHistogram range={range} filter={filter} isLive={isTailed} />
      <Filters>
        <SavedViews />
        <ColumnPicker />
        <Live isOn={isTailed} tail={tail} />
      </Filters>
      <Totals range={range} filter={filter} />
      <NewRequests tail={tail}>
        {newest !== undefined && (
          <NewSince filter={filter} sinceMs={Date.parse(newest.createdAt)} onShow={() => showNewest(list.reload)} />
        )}
      </NewRequests>
      <div>
        <Shown load={list} rows={12}>
          {({ next }) =>
            rows.length === 0 ? (
              <NoRequests range={range} />
            ) : (
              <>
                <RequestTable rows={rows} openId={openId} chosenId={chosen} />
                <Pages after={after} next={next} />
              </>
            )
          }
        </Shown>
        {openId !== null && <RequestSheet key={openId} id={openId} onClose={() => go(rowHref("/requests", null))} />}
      </div>
    </>
  );
}

/** Switches the live tail. Switching it on goes to the newest requests, because only those arrive live. */
function Live({ isOn, tail }: { readonly isOn: boolean; readonly tail: Tail }) {
  const change = (wanted: boolean): void => {
    const newest = { after: null, from: null, to: null, sort: null, order: null };
    setQuery({ tail: wanted ? "on" : null, ...(wanted ? newest : {}) }, { replace: true });
  };
  const said = { off: TEXT.live, streaming: TEXT.live, polling: TEXT.liveEvery(POLL_EVERY_MS / 1000) };
  return (
    <span class={isOn && tail.state === "streaming" ? "live on" : "live"}>
      <Check label={said[tail.state]} isOn={isOn} onChange={change} />
    </span>
  );
}

/** Reads the list again. Its range ends now, so the list then has the newest requests. */
function showNewest(reload: () => void): void {
  reload();
  toTop();
}

/** Stays mounted, so that screen readers read out what appears in it. */
function NewRequests({ tail, children }: { readonly tail: Tail; readonly children: ComponentChildren }) {
  return (
    <div class="new-lines" aria-live="polite">
      {children}
      {tail.waiting > 0 && (
        <Button
          kind="primary"
          onClick={() => {
            tail.show();
            toTop();
          }}
        >
          {plural(tail.waiting, TEXT.newRequest)}
        </Button>
      )}
    </div>
  );
}

/** Exports all requests that the filters let through, not only those of this page. */
function Export({ range, filter }: { readonly range: Range; readonly filter: string }) {
  const href = (format: string): string =>
    withAccount(`/api/requests/export?format=${format}&${rangeQuery(range)}${filter}`);
  return (
    <>
      <ButtonLink href={href("csv")} download="">
        {TEXT.csv}
      </ButtonLink>
      <ButtonLink href={href("ndjson")} download="">
        {TEXT.json}
      </ButtonLink>
    </>
  );
}

/** Nothing in the range, or nothing that passes the filters: each with a way out. */
function NoRequests({ range }: { readonly range: Range }) {
  const names = filterNames(place.value.query);
  if (names.length === 0) {
    return (
      <Empty
        title={TEXT.noRequests(range.label.toLowerCase())}
        action={
          <ButtonLink href={hrefWith({ range: "30d", from: null, to: null, after: null })}>
            {TEXT.showLast30Days}
          </ButtonLink>
        }
      >
        {TEXT.emptyHint} <a href={hrefTo("/keys")}>{TEXT.viewKeys}</a>
      </Empty>
    );
  }
  return (
    <Empty
      title={TEXT.noRequestsMatch(names.length === 1 ? TEXT.thisFilter : TEXT.theseFilters(names.length))}
      action={<Button onClick={() => setQuery(withoutFilters())}>{TEXT.clearFilters}</Button>}
    />
  );
}

/** The list is read by cursor: there is a way to the newest and to older requests, but no page numbers. */
function Pages({ after, next }: { readonly after: string | null; readonly next: string | null }) {
  const isSorted = place.value.query.has("sort") || place.value.query.has("order");
  // A page opens at its beginning, not where the one before was left.
  useEffect(() => {
    if (after !== null) toTop();
  }, [after]);
  if (after === null && next === null) return null;
  return (
    <nav class="row pages" aria-label={TEXT.requestPages}>
      {after !== null && (
        <ButtonLink href={hrefWith({ after: null })}>{isSorted ? TEXT.firstPage : TEXT.newest}</ButtonLink>
      )}
      {next !== null && (
        <ButtonLink href={hrefWith({ after: next })}>{isSorted ? TEXT.nextPage : TEXT.older}</ButtonLink>
      )}
    </nav>
  );
}
