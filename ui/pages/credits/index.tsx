// Credits: the balance, what is on hold, how long it lasts, what each month came to, and every entry of the ledger.

import { useEffect } from "preact/hooks";
import { useLoad, withAccount } from "../../api.ts";
import { balance, exact, usd, utc } from "../../format.ts";
import { useShortcuts } from "../../keyboard.ts";
import { Button, ButtonLink, Segmented } from "../../kit/button.tsx";
import { PageHead } from "../../kit/page.tsx";
import { Empty, Shown } from "../../kit/states.tsx";
import { numberHead, Table } from "../../kit/table.tsx";
import { hrefTo, hrefWith, place, setQuery } from "../../router.ts";
import { LOW_DAYS, runwayText } from "../../runway.ts";
import { isOperator } from "../../session.ts";
import type { Credits as Balance, LedgerEntry, List } from "../../types.ts";
import { useRunway } from "../../use-runway.ts";
import { timeText } from "../requests/time.ts";
import { Days } from "./days.tsx";
import { BALANCE_EVERY_MS, MonthChip, Months } from "./months.tsx";
import * as TEXT from "./text.ts";
import { TopUp } from "./topup.tsx";

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
      <PageHead title={TEXT.credits} purpose={TEXT.purpose}>
        {isOperator() && (
          <Button kind="primary" onClick={add}>
            {TEXT.addCredits}
          </Button>
        )}
      </PageHead>
      <Shown load={credits} rows={3}>
        {(data) => (data.billingMode === "metered" ? <Metered credits={data} /> : <Balances credits={data} />)}
      </Shown>
      <Days />
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
  const ledger = useLoad<List<LedgerEntry>>(`/api/ledger?limit=50${start}${filter}`, { everyMs: BALANCE_EVERY_MS });
  return (
    <section class="card" id="ledger" data-list>
      <div class="head-row">
        <h2>{TEXT.ledger}</h2>
        {month !== null && <MonthChip month={month} />}
        <Segmented
          label={TEXT.entryType}
          choices={KINDS}
          value={kind}
          onChange={(next) => setQuery({ kind: next, after: null, entry: null })}
        />
        <ButtonLink href={withAccount(`/api/ledger/export?format=csv${filter}`)} download="">
          {TEXT.csv}
        </ButtonLink>
      </div>
      <Shown load={ledger} rows={10} keepsRows>
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
    <nav class="row pages" aria-label={TEXT.ledgerPages}>
      {!isAtNewest && <ButtonLink href={hrefWith({ after: null, entry: null })}>{TEXT.newest}</ButtonLink>}
      {next !== null && <ButtonLink href={hrefWith({ after: next })}>{TEXT.older}</ButtonLink>}
    </nav>
  );
}

/** The filter of the ledger, by the names of the API. */
const KINDS = [
  { value: "", label: TEXT.all },
  { value: "topup", label: TEXT.topUps },
  { value: "charge", label: TEXT.charges },
  { value: "adjustment", label: TEXT.adjustments },
  { value: "grant", label: TEXT.grants },
];

/** An empty ledger, or filters that nothing passes. */
function NoEntry({ isNarrowed, month }: { readonly isNarrowed: boolean; readonly month: string | null }) {
  if (!isNarrowed) return <Empty title={TEXT.noEntriesYet}>{isOperator() ? TEXT.emptyHint : TEXT.askForCredits}</Empty>;
  // One way out for all filters.
  const all = (
    <ButtonLink href={hrefWith({ kind: null, month: null, after: null, entry: null })}>
      {TEXT.showAllEntries}
    </ButtonLink>
  );
  return <Empty title={month === null ? TEXT.noEntriesOfType : TEXT.noEntriesInMonth} action={all} />;
}

/** The balance refuses nothing here, so what counts is what was spent. */
function Metered({ credits }: { readonly credits: Balance }) {
  const runway = useRunway(credits);
  return (
    <section class="tiles three" aria-label={TEXT.balance}>
      <article class="card tile">
        <h2>{TEXT.billingMode}</h2>
        <p class="big">{TEXT.metered}</p>
        <p class="faint">{TEXT.meteredHint}</p>
      </article>
      <article class="card tile">
        <h2>{TEXT.spending}</h2>
        <p class="big">{usd(runway?.perDayUsd)}</p>
        <p class="faint">{TEXT.perDayLast7}</p>
      </article>
      <article class="card tile">
        <h2>{TEXT.balance}</h2>
        <p class="big" title={exact(credits.availableUsd)}>
          {usd(credits.availableUsd)}
        </p>
        <p class="faint">{TEXT.prepaidOnly}</p>
      </article>
    </section>
  );
}

