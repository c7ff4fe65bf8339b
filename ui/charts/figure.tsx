// The frame of every chart: title, the trend in words, a legend, and the same numbers as a table.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Load } from "../api.ts";
import { Shown, Skeleton } from "../kit/states.tsx";
import * as TEXT from "./text.ts";

/** The numbers of a chart as text; the first column names the row. */
interface NumberTable {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** A chart is never shown without its trend and its table. */
interface FigureProps {
  readonly title: string;
  /** Load that brings the numbers. Until they are there, only the title is shown. Figures inside a `Shown` need none. */
  readonly load?: Load<unknown>;
  /** Says that the numbers are still missing, for figures whose failure is shown elsewhere. */
  readonly isWaiting?: boolean;
  /** One sentence for those who do not see the picture, and a summary for those who do. */
  readonly trend: ComponentChildren;
  readonly table: NumberTable;
  readonly actions?: ComponentChildren;
  readonly legend?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** Chart and table take turns in the same place. Without data the empty chart keeps its height, unseen. */
export function Figure({
  title,
  load,
  isWaiting = load?.data === null,
  trend,
  table,
  actions,
  legend,
  children,
}: FigureProps) {
  const [isTable, setTable] = useState(false);
  const body = isTable ? <Numbers title={title} table={table} /> : <div class="chart-box">{children}</div>;
  return (
    <figure class={isWaiting ? "card chart unknown" : "card chart"}>
      <figcaption>
        <div class="chart-head">
          <h2>{title}</h2>
          <div class="chart-actions">
            {actions}
            <button
              type="button"
              class="button quiet small"
              aria-pressed={isTable}
              aria-label={TEXT.asATable(title)}
              onClick={() => setTable(!isTable)}
            >
              {isTable ? TEXT.chart : TEXT.table}
            </button>
          </div>
        </div>
        <p class="faint">{trend}</p>
        {!isTable && legend}
      </figcaption>
      {load === undefined && isWaiting && <Skeleton />}
      {load !== undefined && <Shown load={load}>{() => body}</Shown>}
      {(load === undefined || isWaiting) && body}
    </figure>
  );
}

/** Focusable, since a long table scrolls inside its card. */
function Numbers({ title, table }: { readonly title: string; readonly table: NumberTable }) {
  return (
    <section class="chart-table" tabIndex={0} aria-label={TEXT.numbers(title)}>
      <table>
        <thead>
          <tr>
            {table.head.map((name, index) => (
              <th key={name} scope="col" class={index > 0 ? "number" : ""}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row) => (
            <tr key={row[0]}>
              {row.map((cell, index) => (
                <td key={table.head[index]} class={index > 0 ? "number" : ""}>
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** A colour and its name; with an address it also opens the requests behind it. */
interface LegendEntry {
  readonly name: string;
  readonly mark: string;
  /** The requests behind it. */
  readonly href?: string;
}

/** Names the series that each colour stands for. */
export function Legend({ entries }: { readonly entries: readonly LegendEntry[] }) {
  return (
    <ul class="legend">
      {entries.map(({ name, mark, href }) => (
        <li key={name}>
          <i class={`mark ${mark}`} aria-hidden="true" />
          {href === undefined ? name : <a href={href}>{name}</a>}
        </li>
      ))}
    </ul>
  );
}
