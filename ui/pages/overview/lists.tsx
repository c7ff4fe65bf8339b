// The lists beside the charts: which keys spend most, and the latest errors.

import { type Load, useLoad } from "../../api.ts";
import { RankedBars } from "../../charts/bars.tsx";
import { ago, plural, usd, utc } from "../../format.ts";
import { Empty, Shown } from "../../kit/states.tsx";
import { type Range, rangeQuery } from "../../range.ts";
import { hrefTo, place } from "../../router.ts";
import type { Explore, List, RequestLine } from "../../types.ts";
import { requestsHref } from "./drill-down.ts";
import * as TEXT from "./text.ts";

/** As many as fit beside a chart. */
export const TOP_KEYS = 6;

/** A key that is not there any more is shown by its id. */
export function TopKeys({ keys }: { readonly keys: Load<Explore> }) {
  return (
    <section class="card">
      <h2>{TEXT.topKeysBySpend}</h2>
      <Shown load={keys}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title={TEXT.noKeyActivity} />
          ) : (
            <RankedBars
              rows={data.slice(0, TOP_KEYS).map(({ by, value, requests }) => ({
                id: by[0]?.value ?? "",
                label: <bdi>{by[0]?.label ?? by[0]?.value}</bdi>,
                value: Number(value),
                shown: usd(value),
                detail: plural(requests, "request"),
                href: hrefTo("/requests", { key: by[0]?.value ?? null }),
              }))}
            />
          )
        }
      </Shown>
    </section>
  );
}

/** The latest five, each with the way to its request. */
export function LastErrors({ range }: { readonly range: Range }) {
  const key = place.value.query.get("key");
  // The errors follow the key filter of the page.
  const narrowed = key === null ? "" : `&key=${encodeURIComponent(key)}`;
  const errors = useLoad<List<RequestLine>>(`/api/requests?status=error&limit=5&${rangeQuery(range)}${narrowed}`);
  return (
    <section class="card">
      <h2>
        {TEXT.recentErrors}{" "}
        <a class="small" href={requestsHref({ status: "error" })}>
          {TEXT.viewAll}
        </a>
      </h2>
      <Shown load={errors}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title={TEXT.noErrorsInRange} />
          ) : (
            <ul class="plain-list">
              {data.map((line) => (
                <li key={line.id}>
                  <a class="row" href={hrefTo(`/requests/${line.id}`, { status: "error", key })}>
                    <span class="status bad">{line.status}</span>
                    <span class="grow cut">{line.errorCode ?? line.ending ?? "error"}</span>
                    <time class="faint" title={utc(line.createdAt)}>
                      {ago(line.createdAt)}
                    </time>
                  </a>
                </li>
              ))}
            </ul>
          )
        }
      </Shown>
    </section>
  );
}
