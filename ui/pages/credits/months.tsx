// The balance month by month. A month opens its entries in the ledger below.

import { useState } from "preact/hooks";
import { useLoad } from "../../api.ts";
import { balance, count, exact, monthName, plural } from "../../format.ts";
import { Button } from "../../kit/button.tsx";
import { Shown } from "../../kit/states.tsx";
import { numberHead, Table } from "../../kit/table.tsx";
import { hrefWith, setQuery } from "../../router.ts";
import type { LedgerMonth, List } from "../../types.ts";
import * as TEXT from "./text.ts";

/** All parts of the page follow a change at the same pace. */
export const BALANCE_EVERY_MS = 10_000;
/** Months that are shown at first: half a year is what most people look for. */
const FEW = 6;
/** Limit beyond the months that any gateway has. */
const MANY = 500;

/** Stays hidden before the first entry. */
export function Months({ chosen }: { readonly chosen: string | null }) {
  const [limit, setLimit] = useState(FEW);
  const months = useLoad<List<LedgerMonth>>(`/api/ledger/months?limit=${limit}`, { everyMs: BALANCE_EVERY_MS });
  if (months.data?.data.length === 0) return null;
  return (
    <section class="card">
      <h2>{TEXT.monthlySummary}</h2>
      <Shown load={months} rows={2}>
        {({ data, next }) => (
          <>
            <MonthTable months={data} chosen={chosen} />
            {next !== null && limit === FEW && (
              <p class="row pages">
                <Button onClick={() => setLimit(MANY)}>{TEXT.showAllMonths}</Button>
              </p>
            )}
          </>
        )}
      </Shown>
    </section>
  );
}

/** Opening balance, what was added and taken, closing balance. */
function MonthTable({ months, chosen }: { readonly months: readonly LedgerMonth[]; readonly chosen: string | null }) {
  return (
    <Table
      class="months"
      caption={TEXT.monthsCaption}
      heads={[
        TEXT.month,
        ...[
          TEXT.entries,
          TEXT.openingBalance,
          TEXT.topUps,
          TEXT.charges,
          TEXT.adjustments,
          TEXT.grants,
          TEXT.closingBalance,
        ].map(numberHead),
      ]}
    >
      {months.map((month) => (
        <MonthRow key={month.month} month={month} isChosen={month.month === chosen} />
      ))}
    </Table>
  );
}

/** A row of the table. The name of the month opens all of its entries; a sum opens only those of its kind. */
function MonthRow({ month, isChosen }: { readonly month: LedgerMonth; readonly isChosen: boolean }) {
  const href = hrefWith({ month: month.month, kind: null, after: null, entry: null });
  const of = (kind: string): string => hrefWith({ month: month.month, kind, after: null, entry: null });
  return (
    <tr class={isChosen ? "chosen" : ""}>
      <th scope="row">
        <a href={href}>{monthName(month.month)}</a>
      </th>
      <td data-cell="entries" class="number" title={plural(month.entries, "entry", "entries")}>
        {count(month.entries)}
      </td>
      <td data-cell="opening" class="number" title={exact(month.openingUsd)}>
        {balance(month.openingUsd)}
      </td>
      <SumCell cell="top-ups" amount={month.topUpsUsd} href={of("topup")} />
      <SumCell cell="charges" amount={month.chargesUsd} href={of("charge")} />
      <SumCell cell="adjustments" amount={month.adjustmentsUsd} href={of("adjustment")} />
      <SumCell cell="grants" amount={month.grantsUsd} href={of("grant")} />
      <td data-cell="closing" class="number" title={exact(month.closingUsd)}>
        {balance(month.closingUsd)}
      </td>
    </tr>
  );
}

/** A sum of zero opens nothing. */
function SumCell({ cell, amount, href }: { readonly cell: string; readonly amount: string; readonly href: string }) {
  return (
    <td data-cell={cell} class="number" title={exact(amount)}>
      {Number(amount) === 0 ? <span class="faint">–</span> : <a href={href}>{signed(amount)}</a>}
    </td>
  );
}

/** Writes the sign of an amount, so that money in and out are told apart without colour. */
function signed(amount: string): string {
  return `${Number(amount) > 0 ? "+" : ""}${balance(amount)}`;
}

/** Says above the ledger that it shows one month, and undoes it. */
export function MonthChip({ month }: { readonly month: string }) {
  return (
    <button
      type="button"
      class="chip"
      aria-label={TEXT.showAllMonthsNotOnly(monthName(month))}
      onClick={() => setQuery({ month: null, after: null })}
    >
      {monthName(month)} <span aria-hidden="true">✕</span>
    </button>
  );
}
