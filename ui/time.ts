// Times of requests: to the second, in the reader's time zone or in UTC. The choice is kept in this browser.

import { keep, kept } from "./kept.ts";
import { signal } from "./signal.ts";

const STORED = "switchyard.utc";

/** Setting that shows times in UTC instead of local time. */
export const isUtc = signal(kept(STORED) === "on");

export function zone(wantsUtc: boolean): void {
  isUtc.value = wantsUtc;
  keep(STORED, wantsUtc ? "on" : "off");
}

const FORM = { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit" } as const;
const LOCAL = new Intl.DateTimeFormat("en-GB", FORM);
const UTC = new Intl.DateTimeFormat("en-GB", { ...FORM, timeZone: "UTC" });

/** `16 Nov, 16:10:14` */
export function timeText(iso: string): string {
  return (isUtc.value ? UTC : LOCAL).format(new Date(iso));
}

/** `UTC`, or how far the reader's zone is from it. */
export function zoneName(): string {
  const minutes = isUtc.value ? 0 : -new Date().getTimezoneOffset();
  if (minutes === 0) return "UTC";
  const hours = Math.abs(minutes) / 60;
  return `UTC${minutes < 0 ? "−" : "+"}${hours}`;
}
