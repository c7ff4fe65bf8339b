// A lease on the shared window of one name: what may be let in without asking for the next second, or that the window is
// full, and what was learnt when it was last asked.

import { secondsUntil, type Taken, totalOf, type Wish } from "../../core/call-window.ts";
import type { Admission } from "./per-minute.ts";

/** A call that is counted in second s may be made until s + 2, so it has to count until s + 62. */
const LEASE_MS = 1_000;
const SPAN_SECONDS = 62;
/** Nobody is told to wait for longer than the minute the limit is for. */
const WAIT_SECONDS_MAX = 60;
/** Below this a question for each call is little work. */
const LEASED_LIMIT_MIN = 120;
/** A window that is full is not asked again at once: one key far over its limit must not keep the store busy. */
const REFUSAL_MS = 1_000;

/** What one process knows of one name with a limit. */
export interface Lease {
  limit: number;
  /** What may be let in without asking, until then. */
  permits: number;
  untilMs: number;
  /** The second of the shared clock in which they were taken. */
  second: number;
  /** What the others had left when we last asked, and when the window will be empty. */
  remaining: number;
  emptyAtMs: number;
  /** Full until then, and when the next call can succeed. */
  refusedUntilMs: number;
  retryAtMs: number;
  waiting: ((nowMs: number) => void)[];
  isAsking: boolean;
  pace: { startedAtMs: number; count: number; before: number };
  seenAtMs: number;
}

/** Null when it cannot be said without asking. */
export function fromLease(lease: Lease, atMs: number): Admission | null {
  if (lease.permits > 0 && atMs < lease.untilMs) {
    lease.permits -= 1;
    return admission(lease, { allowed: true, atMs });
  }
  return atMs < lease.refusedUntilMs ? admission(lease, { allowed: false, atMs }) : null;
}

/** Whether something was taken and not used in time. */
export function hasLeftOver({ permits, untilMs, isAsking }: Lease, atMs: number): boolean {
  return permits > 0 && atMs >= untilMs && !isAsking;
}

export function newLease(limit: number): Lease {
  const times = { untilMs: 0, second: 0, emptyAtMs: 0, refusedUntilMs: 0, retryAtMs: 0, seenAtMs: 0 };
  const pace = { startedAtMs: 0, count: 0, before: 0 };
  return { ...times, limit, permits: 0, remaining: 0, waiting: [], isAsking: false, pace };
}

/**
 * As many as wait. A busy key gets some more, for its next second, as long as that is little of what is left: whatever lies
 * here unused is refused to others meanwhile. A small limit gets none, and is exact to the last call.
 */
export function wishOf(lease: Lease, processes: number): Omit<Wish, "id"> {
  const { limit, permits, second, waiting, pace, remaining } = lease;
  const isRoomy = limit >= LEASED_LIMIT_MIN && remaining >= limit / 2 && waiting.length > 0;
  const spare = isRoomy ? Math.floor(remaining / (8 * processes)) : 0;
  const more = Math.min(Math.max(pace.before, pace.count), spare);
  const unused = permits > 0 ? { second, count: permits } : null;
  return { limit, spanSeconds: SPAN_SECONDS, count: waiting.length + more, unused };
}

export function learn(lease: Lease, taken: Taken, asked: { askedAtMs: number; wanted: number; atMs: number }): void {
  const { askedAtMs, wanted, atMs } = asked;
  lease.permits = taken.granted;
  lease.untilMs = askedAtMs + LEASE_MS;
  lease.second = taken.second;
  lease.remaining = Math.max(0, lease.limit - totalOf(taken.counts));
  lease.emptyAtMs = atMs + secondsUntil(taken, 0, SPAN_SECONDS) * 1000;
  if (taken.granted >= wanted) return;
  lease.retryAtMs = atMs + secondsUntil(taken, lease.limit - 1, SPAN_SECONDS) * 1000;
  lease.refusedUntilMs = atMs + REFUSAL_MS;
}

function admission(lease: Lease, { allowed, atMs }: { allowed: boolean; atMs: number }): Admission {
  return {
    allowed,
    limit: lease.limit,
    remaining: allowed ? lease.remaining + lease.permits : 0,
    resetSeconds: Math.max(0, secondsFrom(atMs, lease.emptyAtMs)),
    retryAfterSeconds: allowed ? 0 : Math.max(1, secondsFrom(atMs, lease.retryAtMs)),
  };
}

function secondsFrom(atMs: number, thenMs: number): number {
  return Math.min(WAIT_SECONDS_MAX, Math.ceil((thenMs - atMs) / 1000));
}

/** Calls in the running second and in the one before. */
export function keepPace(lease: Lease, atMs: number): void {
  lease.seenAtMs = atMs;
  const { pace } = lease;
  const passedMs = atMs - pace.startedAtMs;
  if (passedMs >= LEASE_MS)
    lease.pace = { startedAtMs: atMs, count: 1, before: passedMs < 2 * LEASE_MS ? pace.count : 0 };
  else pace.count += 1;
}