/** Three tiles. A low balance is said before it is used up. */
function Balances({ credits }: { readonly credits: Balance }) {
  // The runway is null while unknown; its days are null where nothing was spent.
  const runway = useRunway(credits);
  const isLow = runway?.days != null && runway.days > 0 && runway.days < LOW_DAYS;
  return (
    <section class="tiles three" aria-label={TEXT.balance}>
      {isLow && (
        <p class="notice warn all" role="status">
          {TEXT.balanceLasts(runwayText(runway.days ?? 0))}
        </p>
      )}
      <article class="card tile">
        <h2>{TEXT.available}</h2>
        <p class={`big ${Number(credits.availableUsd) <= 0 ? "bad" : ""}`} title={exact(credits.availableUsd)}>
          {usd(credits.availableUsd)}
        </p>
        <p class="faint">{TEXT.totalIsCap(usd(credits.postedUsd))}</p>
      </article>
      <article class="card tile">
        <h2>{TEXT.reserved}</h2>
        <p class="big" title={exact(credits.heldUsd)}>
          {usd(credits.heldUsd)}
        </p>
        <p class="faint">{TEXT.reservedForRunningRequests}</p>
      </article>
      <article class="card tile">
        <h2>{TEXT.runway}</h2>
        <p class={`big ${isLow ? "caution" : ""}`}>{runway?.days == null ? "–" : runwayText(runway.days)}</p>
        <p class="faint">
          {runway?.days === null ? (
            runway.perDayUsd === 0 ? (
              TEXT.nothingSpent
            ) : (
              TEXT.tooEarlyToTell
            )
          ) : (
            <>
              {TEXT.atTheRate}{" "}
              <a href={hrefTo("/requests", { range: "7d", from: null, to: null, costFrom: "0" })}>
                {TEXT.last7DaysRate}
              </a>{" "}
              {TEXT.ofPerDay(usd(runway?.perDayUsd))}
            </>
          )}
        </p>
      </article>
    </section>
  );
}

/** Kinds of entries, by their names in the API. */
const KIND_NAMES: Readonly<Record<string, string>> = {
  topup: TEXT.topUp,
  charge: TEXT.charge,
  adjustment: TEXT.adjustment,
  grant: TEXT.grant,
};
/** Notes that the gateway writes itself, explained. */
const NOTE_TEXTS: Readonly<Record<string, string>> = {
  "starter credit": TEXT.starterCredit,
};

/** An entry that a link points to is marked and scrolled to. */
function LedgerTable({ entries }: { readonly entries: readonly LedgerEntry[] }) {
  const linked = place.value.query.get("entry");
  // After a link from a request: the entry is somewhere in the list, with its neighbours around it.
  useEffect(() => {
    if (linked !== null) document.getElementById(`entry-${linked}`)?.scrollIntoView({ block: "center" });
  }, [linked]);
  return (
    <Table
      class="ledger"
      caption={TEXT.entriesCaption}
      heads={[TEXT.time, TEXT.type, TEXT.details, TEXT.addedBy, ...[TEXT.amount, TEXT.balanceAfter].map(numberHead)]}
    >
      {entries.map((entry) => (
        <LedgerRow key={entry.id} entry={entry} isLinked={entry.id === linked} />
      ))}
    </Table>
  );
}

/** A charge names its model and opens the sum behind it; other entries show their note. */
function LedgerRow({ entry, isLinked }: { readonly entry: LedgerEntry; readonly isLinked: boolean }) {
  // Money in is marked by its sign and its colour.
  const isCredit = Number(entry.amountUsd) > 0;
  return (
    <tr id={`entry-${entry.id}`} class={isLinked ? "chosen" : ""}>
      <td data-cell="time" title={utc(entry.createdAt)}>
        {timeText(entry.createdAt)}
      </td>
      <td data-cell="kind">{KIND_NAMES[entry.kind] ?? entry.kind}</td>
      <td data-cell="about" class="cut" title={entry.note ?? undefined}>
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

/** Shows the note of an entry. Grants that cover metered charges have none, so they get a text. */
function Note({ entry: { note, kind } }: { readonly entry: LedgerEntry }) {
  if (note === null) return <>{kind === "grant" ? TEXT.coversMetered : ""}</>;
  return <>{NOTE_TEXTS[note] ?? note}</>;
}
