// Tables and lists of facts.

import type { ComponentChildren, VNode } from "preact";

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
  return (
    <div class="table-box" tabIndex={0}>
      <table class={`rows ${kind}`}>
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

/** The head of a column of numbers, aligned as they are. */
export function numberHead(name: string): VNode {
  return (
    <th key={name} scope="col" class="number">
      {name}
    </th>
  );
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
