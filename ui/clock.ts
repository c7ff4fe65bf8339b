// The gateway's clock. That of the browser may be wrong by days, and every range and age is counted from now.

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
