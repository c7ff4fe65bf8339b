// Tables and lists of facts.

import type { ComponentChildren, VNode } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

interface TableProps {
  readonly class?: string;
  /** Names the table for screen readers. */
  readonly caption: string;
  /** A text, or a head with more to it. */
  readonly heads: readonly (string | VNode)[];
  readonly children: ComponentChildren;
}

/** Scrolls by itself where the table is wider than the page, also with the keyboard. */
export function Table({ class: kind = "", caption, heads, children }: TableProps) {
  const table = useCellNames();
  return (
    <div class="table-box" tabIndex={0}>
      <table ref={table} class={`rows ${kind}`}>
        <caption class="hidden">{caption}</caption>
        <thead>
          <tr>
            {heads.map((head) =>
              typeof head === "string" ? (
                <th key={head} scope="col">
                  {head}
                </th>
              ) : (
                head
              ),
            )}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

/** Writes the head of each column to its cells. A phone has no room for heads, and shows them there. */
export function useCellNames() {
  const table = useRef<HTMLTableElement>(null);
  // After every drawing: rows come and go with the list.
  useLayoutEffect(() => {
    const heads = table.current?.tHead?.rows[0]?.cells ?? [];
    const names = Array.from(heads, ({ textContent }) => (textContent ?? "").replace(/ [↑↓]$/, ""));
    for (const { cells } of table.current?.tBodies[0]?.rows ?? [])
      for (const cell of cells) cell.dataset.name = names[cell.cellIndex] ?? "";
  });
  return table;
}

/** The head of a column, with the name by which style sheets know its cells. */
export function columnHead(name: string, cell?: string, kind?: string): VNode {
  return (
    <th key={name} scope="col" data-cell={cell} class={kind}>
      {name}
    </th>
  );
}

/** The head of a column of numbers, aligned as they are. */
export function numberHead(name: string): VNode {
  return columnHead(name, undefined, "number");
}

/** Names and what they are. */
export function Facts({ facts }: { readonly facts: readonly (readonly [string, ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
