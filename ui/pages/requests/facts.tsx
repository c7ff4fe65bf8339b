// Facts of a request that the list and its panel both show, so that a figure is the same wherever it stands.

import type { RequestLine } from "../../types.ts";

/** Saving as a share of the baseline; null for a request that failed or was not charged. */
export function savedShare({ savedUsd, baselineUsd }: Pick<RequestLine, "savedUsd" | "baselineUsd">): number | null {
  return savedUsd === null ? null : Number(savedUsd) / (Number(baselineUsd) || 1);
}

/** Name of an endpoint whose requests name their model. It stands in place of a tier; null for chat. */
export function unroutedEndpoint(route: string): string | null {
  return /^\/v1\/(embeddings|rerank|moderations|images\/\w+|audio\/\w+)$/.exec(route)?.[1] ?? null;
}

/** A stream that broke off has a good status, so the word is added. */
export function Status({ row }: { readonly row: Pick<RequestLine, "status" | "error" | "errorCode" | "ending"> }) {
  const isBroken = row.error && row.status < 400;
  return (
    <span class={`status ${row.error ? "bad" : "good"}`} title={row.errorCode ?? row.ending ?? undefined}>
      {row.status}
      {isBroken ? " interrupted" : ""}
    </span>
  );
}
