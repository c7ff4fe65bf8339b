// How fast each host answers, as this process observes it: moving averages of the time to the first token and of the
// tokens a second. What is published changes only when an average has really moved, so that noise moves no conversation.

import type { HostSpeed, HostSpeeds } from "../core/decision.ts";

/** One answer. */
interface ObservedAnswer {
  /** Until the first content of a stream; null for a response that came whole. */
  readonly firstMs: number | null;
  readonly outputTokens: number;
  /** How long those tokens took. */
  readonly outputMs: number;
}

export interface Speeds {
  note(route: string, answer: ObservedAnswer): void;
  current(): HostSpeeds;
  /** The speeds of those routes that lead where they led before. Calls that go on under the old ones still note theirs. */
  keeping(isSame: (route: string) => boolean): Speeds;
}

/** The weight of a new observation. */
const ALPHA = 0.1;
/** An average is published again when it is off by this share of what was published. */
const STEP = 0.2;
/** Fewer tokens, or in less time, say nothing about throughput. */
const TOKENS_MIN = 16;
const OUTPUT_MS_MIN = 20;
/** What is older is forgotten, so that a host that was slow is tried again. */
const KEEP_MS = 600_000;

interface Averages {
  firstMs: number;
  tokensPerSecond: number;
  notedAtMs: number;
}

export function createSpeeds(now: () => number, averages = new Map<string, Averages>()): Speeds {
  let published: HostSpeeds = new Map();
  let oldestAtMs = Number.POSITIVE_INFINITY;

  function publish(nowMs: number): void {
    const next = new Map<string, HostSpeed>();
    oldestAtMs = Number.POSITIVE_INFINITY;
    for (const [route, { firstMs, tokensPerSecond, notedAtMs }] of averages) {
      if (nowMs - notedAtMs > KEEP_MS) averages.delete(route);
      else {
        oldestAtMs = Math.min(oldestAtMs, notedAtMs);
        const known = published.get(route);
        const hasMoved =
          known === undefined || isOff(firstMs, known.firstMs) || isOff(tokensPerSecond, known.tokensPerSecond);
        next.set(route, hasMoved ? { firstMs, tokensPerSecond } : known);
      }
    }
    published = next;
  }

  if (averages.size > 0) publish(now());

  return {
    note(route, { firstMs, outputTokens, outputMs }) {
      const rate = outputTokens >= TOKENS_MIN && outputMs >= OUTPUT_MS_MIN ? (outputTokens / outputMs) * 1000 : 0;
      const known = averages.get(route);
      const average = known ?? { firstMs: 0, tokensPerSecond: 0, notedAtMs: 0 };
      if (firstMs !== null) average.firstMs = moved(average.firstMs, firstMs);
      if (rate > 0) average.tokensPerSecond = moved(average.tokensPerSecond, rate);
      average.notedAtMs = now();
      if (known === undefined) averages.set(route, average);
      const shown = published.get(route);
      if (
        shown === undefined ||
        isOff(average.firstMs, shown.firstMs) ||
        isOff(average.tokensPerSecond, shown.tokensPerSecond)
      ) {
        publish(average.notedAtMs);
      }
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

function moved(average: number, observed: number): number {
  return average === 0 ? observed : average + ALPHA * (observed - average);
}

function isOff(average: number, shown: number): boolean {
  return Math.abs(average - shown) > STEP * shown;
}
