// Times of requests, to the second.

import { isUtc } from "../../clock.ts";

const FORM = { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit" } as const;
const LOCAL = new Intl.DateTimeFormat("en-GB", FORM);
const UTC = new Intl.DateTimeFormat("en-GB", { ...FORM, timeZone: "UTC" });

/** `16 Nov, 16:10:14` */
export function timeText(iso: string): string {
  return (isUtc.value ? UTC : LOCAL).format(new Date(iso));
}
