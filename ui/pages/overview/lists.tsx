// The lists beside the charts: which keys spend most, and the latest errors.

import { RankedBars } from "../../charts/bars.tsx";
import { ago, exact, plural, usdColumn, utc } from "../../format.ts";
import { Empty, Skeleton } from "../../kit/states.tsx";
import { hrefTo, place } from "../../router.ts";
import type { OverviewData } from "../../types.ts";
import { spent } from "../../usage.ts";
import { requestsHref } from "./drill-down.ts";
import * as TEXT from "./text.ts";

/** A key that is not there any more is shown by its id. */
export function TopKeys({ keys }: { readonly keys: OverviewData["keys"] | undefined }) {
  const inColumn = usdColumn((keys ?? []).map(spent));
  return (
    <section class="card">
      <h2>{TEXT.topKeysBySpend}</h2>
      {keys === undefined ? (
        <Skeleton />
      ) : keys.length === 0 ? (
        <Empty title={TEXT.noKeyActivity} />
      ) : (
        <RankedBars
          rows={keys.map((row) => ({
            id: row.group ?? "none",
            label: <bdi>{row.name}</bdi>,
            value: spent(row),
            shown: inColumn(row.chargeUsd),
            title: exact(row.chargeUsd),
            detail: plural(row.requests, "request"),
            href: hrefTo("/requests", { key: row.group }),
          }))}
        />
      )}
    </section>
  );
}

/** The latest five, each with the way to its request. */
export function LastErrors({ errors }: { readonly errors: OverviewData["errors"] | undefined }) {
  return (
    <section class="card">
      <h2>
        {TEXT.recentErrors}{" "}
        <a class="small" href={requestsHref({ status: "error" })}>
          {TEXT.viewAll}
        </a>
      </h2>
      {errors === undefined ? (
        <Skeleton />
      ) : errors.length === 0 ? (
        <Empty title={TEXT.noErrorsInRange} />
      ) : (
        <ul class="plain-list">
          {errors.map((line) => (
            <li key={line.id}>
              <a
                class="row"
                href={hrefTo(`/requests/${line.id}`, { status: "error", key: place.value.query.get("key") })}
              >
                <span class="status bad">{line.status}</span>
                <span class="grow cut">{line.errorCode ?? line.ending ?? "error"}</span>
                <time class="faint" title={utc(line.createdAt)}>
                  {ago(line.createdAt)}
                </time>
              </a>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
