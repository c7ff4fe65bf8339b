// Credits: the balance, what is on hold, how long it lasts, what each month came to, and every entry of the ledger.

import { useEffect } from "preact/hooks";
import { useLoad, withAccount } from "../../api.ts";
import { ago, balance, exact, usd, utc } from "../../format.ts";
import { useShortcuts } from "../../keyboard.ts";
import { Button, ButtonLink, Segmented } from "../../kit/button.tsx";
import { PageHead } from "../../kit/page.tsx";
import { Empty, Shown } from "../../kit/states.tsx";
import { hrefTo, hrefWith, place, setQuery } from "../../router.ts";
import { LOW_DAYS, runwayText } from "../../runway.ts";
import { isOperator } from "../../session.ts";
import type { Credits as Balance, LedgerEntry, List } from "../../types.ts";
import { useRunway } from "../../use-runway.ts";
import { MonthChip, Months } from "./months.tsx";
import { TopUp } from "./topup.tsx";

/** Holds come and go with every request, so the balance is watched closely. */
const BALANCE_EVERY_MS = 10_000;

/** Adding credits is for operators; `n` and the address open the dialog. */
export function Credits() {
  const { query } = place.value;
  const credits = useLoad<Balance>("/api/credits", { everyMs: BALANCE_EVERY_MS });
  const add = (): void => {
    if (isOperator()) setQuery({ new: "1" });
  };
  useShortcuts({ n: add });
  return (
    <>
      <PageHead title="Credits" purpose="Balance and full transaction history.">
        {isOperator() && (
          <Button kind="primary" onClick={add}>
            Add credits
          </Button>
        )}
      </PageHead>
      <Shown load={credits} rows={3}>
        {(data) => (data.billingMode === "metered" ? <Metered credits={data} /> : <Balances credits={data} />)}
      </Shown>
      <Months chosen={query.get("month")} />
      <Ledger />
      {query.get("new") !== null && isOperator() && (
        <TopUp onClose={() => setQuery({ new: null }, { replace: true })} />
      )}
    </>
  );
}

/** The ledger under the filters of the address, a page at a time. `entry` starts the list at one entry, as links do. */
function Ledger() {
  const { query } = place.value;
  const after = query.get("after");
  const entry = query.get("entry");
  const kind = query.get("kind") ?? "";
  const month = query.get("month");
  // A page of the list outweighs the entry that the list was opened at.
  const start = after !== null ? `&after=${after}` : entry !== null ? `&from=${encodeURIComponent(entry)}` : "";
  const filter = `${kind === "" ? "" : `&kind=${encodeURIComponent(kind)}`}${month === null ? "" : `&month=${encodeURIComponent(month)}`}`;
  const ledger = useLoad<List<LedgerEntry>>(`/api/ledger?limit=50${start}${filter}`);
  return (
    <section class="card" id="ledger">
      <div class="head-row">
        <h2>Ledger</h2>
        {month !== null && <MonthChip month={month} />}
        <Segmented
          label="Entry type"
          choices={KINDS}
          value={kind}
          onChange={(next) => setQuery({ kind: next, after: null, entry: null })}
        />
        <ButtonLink
          href={withAccount(`/api/ledger/export?format=csv${filter}`)}
          download={month === null ? "ledger.csv" : `ledger-${month}.csv`}
        >
          CSV
        </ButtonLink>
      </div>
      <Shown load={ledger} rows={10}>
        {({ data, next }) =>
          data.length === 0 ? (
            <NoEntry month={month} isNarrowed={filter !== "" || after !== null} />
          ) : (
            <>
              <LedgerTable entries={data} />
              <LedgerPages isAtNewest={after === null && entry === null} next={next} />
            </>
          )
        }
      </Shown>
    </section>
  );
}

/** The ledger is read by cursor: there is a way to the newest and to older entries, but no page numbers. */
function LedgerPages({ isAtNewest, next }: { readonly isAtNewest: boolean; readonly next: string | null }) {
  return (
    <nav class="row pages" aria-label="Ledger pages">
      {!isAtNewest && <ButtonLink href={hrefWith({ after: null, entry: null })}>Newest</ButtonLink>}
      {next !== null && <ButtonLink href={hrefWith({ after: next })}>Older</ButtonLink>}
    </nav>
  );
}

/** The filter of the ledger, by the names of the API. */
const KINDS = [
  { value: "", label: "All" },
  { value: "topup", label: "Top-ups" },
  { value: "charge", label: "Charges" },
  { value: "adjustment", label: "Adjustments" },
  { value: "grant", label: "Grants" },
];

/** An empty ledger, or filters that nothing passes. */
function NoEntry({ isNarrowed, month }: { readonly isNarrowed: boolean; readonly month: string | null }) {
  if (!isNarrowed) return <Empty title="No entries yet">Top-ups and charges appear here.</Empty>;
  // One way out for all filters.
  const all = (
    <ButtonLink href={hrefWith({ kind: null, month: null, after: null, entry: null })}>Show all entries</ButtonLink>
  );
  return <Empty title={month === null ? "No entries of this type" : "No matching entries this month"} action={all} />;
}

