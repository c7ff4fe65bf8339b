// The per-minute limit over many processes: never more than the limit in any 60 seconds, wherever the calls arrive. A process
// takes calls out of the shared window in leases: as many as wait, and a few more where a key is busy, good for one
// second. Without the shared store each process keeps to its part of the limit.

import { fromLease, hasLeftOver, keepPace, type Lease, learn, newLease, wishOf } from "./lease.ts";
import { type Admission, type CallLimits, createLimiter } from "./per-minute.ts";
import type { SharedCounter } from "./shared-counter.ts";

export interface SharedLimitsOptions {
  readonly counter: SharedCounter;
  /** How many processes share the limit, as far as is known. */
  readonly processes: () => number;
  readonly now: () => number;
  /** Milliseconds that only go forward. */
  readonly clock?: () => number;
}

export interface SharedLimits extends CallLimits {
  start(): void;
  stop(): void;
}

const SWEEP_MS = 1_000;
const FORGET_AFTER_MS = 120_000;

export function createSharedLimits(options: SharedLimitsOptions): SharedLimits {
  const { counter, processes, now, clock = () => performance.now() } = options;
  /** Everything that was let in here, for when this is all there is to go by. */
  const local = createLimiter();
  const leases = new Map<string, Lease>();
  let timer: NodeJS.Timeout | null = null;

  function alone(id: string, limit: number, nowMs: number): Admission {
    const part = Math.min(limit, Math.max(1, Math.floor(limit / processes())));
    return { ...local.admit(id, part, nowMs), limit };
  }

  /** Null when it cannot be said without asking. */
  function known(id: string, lease: Lease, nowMs: number): Admission | null {
    if (!counter.isAnswering()) return alone(id, lease.limit, nowMs);
    const admission = fromLease(lease, clock());
    if (admission?.allowed === true) local.admit(id, Number.POSITIVE_INFINITY, nowMs);
    return admission;
  }

  async function ask(id: string, lease: Lease): Promise<void> {
    lease.isAsking = true;
    let askedAtMs = 0;
    let wanted = 0;
    const taken = await counter.take(id, () => {
      askedAtMs = clock();
      wanted = lease.waiting.length;
      const wish = wishOf(lease, processes());
      lease.permits = 0;
      return wish;
    });
    lease.isAsking = false;
    if (taken !== null) learn(lease, taken, { askedAtMs, wanted, atMs: clock() });
    const told = lease.waiting;
    lease.waiting = [];
    for (const tell of told) tell(now());
  }

  function wait(id: string, lease: Lease): Promise<Admission> {
    return new Promise((resolve) => {
      lease.waiting.push((nowMs) => resolve(known(id, lease, nowMs) ?? wait(id, lease)));
      if (!lease.isAsking) void ask(id, lease);
    });
  }

  /** Gives back what was not used, and forgets who has not come for long. */
  function sweep(): void {
    const atMs = clock();
    for (const [id, lease] of leases) {
      if (hasLeftOver(lease, atMs) && counter.isAnswering()) void ask(id, lease);
      else if (atMs - lease.seenAtMs > FORGET_AFTER_MS && !lease.isAsking) leases.delete(id);
    }
  }

  return {
    admit(id, limitPerMinute, nowMs) {
      const lease = leases.get(id) ?? newLease(limitPerMinute);
      leases.set(id, lease);
      if (lease.limit !== limitPerMinute) Object.assign(lease, { limit: limitPerMinute, refusedUntilMs: 0 });
      keepPace(lease, clock());
      return known(id, lease, nowMs) ?? wait(id, lease);
    },
    start() {
      timer ??= setInterval(sweep, SWEEP_MS).unref();
    },
    stop() {
      if (timer !== null) clearInterval(timer);
      counter.stop();
    },
  };
}
