// Seeded random numbers, and the shape of traffic: skewed sizes, quiet nights, quiet weekends.

/** The same seed gives the same sequence. */
export interface DemoRandom {
  /** 0 up to, not including, 1. */
  next(): number;
  /** A whole number below `limit`. */
  below(limit: number): number;
  pick<T>(choices: readonly T[]): T;
  /** By weights that sum to anything. */
  pickWeighted<T>(choices: readonly (readonly [T, number])[]): T;
  /** Around `middle`, never below zero, with a long tail upwards as latencies and lengths have it. */
  skewed(middle: number, spread: number): number;
  hex(digits: number): string;
}

/** Mulberry32: 32 bits of state are plenty for a demo. */
export function createDemoRandom(seed: number): DemoRandom {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return {
    next,
    below,
    pick: (choices) => choices[below(choices.length)] as (typeof choices)[number],
    pickWeighted(choices) {
      let left = next() * choices.reduce((sum, [, weight]) => sum + weight, 0);
      const found = choices.find(([, weight]) => {
        left -= weight;
        return left < 0;
      });
      return (found ?? (choices.at(-1) as (typeof choices)[number]))[0];
    },
    // The sum of three uniform numbers is close enough to a normal distribution.
    skewed: (middle, spread) => middle * Math.exp(spread * (next() + next() + next() - 1.5) * 2),
    hex(digits) {
      let text = "";
      while (text.length < digits)
        text += below(2 ** 32)
          .toString(16)
          .padStart(8, "0");
      return text.slice(0, digits);
    },
  };
}

const HOUR_MS = 60 * 60 * 1000;
const HOURS_PER_DAY = 24;
/** In UTC. */
const BUSIEST_HOUR = 14;
/** Traffic of a weekend day as a share of a working day. */
const WEEKEND_SHARE = 0.45;
/** Growth of the traffic from the beginning of the time to its end. */
const GROWTH = 0.6;

interface TimeSpan {
  readonly untilMs: number;
  readonly days: number;
  readonly count: number;
}

/** The time of each request, oldest first: exactly `count` of them, an hour at a time. */
export function* demoTimes({ untilMs, days, count }: TimeSpan, random: DemoRandom): Generator<number> {
  const hours = days * HOURS_PER_DAY;
  const startMs = untilMs - hours * HOUR_MS;
  const weights = Array.from({ length: hours }, (_, hour) => weightAt(startMs + hour * HOUR_MS, hour / hours));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let passed = 0;
  let given = 0;
  for (const [hour, weight] of weights.entries()) {
    passed += weight;
    const upTo = hour === hours - 1 ? count : Math.round((passed / total) * count);
    const offsets = Array.from({ length: upTo - given }, () => random.below(HOUR_MS)).sort((a, b) => a - b);
    given = upTo;
    for (const offset of offsets) yield startMs + hour * HOUR_MS + offset;
  }
}

/** Traffic of an hour; `progress` runs from 0 to 1 over the whole time. */
function weightAt(atMs: number, progress: number): number {
  const at = new Date(atMs);
  const fromBusiest = ((at.getUTCHours() - BUSIEST_HOUR) / HOURS_PER_DAY) * 2 * Math.PI;
  const daylight = 0.15 + ((1 + Math.cos(fromBusiest)) / 2) ** 1.5;
  const isWeekend = at.getUTCDay() % 6 === 0;
  return daylight * (isWeekend ? WEEKEND_SHARE : 1) * (1 + GROWTH * progress);
}
