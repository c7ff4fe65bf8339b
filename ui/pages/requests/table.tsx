// The rows of the request log. On a phone each row is a card of two lines.

import { useLoad } from "../../api.ts";
import { ago, count, duration, percent, usd, utc } from "../../format.ts";
import { TierBadge } from "../../kit/tier.tsx";
import { go, place } from "../../router.ts";
import type { Key, List, RequestLine } from "../../types.ts";
import * as TEXT from "./text.ts";

/** The open request is in the sheet; the chosen one is where the keyboard is. */
interface RequestTableProps {
  readonly rows: readonly RequestLine[];
  readonly openId: string | null;
  readonly chosenId: string | null;
}

/** Keys by their names; a deleted key is shown by its id. */
export function RequestTable({ rows, openId, chosenId }: RequestTableProps) {
  const keys = useLoad<List<Key>>("/api/keys?limit=200").data?.data ?? [];
  const names = new Map(keys.map(({ id, name }) => [id, name]));
  return (
    <div class="table-box">
      <table class="rows requests">
        <caption class="hidden">{TEXT.tableCaption}</caption>
        <thead>
          <tr>
            <th scope="col">{TEXT.time}</th>
            <th scope="col">{TEXT.status}</th>
            <th scope="col">{TEXT.tier}</th>
            <th scope="col">{TEXT.model}</th>
            <th scope="col">{TEXT.key}</th>
            <th scope="col" class="number">
              {TEXT.tokens}
            </th>
            <th scope="col" class="number">
              {TEXT.cost}
            </th>
            <th scope="col" class="number">
              {TEXT.saved}
            </th>
            <th scope="col" class="number">
              {TEXT.ttft}
            </th>
            <th scope="col" class="number">
              {TEXT.total}
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <RequestRow
              key={row.id}
              row={row}
              keyName={names.get(row.key) ?? row.key}
              isOpen={row.id === openId || row.requestId === openId}
              isChosen={row.id === chosenId}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** One request. */
interface RequestRowProps {
  readonly row: RequestLine;
  readonly keyName: string;
  readonly isOpen: boolean;
  readonly isChosen: boolean;
}

/** The whole row opens the request, and the time is a link to it for the keyboard. */
function RequestRow({ row, keyName, isOpen, isChosen }: RequestRowProps) {
  const query = place.value.query.toString();
  // The filters stay, so that closing the request shows the same list.
  const href = `/requests/${encodeURIComponent(row.id)}${query === "" ? "" : `?${query}`}`;
  const open = (event: MouseEvent): void => {
    // A link in the row goes where it says.
    const isOnLink = event.target instanceof Element && event.target.closest("a") !== null;
    if (!isOnLink) go(href);
  };
  return (
    <tr
      data-row={row.id}
      class={`${isOpen ? "open" : ""} ${isChosen ? "chosen" : ""}`}
      aria-current={isOpen ? "true" : undefined}
      onClick={open}
    >
      <td data-cell="time">
        <a href={href} title={TEXT.rowLabel(utc(row.createdAt), row.requestId)}>
          {ago(row.createdAt)}
        </a>
      </td>
      <td data-cell="status">
        <Status row={row} />
      </td>
      <td data-cell="tier">{unroutedEndpoint(row.route) ?? <TierBadge tier={row.tier} from={row.classifiedTier} />}</td>
      <td data-cell="model" class="cut" title={row.model ?? undefined}>
        {row.model ?? <span class="faint">—</span>}
        {row.fallback && (
          <span class="caution" title={TEXT.fallbackAttempt(row.attempts)}>
            {" "}
            ↪ {row.attempts}
          </span>
        )}
      </td>
      <td data-cell="key" class="cut" title={row.key}>
        {keyName}
      </td>
      <Numbers row={row} />
    </tr>
  );
}

/** What stands in place of a tier where a request names its model; null for chat. */
export function unroutedEndpoint(route: string): string | null {
  return /^\/v1\/(embeddings|rerank|moderations)$/.exec(route)?.[1] ?? null;
}

/** Tokens read from or written to a cache are input, too. */
function Numbers({ row }: { readonly row: RequestLine }) {
  const saved = row.savedUsd === null ? null : Number(row.savedUsd) / (Number(row.baselineUsd) || 1);
  // Null where no tokens were counted, as for a rejected request.
  const tokensIn = row.tokens === null ? null : row.tokens.input + row.tokens.cacheRead + row.tokens.cacheWrite;
  return (
    <>
      <td data-cell="tokens" class="number" title={row.usageEstimated ? TEXT.estimated : TEXT.countedHint}>
        {tokensIn === null ? "–" : `${count(tokensIn)} → ${count(row.tokens?.output)}`}
      </td>
      <td data-cell="cost" class="number" title={row.chargeUsd ?? undefined}>
        {usd(row.chargeUsd)}
      </td>
      <td
        data-cell="saved"
        class={`number ${saved !== null && saved < 0 ? "bad" : ""}`}
        title={row.savedUsd ?? undefined}
      >
        {percent(saved)}
      </td>
      <td data-cell="first" class="number">
        {duration(row.firstContentMs)}
      </td>
      <td data-cell="total" class="number">
        {duration(row.latencyMs)}
      </td>
    </>
  );
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
