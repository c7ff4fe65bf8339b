// The lists beside the charts: which keys spend most, and the latest errors.

import { type Load, useLoad } from "../../api.ts";
import { RankedBars } from "../../charts/bars.tsx";
import { ago, plural, usd, utc } from "../../format.ts";
import { Empty, Shown } from "../../kit/states.tsx";
import { type Range, rangeQuery } from "../../range.ts";
import { hrefTo, place } from "../../router.ts";
import type { Key, List, RequestLine, Usage } from "../../types.ts";
import { spent } from "../../usage.ts";
import { requestsHref } from "./drill-down.ts";
import * as TEXT from "./text.ts";

/** As many as fit beside a chart. */
const KEYS_MAX = 6;

/** Of all keys, also while the page is narrowed to one. A deleted key is shown by its id. */
export function TopKeys({ keys }: { readonly keys: Load<List<Usage>> }) {
  const known = useLoad<List<Key>>("/api/keys?limit=200").data?.data ?? [];
  // Usage knows keys by id only.
  const nameOf = (id: string): string => known.find((key) => key.id === id)?.name ?? id;
  return (
    <section class="card">
      <h2>{TEXT.topKeysBySpend}</h2>
      <Shown load={keys}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title={TEXT.noKeyActivity} />
          ) : (
            <RankedBars
              rows={[...data]
                .sort((a, b) => spent(b) - spent(a))
                .slice(0, KEYS_MAX)
                .map((row) => ({
                  id: row.group ?? "none",
                  label: nameOf(row.group ?? "none"),
                  value: spent(row),
                  shown: usd(row.chargeUsd),
                  detail: plural(row.requests, "request"),
                  href: hrefTo("/requests", { key: row.group }),
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
