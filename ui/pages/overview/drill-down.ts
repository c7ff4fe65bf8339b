// The way from a number on the overview to the requests behind it: a click opens them, dragging zooms.

import { stepMs, timesOf, zonedTimeLabel } from "../../charts/scale.ts";
import type { Range } from "../../range.ts";
import { type Changes, go, hrefTo, place, setQuery } from "../../router.ts";
import type { Usage } from "../../types.ts";
import * as TEXT from "./text.ts";

/** A range and the usage in it, as charts take them. */
export interface Series<Row = Usage> {
  readonly range: Range;
  readonly rows: readonly Row[];
  /** The usage has not been read yet, so nothing of it is shown. */
  readonly isWaiting: boolean;
}

/** Handlers for a chart: a click opens the requests of that step, dragging zooms the whole page. */
export function opens(range: Range, filter: Changes) {
  const times = timesOf(range, range.step);
  const between = (first: number, last: number): Changes => ({
    range: null,
    from: new Date(times[first] ?? range.fromMs).toISOString(),
    to: new Date((times[last] ?? range.toMs) + stepMs(range.step)).toISOString(),
  });
  return {
    onPick: (index: number) => go(requestsHref({ ...filter, ...between(index, index) })),
    onZoom: (first: number, last: number) => setQuery(between(first, last)),
  };
}

/** The requests behind a number, narrowed to the key that the overview is narrowed to. */
export function requestsHref(filter: Changes = {}): string {
  return hrefTo("/requests", { key: place.value.query.get("key"), ...filter });
}

/** Range, its true beginning and step, as every chart begins its trend: ranges begin with a whole hour or UTC day. */
export function subtitle({ label, fromMs, step }: Range): string {
  return TEXT.rangeByStep(label, zonedTimeLabel(fromMs, step), step);
}
