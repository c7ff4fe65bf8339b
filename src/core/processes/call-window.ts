// Counting what is done under a name in a sliding window that many processes share: the port, and the counting itself as a
// pure function.

/** `[second, count]`, oldest first. The second is of the shared clock. */
export type SecondCount = readonly [second: number, count: number];

export interface RateRequest {
  /** The name it is counted under. */
  readonly id: string;
  readonly limit: number;
  /** For how many seconds a count stays. */
  readonly spanSeconds: number;
  /** Number of calls that are wanted; the window grants as many as still fit. */
  readonly count: number;
  /** Calls that were granted in an earlier second and not used. */
  readonly unused: { readonly second: number; readonly count: number } | null;
}

export interface Taken {
  readonly granted: number;
  /** Second of the grant, by the shared clock. */
  readonly second: number;
  /** Milliseconds since that second began. */
  readonly ms: number;
  /** Calls in the window now, by second, with those just granted. */
  readonly counts: readonly SecondCount[];
}

export interface CallWindows {
  /** Each request at most once under one id. Rejects when the shared store does not answer. */
  take(requests: readonly RateRequest[]): Promise<readonly Taken[]>;
  close(): Promise<void>;
}

/** Counts this far ahead of the clock are of a clock that was set back. */
export const AHEAD_SECONDS_MAX = 5;

/** `nowMs` is of the shared clock. */
export function takeFrom(counts: readonly SecondCount[], request: RateRequest, nowMs: number): Taken {
  const { limit, spanSeconds, unused } = request;
  const second = Math.floor(nowMs / 1000);
  const kept = counts
    .filter(([at]) => at > second - spanSeconds && at <= second + AHEAD_SECONDS_MAX)
    .map(([at, count]): SecondCount => [at, at === unused?.second ? Math.max(0, count - unused.count) : count])
    .filter(([, count]) => count > 0);
  const granted = Math.max(0, Math.min(request.count, limit - totalOf(kept)));
  return { granted, second, ms: nowMs - second * 1000, counts: granted === 0 ? kept : add(kept, second, granted) };
}

export function totalOf(counts: readonly SecondCount[]): number {
  return counts.reduce((sum, [, count]) => sum + count, 0);
}

/** Returns the time until no more than `most` calls are in the window. */
export function msUntil({ counts, second, ms }: Taken, most: number, spanSeconds: number): number {
  let total = totalOf(counts);
  for (const [at, count] of counts) {
    if (total <= most) break;
    total -= count;
    if (total <= most) return (at + spanSeconds - second) * 1000 - ms;
  }
  return 0;
}

function add(counts: readonly SecondCount[], second: number, count: number): readonly SecondCount[] {
  const same = counts.find(([at]) => at === second)?.[1] ?? 0;
  const others = counts.filter(([at]) => at !== second);
  return [...others, [second, same + count] as const].sort(([a], [b]) => a - b);
}
