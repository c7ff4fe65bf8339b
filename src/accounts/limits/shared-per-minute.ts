// The per-minute limit over many processes: never more than the limit in any 60 seconds, wherever the calls arrive.
// A process takes calls from the shared window in leases of one second. Without the shared store each process enforces
// its part of the limit.

import {
  type Asked,
  admitFromLease,
  applyTaken,
  changeLimit,
  countCall,
  hasUnusedPermits,
  type Lease,
  newLease,
  rateRequestOf,
} from "./lease.ts";
import { type Admission, type CallLimits, createLimiter } from "./per-minute.ts";
import type { SharedCounter } from "./shared-counter.ts";

export interface SharedLimitsOptions {
  readonly counter: SharedCounter;
  /** The number of processes that share the limit, as far as this one knows. */
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
/** A lease that was not used for this long is forgotten. Its calls have left the window by then. */
const FORGET_AFTER_MS = 120_000;

export function createSharedLimits(options: SharedLimitsOptions): SharedLimits {
  const { counter, now, clock = () => performance.now() } = options;
  const leases = new Map<string, Lease>();
  const admitIfKnown = createLocalDecision({ ...options, clock });
  let timer: NodeJS.Timeout | null = null;

  /** Takes permits for the calls that wait, then decides on those. Counts those again that came late. */
  async function refill(id: string, lease: Lease): Promise<void> {
    lease.isAsking = true;
    let asked: Asked = { askedAtMs: 0, waiting: 0, late: 0 };
    const taken = await counter.take(id, () => {
      asked = { askedAtMs: clock(), waiting: lease.waiting.length, late: lease.late };
      const request = rateRequestOf(lease, options.processes(), asked.askedAtMs);
      lease.permits = 0;
      lease.late = 0;
      return request;
    });
    lease.isAsking = false;
    if (taken === null) lease.late += asked.late;
    else applyTaken(lease, taken, asked, clock());
    for (const decide of lease.waiting.splice(0)) decide(now());
    // After a stall they were decided late.
    if (taken !== null && lease.late > 0 && !lease.isAsking) void refill(id, lease);
  }

  function wait(id: string, lease: Lease): Promise<Admission> {
    return new Promise((resolve) => {
      lease.waiting.push((nowMs) => resolve(admitIfKnown(id, lease, nowMs) ?? wait(id, lease)));
      if (!lease.isAsking) void refill(id, lease);
    });
  }

  /** Gives unused permits back, and forgets leases that are no longer used. */
  function sweep(): void {
    const atMs = clock();
    for (const [id, lease] of leases) {
      if (hasUnusedPermits(lease, atMs) && counter.isResponding()) void refill(id, lease);
      else if (atMs - lease.seenAtMs > FORGET_AFTER_MS && !lease.isAsking) leases.delete(id);
    }
  }

  return {
    async admit(id, limitPerMinute, nowMs) {
      const lease = leases.get(id) ?? newLease(limitPerMinute);
      leases.set(id, lease);
      if (lease.limit !== limitPerMinute) changeLimit(lease, limitPerMinute);
      countCall(lease, clock());
      const known = admitIfKnown(id, lease, nowMs);
      if (lease.late > 0 && !lease.isAsking) void refill(id, lease);
      return known ?? wait(id, lease);
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

/** Decides on a call from what this process knows; null when the store has to be asked. */
function createLocalDecision({ counter, processes, clock }: Required<Omit<SharedLimitsOptions, "now">>) {
  /** Every call admitted here, for the time when nothing else is known. */
  const local = createLimiter();
  return (id: string, lease: Lease, nowMs: number): Admission | null => {
    const { limit } = lease;
    if (!counter.isResponding()) {
      const part = Math.min(limit, Math.max(1, Math.floor(limit / processes())));
      return { ...local.admit(id, part, nowMs), limit };
    }
    const admission = admitFromLease(lease, clock());
    if (admission?.allowed === true) local.admit(id, Number.POSITIVE_INFINITY, nowMs);
    return admission;
  };
}
