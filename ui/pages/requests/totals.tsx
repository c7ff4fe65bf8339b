// Totals of the requests that the filters let through. New requests are counted, and shown when asked for.

import { useLoad } from "../../api.ts";
import { count, exact, percent, plural, usd } from "../../format.ts";
import { Button } from "../../kit/button.tsx";
import { savedAgainst } from "../../parts/text.ts";
import { type Range, rangeQuery } from "../../range.ts";
import type { RequestTotals } from "../../types.ts";
import { savedShare } from "./facts.tsx";
import * as TEXT from "./text.ts";

interface TotalsProps {
  readonly range: Range;
  readonly filter: string;
}

export function Totals({ range, filter }: TotalsProps) {
  const { data } = useLoad<RequestTotals>(`/api/requests/totals?${rangeQuery(range)}${filter}`);
  return (
    <p class="row totals" aria-live="polite">
      {data !== null && (
        <>
          <b title={String(data.requests)}>{plural(data.requests, "request")}</b>
          <span title={exact(data.chargeUsd)}>{TEXT.costOf(usd(data.chargeUsd))}</span>
          <span title={savedAgainst(exact(data.savedUsd), data)}>
            {TEXT.savedAmount(usd(data.savedUsd), percent(savedShare(data)))}
          </span>
          <span>{TEXT.tokensOf(count(data.tokens))}</span>
          {data.errors > 0 && <span class="bad">{plural(data.errors, "error")}</span>}
        </>
      )}
    </p>
  );
}

const EVERY_MS = 15_000;

/** Counts now and then how many requests came since the list was read, while the newest page is shown and not live. */
export function NewSince({
  filter,
  sinceMs,
  onShow,
}: {
  readonly filter: string;
  readonly sinceMs: number;
  readonly onShow: () => void;
}) {
  const from = new Date(sinceMs + 1).toISOString();
  const { data } = useLoad<RequestTotals>(`/api/requests/totals?from=${from}${filter}`, { everyMs: EVERY_MS });
  if (data === null || data.requests === 0) return null;
  return (
    <Button kind="primary" onClick={onShow}>
      {plural(data.requests, TEXT.newRequest)}
    </Button>
  );
}
