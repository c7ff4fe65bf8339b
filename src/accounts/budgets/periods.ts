// Periods of budgets: days, weeks and months of the calendar in a time zone, and rolling ones in parts of equal length.

import type { Budget, BudgetPeriod } from "../../core/budgets/budget.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Length of a rolling period, and of the parts in which its spending is counted and forgotten. */
const ROLLING: Readonly<Record<BudgetPeriod, { readonly lengthMs: number; readonly partMs: number }>> = {
  day: { lengthMs: DAY_MS, partMs: HOUR_MS },
  week: { lengthMs: 7 * DAY_MS, partMs: 6 * HOUR_MS },
  month: { lengthMs: 30 * DAY_MS, partMs: DAY_MS },
};

/** The period that a moment lies in. */
export interface Period {
  /** Spending from this time on counts. */
  readonly fromMs: number;
  /** Start of the part that spending of now belongs to. */
  readonly partMs: number;
  /** The period is the same until then. */
  readonly untilMs: number;
}

type PeriodTerms = Pick<Budget, "period" | "isRolling" | "timeZone">;

/** Returns the period that this moment lies in. */
export function periodAt({ period, isRolling, timeZone }: PeriodTerms, atMs: number): Period {
  if (!isRolling) return calendarPeriod(period, timeZone, atMs);
  const { lengthMs, partMs: length } = ROLLING[period];
  const partMs = Math.floor(atMs / length) * length;
  // The oldest part counts until all of it is out of the period, so that never more is spent than the amount.
  return { fromMs: partMs - lengthMs, partMs, untilMs: partMs + length };
}

/** Returns when a spent budget has something again. `sinceMs` is the oldest part that counts. */
export function renewsAtMs(terms: PeriodTerms, atMs: number, sinceMs: number | null): number {
  if (!terms.isRolling) return periodAt(terms, atMs).untilMs;
  const { lengthMs, partMs } = ROLLING[terms.period];
  return (sinceMs ?? periodAt(terms, atMs).partMs) + lengthMs + partMs;
}

/** False for names that this machine does not know. */
export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return /^[A-Za-z]/.test(name);
  } catch {
    return false;
  }
}

/** A day of the calendar, counted like UTC days: midnight of that day in UTC. */
type CivilDay = number;

function calendarPeriod(period: BudgetPeriod, timeZone: string, atMs: number): Period {
  const [first, next] = daysOf(period, civilDay(timeZone, atMs));
  const fromMs = beginningOf(first, timeZone);
  return { fromMs, partMs: fromMs, untilMs: beginningOf(next, timeZone) };
}

/** Returns the first day of the period and that of the next one. Weeks begin on Monday. */
function daysOf(period: BudgetPeriod, day: CivilDay): readonly [CivilDay, CivilDay] {
  if (period === "day") return [day, day + DAY_MS];
  const date = new Date(day);
  if (period === "week") {
    const monday = day - ((date.getUTCDay() + 6) % 7) * DAY_MS;
    return [monday, monday + 7 * DAY_MS];
  }
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  return [Date.UTC(year, month, 1), Date.UTC(year, month + 1, 1)];
}

/** Finds the first moment that has this date, also where clocks change at midnight. */
function beginningOf(day: CivilDay, timeZone: string): number {
  const candidates = [day - DAY_MS, day + DAY_MS].map((near) => day - offsetMs(timeZone, near)).sort((a, b) => a - b);
  return candidates.find((candidate) => civilDay(timeZone, candidate) >= day) ?? (candidates.at(-1) as number);
}

function civilDay(timeZone: string, atMs: number): CivilDay {
  return Math.floor((atMs + offsetMs(timeZone, atMs)) / DAY_MS) * DAY_MS;
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** Returns how far clocks there are ahead of UTC. */
function offsetMs(timeZone: string, atMs: number): number {
  let format = formats.get(timeZone);
  if (format === undefined) {
    const fields = { year: "numeric", month: "2-digit", day: "2-digit" } as const;
    const clock = { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" } as const;
    format = new Intl.DateTimeFormat("en", { timeZone, ...fields, ...clock });
    formats.set(timeZone, format);
  }
  const found = Object.fromEntries(format.formatToParts(atMs).map(({ type, value }) => [type, Number(value)]));
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = found;
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(atMs / 1000) * 1000;
}
