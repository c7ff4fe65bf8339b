// Random numbers that a seed repeats, for tests whose failures must be had again.

export interface Random {
  /** 0 up to, not including, 1. */
  next(): number;
  /** A whole number below `limit`. */
  below(limit: number): number;
  pick<T>(choices: readonly T[]): T;
}

/** The seed is SEED when that is set, so that a run that failed can be had again; `random` draws one. */
export function seedOf(fallback: number): number {
  const given = process.env.SEED;
  if (given === undefined || given === "") return fallback;
  return given === "random" ? Date.now() % 2_147_483_647 : Number(given);
}

const SCALE = Number(process.env.SWITCHYARD_TEST_SCALE ?? 1);

/** How many times the usual amount of work; SWITCHYARD_TEST_SCALE=10 for ten times. */
export function scaled(amount: number): number {
  return Math.max(1, Math.round(amount * SCALE));
}

/** The long version, `npm run test:faults`. */
export const isLong = SCALE > 1;

/**
 * A time that the product promises. The long run holds it to that; the usual one has to pass on machines that are many
 * times as slow, and only sees that nothing was waited for.
 */
export function promisedMs(ms: number): number {
  return isLong ? ms : Math.max(20_000, ms);
}

/** A few in the usual run, many times over in the long one. */
export function few(usual: number, inTheLongRun: number): number {
  return isLong ? scaled(inTheLongRun) : usual;
}

/** In the long version every variant is played, otherwise one of them, by turns. */
export function variants<T>(all: readonly T[], turn: number): readonly T[] {
  return isLong ? all : all.slice(turn % all.length, (turn % all.length) + 1);
}

/** Mulberry32: 32 bits of state, good enough to vary tests with. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return { next, below, pick: (choices) => choices[below(choices.length)] as (typeof choices)[number] };
}
