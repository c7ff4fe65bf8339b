// The gateway's clock, from which every range and age is counted: that of the browser may be wrong by days. And the time
// zone of everything that has an hour: the reader's, or UTC.

import { keep, kept } from "./parts/kept.ts";
import { signal } from "./signal.ts";

/** Smallest difference that counts. Smaller ones are the travel time of a response and the whole seconds of its header. */
const TOLERANCE_MS = 3_000;
// Module state: the difference belongs to the browser, not to a page.
let aheadMs = 0;

/** The time at the gateway. */
export function now(): number {
  return Date.now() + aheadMs;
}

/** Takes the `Date` header of a response. */
export function noteServerTime(date: string | null): void {
  const ms = Date.parse(date ?? "") - Date.now();
  if (Math.abs(ms - aheadMs) > TOLERANCE_MS) aheadMs = ms;
}

const STORED = "switchyard.utc";

/** Setting that shows times in UTC instead of local time. */
export const isUtc = signal(kept(STORED) === "on");

export function zone(wantsUtc: boolean): void {
  isUtc.value = wantsUtc;
  keep(STORED, wantsUtc ? "on" : "off");
}

/** `UTC`, or how far the reader's zone is from it. Days are UTC in any zone, as their stored totals are. */
export function zoneName(step: "hour" | "day" = "hour"): string {
  const minutes = isUtc.value || step === "day" ? 0 : -new Date().getTimezoneOffset();
  if (minutes === 0) return "UTC";
  const hours = Math.abs(minutes) / 60;
  return `UTC${minutes < 0 ? "−" : "+"}${hours}`;
}
