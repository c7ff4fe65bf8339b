// Speed of each host, as this process observes it: moving averages of the time to the first token and of the
// tokens a second. Averages are of logarithms, since one answer may take thirty times as long as usual. What is published
// changes only when an average has really moved. So noise moves no conversation.

import type { HostSpeed, HostSpeeds } from "../core/decision.ts";

/** One answer. */
interface ObservedAnswer {
  /** Until the first content of a stream; null for a response that came whole. */
  readonly firstMs: number | null;
  readonly outputTokens: number;
  /** Time that those tokens took. */
  readonly outputMs: number;
}

export interface Speeds {
  note(route: string, answer: ObservedAnswer): void;
  current(): HostSpeeds;
  /** The speeds of those routes that lead where they led before. Calls that go on under the old ones still note theirs. */
  keeping(isSame: (route: string) => boolean): Speeds;
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

/** It begins with the median of the first observations, so that one that took very long counts no more than another. */
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
  readonly tokensPerSecond: Average;
  notedAtMs: number;
}

export function createSpeeds(now: () => number, averages = new Map<string, Averages>()): Speeds {
  let published: HostSpeeds = new Map();
  let oldestAtMs = Number.POSITIVE_INFINITY;

  function publish(nowMs: number): void {
    const next = new Map<string, HostSpeed>();
    oldestAtMs = Number.POSITIVE_INFINITY;
    for (const [route, average] of averages) {
      if (nowMs - average.notedAtMs > KEEP_MS) averages.delete(route);
      else {
        oldestAtMs = Math.min(oldestAtMs, average.notedAtMs);
        const known = published.get(route);
        const speed = speedOf(average);
        if (speed !== null) next.set(route, known === undefined || hasMoved(speed, known) ? speed : known);
      }
    }
    published = next;
  }

  if (averages.size > 0) publish(now());

  return {
    note(route, { firstMs, outputTokens, outputMs }) {
      const isRate = outputTokens >= TOKENS_MIN && outputMs >= OUTPUT_MS_MIN;
      if (firstMs === null && !isRate) return;
      let average = averages.get(route);
      if (average === undefined) {
        average = { firstMs: new Average(), tokensPerSecond: new Average(), notedAtMs: 0 };
        averages.set(route, average);
      }
      if (firstMs !== null) average.firstMs.note(firstMs);
      if (isRate) average.tokensPerSecond.note((outputTokens / outputMs) * 1000);
      average.notedAtMs = now();
      const speed = speedOf(average);
      const shown = published.get(route);
      if (speed !== null && (shown === undefined || hasMoved(speed, shown))) publish(average.notedAtMs);
    },
    current() {
      if (published.size === 0) return published;
      const nowMs = now();
      if (nowMs - oldestAtMs > KEEP_MS) publish(nowMs);
      return published;
    },
    keeping: (isSame) => createSpeeds(now, new Map([...averages].filter(([route]) => isSame(route)))),
  };
}

function speedOf({ firstMs, tokensPerSecond }: Averages): HostSpeed | null {
  const [first, rate] = [firstMs.value, tokensPerSecond.value];
  return first === null && rate === null ? null : { firstMs: first ?? 0, tokensPerSecond: rate ?? 0 };
}

function hasMoved(speed: HostSpeed, shown: HostSpeed): boolean {
  return isOff(speed.firstMs, shown.firstMs) || isOff(speed.tokensPerSecond, shown.tokensPerSecond);
}

function isOff(average: number, shown: number): boolean {
  return Math.abs(average - shown) > STEP * shown;
}
