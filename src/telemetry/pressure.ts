// Whether the process can take on more work: how late its event loop runs, and how much memory it uses. Asked for every
// request, so the answer is kept ready.

import { totalmem } from "node:os";
import { getHeapStatistics } from "node:v8";

export type PressureReason = "event_loop" | "memory";

export interface Pressure {
  /** Why no more work should be taken on at this moment; null when there is no reason. */
  reason(): PressureReason | null;
  close(): void;
}

export interface PressureLimits {
  readonly eventLoopDelayMs: number;
  readonly memoryPercent: number;
}

/** What it measures; tests put their own in place. */
export interface Gauges {
  readonly nowMs: () => number;
  readonly memoryPercent: () => number;
}

const TICK_MS = 50;
const TICKS_PER_MEMORY_CHECK = 10;
/** One long stall is over when it is noticed; only a loop that stays late has too much to do. */
const PATIENCE_MS = 1_000;
/** After that, a loop that is late again has not recovered: nobody waits for a second proof. */
const WARY_MS = 5_000;

export function createPressure(limits: PressureLimits, gauges: Gauges = createGauges()): Pressure {
  const lateness = createLateness(limits.eventLoopDelayMs, gauges.nowMs);
  let ticks = 0;
  let isFull = false;
  const timer = setInterval(() => {
    lateness.tick();
    if (ticks % TICKS_PER_MEMORY_CHECK === 0) isFull = gauges.memoryPercent() > limits.memoryPercent;
    ticks += 1;
  }, TICK_MS).unref();
  return {
    reason() {
      if (isFull) return "memory";
      return lateness.isLate() ? "event_loop" : null;
    },
    close: () => clearInterval(timer),
  };
}

function createLateness(limitMs: number, nowMs: () => number) {
  let dueAtMs = nowMs() + TICK_MS;
  let lateSinceMs: number | null = null;
  let waryUntilMs = 0;
  let isOverloaded = false;
  return {
    tick(): void {
      const atMs = nowMs();
      const isLate = atMs - dueAtMs > limitMs;
      dueAtMs = atMs + TICK_MS;
      lateSinceMs = isLate ? (lateSinceMs ?? atMs) : null;
      isOverloaded = lateSinceMs !== null && (atMs - lateSinceMs >= PATIENCE_MS || atMs < waryUntilMs);
      if (isOverloaded) waryUntilMs = atMs + WARY_MS;
    },
    /** Soon after, also in the middle of a long round: the tick that would say so is itself waiting for its end. */
    isLate(): boolean {
      if (isOverloaded) return true;
      if (waryUntilMs === 0) return false;
      const atMs = nowMs();
      return atMs < waryUntilMs && atMs - dueAtMs > limitMs;
    },
  };
}

function createGauges(): Gauges {
  const mayUseBytes = memoryOfProcess();
  return {
    nowMs: () => performance.now(),
    memoryPercent() {
      const { used_heap_size: heapBytes, heap_size_limit: heapMaxBytes } = getHeapStatistics();
      return 100 * Math.max(process.memoryUsage.rss() / mayUseBytes, heapBytes / heapMaxBytes);
    },
  };
}

/** What a container gives the process, else the machine's memory. */
function memoryOfProcess(): number {
  const constrainedBytes = process.constrainedMemory?.() ?? 0;
  return constrainedBytes > 0 ? Math.min(constrainedBytes, totalmem()) : totalmem();
}
