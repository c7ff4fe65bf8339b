// A lease on the shared window of one name: the calls this process may admit without asking for the next second, one that
// it may admit later, or the fact that the window is full.

import { msUntil, type RateRequest, type Taken, totalOf } from "../../core/processes/call-window.ts";
import type { Admission } from "./per-minute.ts";

const LEASE_MS = 1_000;
/** One permit that was not used by then is kept for so long, so that a lone call need not wait for the store. */
const KEPT_MS = 30_000;
/** A call that is counted in second s may be made until s + 2, so it has to count until s + 62. */
const SPAN_SECONDS = 62;
/** No client is told to wait longer than the minute the limit is for. */
const WAIT_SECONDS_MAX = 60;
/** Below this limit, asking for each call is little work. */
const LEASED_LIMIT_MIN = 120;
/** Nor is a full window asked again for this long, unless it has room sooner: one key must not keep the store busy. */
const REFUSAL_MS = 1_000;

/** The knowledge of one process about one name with a limit. */
export interface Lease {
  limit: number;
  /** Calls that may be admitted without asking, until `untilMs`. */
  permits: number;
  untilMs: number;
  /** Until then they may be used late. Such a call is counted again right after: a permit counts from when it was taken. */
  keptUntilMs: number;
  /** Calls that were admitted so, and are not counted again yet. */
  late: number;
  /** The second of the shared clock in which the permits were taken. */
  second: number;
  /** The calls left in the window when this process last asked; the whole limit before. */
  remaining: number;
  /** The time at which the window will be empty if nothing more is taken. */
  emptyAtMs: number;
  /** The window counts as full until then. */
  refusedUntilMs: number;
  /** The time at which the next call can succeed. */
  retryAtMs: number;
  /** Calls that wait for the response of the store. */
  waiting: ((nowMs: number) => void)[];
  isAsking: boolean;
  /** Calls in the current second, and in the one before. */
  pace: { startedAtMs: number; count: number; before: number };
  seenAtMs: number;
}

/** Admits or refuses a call from what is known; null when the store has to be asked. */
export function admitFromLease(lease: Lease, atMs: number): Admission | null {
  if (lease.permits > 0 && atMs < lease.keptUntilMs) {
    lease.permits -= 1;
    if (atMs >= lease.untilMs) {
      lease.late += 1;
      lease.emptyAtMs = atMs + SPAN_SECONDS * 1000;
    }
    return admission(lease, { allowed: true, atMs });
  }
  return atMs < lease.refusedUntilMs ? admission(lease, { allowed: false, atMs }) : null;
}

/** Tells whether permits were taken, not used in time, and are not to be kept. */
export function hasUnusedPermits({ permits, untilMs, keptUntilMs, isAsking }: Lease, atMs: number): boolean {
  return !isAsking && ((permits > 1 && atMs >= untilMs) || (permits > 0 && atMs >= keptUntilMs));
}

/** A permit that was kept under another limit admits nothing. */
export function changeLimit(lease: Lease, limit: number): void {
  Object.assign(lease, { limit, refusedUntilMs: 0, keptUntilMs: Math.min(lease.keptUntilMs, lease.untilMs) });
}

export function newLease(limit: number): Lease {
  const times = { untilMs: 0, keptUntilMs: 0, second: 0, emptyAtMs: 0, refusedUntilMs: 0, retryAtMs: 0, seenAtMs: 0 };
  const pace = { startedAtMs: 0, count: 0, before: 0 };
  return { ...times, limit, permits: 0, late: 0, remaining: limit, waiting: [], isAsking: false, pace };
}

/**
 * Counts the calls to take: as many as wait or came late. A busy key gets some more for its next second, and an idle one
 * keeps one. That is a small part of what is left, because unused permits are refused to other processes. A small limit
 * gets none and stays exact.
 */
export function rateRequestOf(lease: Lease, processes: number, atMs: number): Omit<RateRequest, "id"> {
  const { limit, permits, late, second, waiting, pace, remaining } = lease;
  const spare = isRoomy(lease) ? Math.floor(remaining / (8 * processes)) : 0;
  const kept = atMs - lease.seenAtMs < KEPT_MS ? 1 : 0;
  const needed = waiting.length + late;
  const more = Math.min(needed > 0 ? Math.max(pace.before, pace.count) : kept, spare);
  const unused = permits + late > 0 ? { second, count: permits + late } : null;
  return { limit, spanSeconds: SPAN_SECONDS, count: needed + more, unused };
}

/** The calls that a request was made for, and its time. */
export interface Asked {
  readonly askedAtMs: number;
  readonly waiting: number;
  readonly late: number;
}

/** Takes over what the store granted. */
export function applyTaken(lease: Lease, taken: Taken, { askedAtMs, waiting, late }: Asked, atMs: number): void {
  lease.permits = Math.max(0, taken.granted - late);
  lease.untilMs = askedAtMs + LEASE_MS;
  lease.second = taken.second;
  lease.remaining = Math.max(0, lease.limit - totalOf(taken.counts));
  lease.keptUntilMs = askedAtMs + (isRoomy(lease) ? KEPT_MS : LEASE_MS);
  lease.emptyAtMs = atMs + msUntil(taken, 0, SPAN_SECONDS);
  if (taken.granted >= waiting + late) return;
  const waitMs = msUntil(taken, lease.limit - 1, SPAN_SECONDS);
  lease.retryAtMs = atMs + waitMs;
  // A limit of 0 never has room.
  lease.refusedUntilMs = atMs + Math.min(REFUSAL_MS, waitMs || REFUSAL_MS);
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

/** Counts a call, for the pace of the next lease. */
export function countCall(lease: Lease, atMs: number): void {
  lease.seenAtMs = atMs;
  const { pace } = lease;
  const passedMs = atMs - pace.startedAtMs;
  if (passedMs >= LEASE_MS)
    lease.pace = { startedAtMs: atMs, count: 1, before: passedMs < 2 * LEASE_MS ? pace.count : 0 };
  else pace.count += 1;
}

/** Tells whether permits may be taken in advance. */
function isRoomy({ limit, remaining }: Lease): boolean {
  return limit >= LEASED_LIMIT_MIN && remaining >= limit / 2;
}