/** The balance refuses nothing here, so what counts is what was spent. */
function Metered({ credits }: { readonly credits: Balance }) {
  const runway = useRunway(credits);
  return (
    <section class="tiles three" aria-label="Balance">
      <article class="card tile">
        <h2>Billing mode</h2>
        <p class="big">Metered</p>
        <p class="faint">Every request is charged and recorded. A grant covers each charge, so none fails with 402.</p>
      </article>
      <article class="card tile">
        <h2>Spending</h2>
        <p class="big">{runway === null ? "–" : usd(runway.perDayUsd)}</p>
        <p class="faint">per day, last 7 days</p>
      </article>
      <article class="card tile">
        <h2>Balance</h2>
        <p class="big" title={exact(credits.availableUsd)}>
          {usd(credits.availableUsd)}
        </p>
        <p class="faint">Used only in prepaid mode</p>
      </article>
    </section>
  );
}

/** Three tiles. A low balance is said before it is used up. */
function Balances({ credits }: { readonly credits: Balance }) {
  // Null while unknown; days are null where nothing was spent.
  const runway = useRunway(credits);
  const isLow = runway?.days != null && runway.days > 0 && runway.days < LOW_DAYS;
  return (
    <section class="tiles three" aria-label="Balance">
      {isLow && (
        <p class="notice warn all" role="status">
          Your balance lasts about {runwayText(runway.days ?? 0)}. At zero, requests fail with 402.
        </p>
      )}
      <article class="card tile">
        <h2>Available</h2>
        <p class={`big ${Number(credits.availableUsd) <= 0 ? "bad" : ""}`} title={exact(credits.availableUsd)}>
          {usd(credits.availableUsd)}
        </p>
        <p class="faint">{usd(credits.postedUsd)} total. A spending cap: no card is charged.</p>
      </article>
      <article class="card tile">
        <h2>Reserved</h2>
        <p class="big" title={exact(credits.heldUsd)}>
          {usd(credits.heldUsd)}
        </p>
        <p class="faint">Reserved for running requests</p>
      </article>
      <article class="card tile">
        <h2>Runway</h2>
        <p class={`big ${isLow ? "caution" : ""}`}>{runway?.days == null ? "–" : runwayText(runway.days)}</p>
        <p class="faint">
          {runway?.days === null ? (
            runway.perDayUsd === 0 ? (
              "Nothing spent in the last 7 days"
            ) : (
              "Too early to tell"
            )
          ) : (
            <>
              at the{" "}
              <a href={hrefTo("/requests", { range: "7d", from: null, to: null, costFrom: "0" })}>last 7 days' rate</a>{" "}
              of {usd(runway?.perDayUsd)} a day
            </>
          )}
        </p>
      </article>
    </section>
  );
}

/** Kinds of entries, by their names in the API. */
const KIND_NAMES: Readonly<Record<string, string>> = {
  topup: "Top-up",
  charge: "Charge",
  adjustment: "Adjustment",
  grant: "Grant",
};
/** Notes that the gateway writes itself, explained. */
const NOTE_TEXTS: Readonly<Record<string, string>> = {
  "starter credit": "Starter credit: a spending cap to try things out",
};

/** An entry that a link points to is marked and scrolled to. */
function LedgerTable({ entries }: { readonly entries: readonly LedgerEntry[] }) {
  const linked = place.value.query.get("entry");
  // After a link from a request: the entry is somewhere in the list, with its neighbours around it.
  useEffect(() => {
    if (linked !== null) document.getElementById(`entry-${linked}`)?.scrollIntoView({ block: "center" });
  }, [linked]);
  return (
    <div class="table-box">
      <table class="rows ledger">
        <caption class="hidden">Ledger entries, newest first</caption>
        <thead>
          <tr>
            <th scope="col">Time</th>
            <th scope="col">Type</th>
            <th scope="col">Details</th>
            <th scope="col">Added by</th>
            <th scope="col" class="number">
              Amount
            </th>
            <th scope="col" class="number">
              Balance after
            </th>
          </tr>
        </thead>
        <tbody>
          {entries.map((entry) => (
            <LedgerRow key={entry.id} entry={entry} isLinked={entry.id === linked} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** A charge names its model and opens the sum behind it; other entries show their note. */
function LedgerRow({ entry, isLinked }: { readonly entry: LedgerEntry; readonly isLinked: boolean }) {
  // Money in is marked by its sign and its colour.
  const isCredit = Number(entry.amountUsd) > 0;
  return (
    <tr id={`entry-${entry.id}`} class={isLinked ? "chosen" : ""}>
      <td data-cell="time" title={utc(entry.createdAt)}>
        {ago(entry.createdAt)}
      </td>
      <td data-cell="kind">{KIND_NAMES[entry.kind] ?? entry.kind}</td>
      <td data-cell="about" class="cut">
        {entry.requestId === null ? (
          <Note entry={entry} />
        ) : (
          <a href={hrefTo(`/requests/${encodeURIComponent(entry.requestId)}`, { tab: "cost" })}>
            {entry.model ?? entry.requestId}
          </a>
        )}
      </td>
      <td data-cell="actor" class="cut" title={entry.actor ?? undefined}>
        {entry.actor ?? ""}
      </td>
      <td data-cell="amount" class={`number ${isCredit ? "good" : ""}`} title={exact(entry.amountUsd)}>
        {isCredit ? "+" : ""}
        {balance(entry.amountUsd)}
      </td>
      <td data-cell="balance" class="number" title={exact(entry.balanceAfterUsd)}>
        {balance(entry.balanceAfterUsd)}
      </td>
    </tr>
  );
}

/** Metered charges are covered by grants that nobody wrote a note for. */
function Note({ entry: { note, kind } }: { readonly entry: LedgerEntry }) {
  if (note === null) return <>{kind === "grant" ? "Covers the next metered charge" : ""}</>;
  return <>{NOTE_TEXTS[note] ?? note}</>;
}
