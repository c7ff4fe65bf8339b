// Quiet times: hours of the day, in a time zone, in which nothing but critical events is sent.

/** From is included and may be later than to: then the time goes over midnight. */
export interface QuietTime {
  /** Time of day as HH:MM. */
  readonly from: string;
  readonly to: string;
  /** An IANA name such as Europe/Berlin. */
  readonly timeZone: string;
}

const MINUTE_MS = 60_000;
const DAY_MINUTES = 24 * 60;

/** Milliseconds until the quiet time is over; 0 when it is not quiet. */
export function quietMs({ from, to, timeZone }: QuietTime, nowMs: number): number {
  const [start, end] = [minutesOf(from), minutesOf(to)];
  const now = minutesOf(clockIn(timeZone, nowMs));
  const length = (end - start + DAY_MINUTES) % DAY_MINUTES;
  const since = (now - start + DAY_MINUTES) % DAY_MINUTES;
  if (since >= length) return 0;
  return (length - since) * MINUTE_MS - (nowMs % MINUTE_MS);
}

export function isTimeZone(timeZone: string): boolean {
  try {
    clockIn(timeZone, 0);
    return true;
  } catch {
    return false;
  }
}

function clockIn(timeZone: string, atMs: number): string {
  const format = { timeZone, hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const;
  return new Intl.DateTimeFormat("en-GB", format).format(atMs);
}

function minutesOf(clock: string): number {
  const [hours = 0, minutes = 0] = clock.split(":").map(Number);
  return hours * 60 + minutes;
}
