// Speed of each host, as all processes observe it: moving averages of the time to the first token and of the
// tokens a second. Averages are of logarithms, since one answer may take thirty times as long as usual. What is published
// changes only when an average has really moved. So noise moves no conversation.

import type { HostSpeed, HostSpeeds } from "../core/decision.ts";

/** One answer. */
interface ObservedAnswer {
  /** Until the first content of a stream; null for a response that came whole. */
  readonly firstMs: number | null;
  /** Until the head of a response that came whole. */
  readonly headMs?: number;
  readonly outputTokens: number;
  /** Time that those tokens took. */
  readonly outputMs: number;
}

/** Speeds that one answer showed, as sent to other processes; null where the answer did not show them. */
export interface SpeedSample {
  readonly hostKey: string;
  readonly firstMs: number | null;
  readonly headMs: number | null;
  readonly tokensPerSecond: number | null;
}

export interface Speeds {
  note(hostKey: string, answer: ObservedAnswer): void;
  /** Counts an answer that another process saw. */
  learn(sample: SpeedSample): void;
  current(): HostSpeeds;
  /** Keeps the speeds of host keys that still mean the same host. Running calls go on noting theirs in the old object. */
  keeping(isSame: (hostKey: string) => boolean): Speeds;
}

/** The weight of a new observation, once there are enough to begin with. */
const ALPHA = 0.1;
/** Before so many observations, a host counts as unknown: the first one may include a connection or a cold start. */
const OBSERVED_MIN = 5;
/** An average is published again when it is off by this share of what was published. */
const STEP = 0.2;
/** Fewer tokens, or in less time, say nothing about throughput. */
const TOKENS_MIN = 16;
const OUTPUT_MS_MIN = 20;
/** Older observations are forgotten, so that a host that was slow is tried again. */
const KEEP_MS = 600_000;

/**
 * Averages observations. The average begins with the median of the first ones, so that a very slow one counts no more
 * than others.
 */
class Average {
  readonly #first: number[] = [];
  #log = 0;

  note(observed: number): void {
    const log = Math.log(Math.max(1, observed));
    if (this.#first.length === OBSERVED_MIN) {
      this.#log += ALPHA * (log - this.#log);
      return;
    }
    this.#first.push(log);
    this.#log = this.#first.toSorted((a, b) => a - b)[OBSERVED_MIN >> 1] ?? 0;
  }

  /** The average; null before there are enough observations. */
  get value(): number | null {
    return this.#first.length < OBSERVED_MIN ? null : Math.exp(this.#log);
  }
}

interface Averages {
  readonly firstMs: Average;
  readonly headMs: Average;
  readonly tokensPerSecond: Average;
  notedAtMs: number;
}

/** Told of every answer that this process saw. */
type ShareSample = (sample: SpeedSample) => void;

export function createSpeeds(
  now: () => number,
  share: ShareSample = () => undefined,
  averages = new Map<string, Averages>(),
): Speeds {
  let published: HostSpeeds = new Map();
  let oldestAtMs = Number.POSITIVE_INFINITY;

  function publish(nowMs: number): void {
    const next = new Map<string, HostSpeed>();
    oldestAtMs = Number.POSITIVE_INFINITY;
    for (const [hostKey, average] of averages) {
      if (nowMs - average.notedAtMs > KEEP_MS) averages.delete(hostKey);
      else {
        oldestAtMs = Math.min(oldestAtMs, average.notedAtMs);
        const known = published.get(hostKey);
        const speed = speedOf(average);
        if (speed !== null) next.set(hostKey, known === undefined || hasMoved(speed, known) ? speed : known);
      }
    }
    published = next;
  }

  function learn({ hostKey, firstMs, headMs, tokensPerSecond }: SpeedSample): void {
    let average = averages.get(hostKey);
    if (average === undefined) {
      average = { firstMs: new Average(), headMs: new Average(), tokensPerSecond: new Average(), notedAtMs: 0 };
      averages.set(hostKey, average);
    }
    if (firstMs !== null) average.firstMs.note(firstMs);
    if (headMs !== null) average.headMs.note(headMs);
    if (tokensPerSecond !== null) average.tokensPerSecond.note(tokensPerSecond);
    average.notedAtMs = now();
    const speed = speedOf(average);
    const shown = published.get(hostKey);
    if (speed !== null && (shown === undefined || hasMoved(speed, shown))) publish(average.notedAtMs);
  }

  if (averages.size > 0) publish(now());

  return {
    note(hostKey, { firstMs, headMs = null, outputTokens, outputMs }) {
      const isRate = outputTokens >= TOKENS_MIN && outputMs >= OUTPUT_MS_MIN;
      if (firstMs === null && headMs === null && !isRate) return;
      const sample = { hostKey, firstMs, headMs, tokensPerSecond: isRate ? (outputTokens / outputMs) * 1000 : null };
      learn(sample);
      share(sample);
    },
    learn,
    current() {
      if (published.size === 0) return published;
      const nowMs = now();
      if (nowMs - oldestAtMs > KEEP_MS) publish(nowMs);
      return published;
    },
    keeping: (isSame) => createSpeeds(now, share, new Map([...averages].filter(([hostKey]) => isSame(hostKey)))),
  };
}

function speedOf({ firstMs, headMs, tokensPerSecond }: Averages): Required<HostSpeed> | null {
  const [first, head, rate] = [firstMs.value, headMs.value, tokensPerSecond.value];
  if (first === null && head === null && rate === null) return null;
  return { firstMs: first ?? 0, headMs: head ?? 0, tokensPerSecond: rate ?? 0 };
}

function hasMoved(speed: Required<HostSpeed>, { firstMs, headMs = 0, tokensPerSecond }: HostSpeed): boolean {
  if (isOff(speed.firstMs, firstMs) || isOff(speed.headMs, headMs)) return true;
  return isOff(speed.tokensPerSecond, tokensPerSecond);
}

function isOff(average: number, shown: number): boolean {
  return Math.abs(average - shown) > STEP * shown;
}
