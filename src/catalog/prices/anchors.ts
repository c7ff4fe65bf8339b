// The price that automatic changes of a host are measured from: the last one that a person or the shipped catalogue
// confirmed. Without it, two feeds could move a price anywhere, in steps that are each within the bounds. Pure.

import type { Anchor, ConfirmedPrice, PriceCheck } from "./check.ts";
import { isListed, keyOf, type PriceChange, type PricedHost } from "./diff.ts";

/** Kept for one host: one change a day for weeks. */
const TAKEN_MAX = 50;

/** The confirmed price of a host; null where the price in use is confirmed itself. */
export function anchorOf(host: PricedHost, { anchors = {} }: Pick<PriceCheck, "anchors">): Anchor | null {
  const anchor = anchors[keyOf(host.provider, host.upstream)];
  const isTaken = anchor?.taken.some((price) => isListed(host, price)) === true;
  return isTaken ? (anchor as Anchor) : null;
}

/** A price that is taken over, and the confirmed one that it was measured from. */
export interface TakenPrice extends Pick<PriceChange, "provider" | "upstream" | "from" | "fromAsOf" | "to"> {
  readonly anchor: ConfirmedPrice | null;
}

/** With prices that were just taken over. The first price of a new model stands for a confirmed one. */
export function withTaken(
  anchors: PriceCheck["anchors"],
  taken: readonly TakenPrice[],
): Readonly<Record<string, Anchor>> {
  const next: Record<string, Anchor> = { ...anchors };
  const begun = new Set<string>();
  for (const { provider, upstream, from, fromAsOf, to, anchor } of taken) {
    const name = keyOf(provider, upstream);
    const known = anchor !== null || begun.has(name) ? next[name] : undefined;
    const { price, asOf, taken: before } = known ?? { price: from ?? to, asOf: fromAsOf, taken: [] };
    next[name] = { price, asOf, taken: [...before, to].slice(-TAKEN_MAX) };
    begun.add(name);
  }
  return next;
}

/** A catalogue that is newer than a confirmed price confirms its own. */
export function confirmedBy(
  shipped: ReadonlyMap<string, ConfirmedPrice>,
  { anchors = {} }: Pick<PriceCheck, "anchors">,
): Readonly<Record<string, Anchor>> {
  const renewed = Object.entries(anchors).map(([name, anchor]): readonly [string, Anchor] => {
    const ours = shipped.get(name);
    return [name, ours === undefined || ours.asOf <= anchor.asOf ? anchor : { ...anchor, ...ours }];
  });
  return Object.fromEntries(renewed);
}
