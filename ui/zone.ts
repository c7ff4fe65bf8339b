// The time zone of everything that has an hour: the reader's, or UTC. The choice is kept in this browser.

import { keep, kept } from "./kept.ts";
import { signal } from "./signal.ts";

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
