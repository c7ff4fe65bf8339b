// The rows of the request log. On a phone each row is a card of two lines.

import { zoneName } from "../../clock.ts";
import { utc } from "../../format.ts";
import { Table } from "../../kit/table.tsx";
import { go, hrefWith, place } from "../../router.ts";
import type { RequestLine } from "../../types.ts";
import { type Column, shownColumns } from "./columns.tsx";
import * as TEXT from "./text.ts";
import { timeText } from "./time.ts";

/** The open request is in the panel; the chosen one is where the keyboard is. */
interface RequestTableProps {
  readonly rows: readonly RequestLine[];
  readonly openId: string | null;
  readonly chosenId: string | null;
}

export function RequestTable({ rows, openId, chosenId }: RequestTableProps) {
  const columns = shownColumns(rows);
  return (
    <Table
      class="requests"
      caption={TEXT.tableCaption}
      heads={[{ id: "time", name: TEXT.timeIn(zoneName()), sort: "time" }, ...columns].map((column) => (
        <Head key={column.id} column={column} />
      ))}
    >
      {rows.map((row) => (
        <RequestRow
          key={row.id}
          row={row}
          columns={columns}
          isOpen={row.id === openId || row.requestId === openId}
          isChosen={row.id === chosenId}
        />
      ))}
    </Table>
  );
}

/** A column that the list can be sorted by is a link, so that a sorted list can be sent, too. */
function Head({ column: { id, name, sort, isNumber } }: { readonly column: Omit<Column, "show"> }) {
  const { query } = place.value;
  const isSorted = sort !== undefined && (query.get("sort") ?? "time") === sort;
  const isAscending = query.get("order") === "asc";
  // A second click turns the order around.
  const order = isSorted && !isAscending ? "asc" : null;
  return (
    <th
      scope="col"
      data-cell={id}
      class={isNumber ? "number" : ""}
      aria-sort={isSorted ? (isAscending ? "ascending" : "descending") : undefined}
    >
      {sort === undefined ? (
        name
      ) : (
        <a class="sort" href={hrefWith({ sort: sort === "time" ? null : sort, order, after: null, tail: null })}>
          {name}
          {isSorted ? (isAscending ? " ↑" : " ↓") : ""}
        </a>
      )}
    </th>
  );
}

/** One request. */
interface RequestRowProps {
  readonly row: RequestLine;
  readonly columns: readonly Column[];
  readonly isOpen: boolean;
  readonly isChosen: boolean;
}

const CUT: readonly string[] = ["key", "prompt", "user", "tags", "session"];

/** The whole row opens the request, and the time is a link to it for the keyboard. */
function RequestRow({ row, columns, isOpen, isChosen }: RequestRowProps) {
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
          {timeText(row.createdAt)}
        </a>
      </td>
      {columns.map(({ id, isNumber, title, show }) => (
        <td
          key={id}
          data-cell={id}
          class={isNumber ? "number" : CUT.includes(id) ? "cut" : ""}
          title={title?.(row) ?? undefined}
        >
          {show(row)}
        </td>
      ))}
    </tr>
  );
}
