// Pressure on the process: how late its event loop runs and how much memory it uses. Every request asks, so the result is
// kept ready while requests come.

import { getHeapStatistics } from "node:v8";
import { readMachine } from "../../config/machine.ts";
import { OVERLOAD_POLICY } from "./policy.ts";

const policy = OVERLOAD_POLICY.pressure;

export type PressureReason = "event_loop" | "memory";

export interface Pressure {
  /** Returns why the process should take on no more work now; null when nothing speaks against it. */
  reason(): PressureReason | null;
  close(): void;
}

export interface PressureLimits {
  readonly eventLoopDelayMs: number;
  readonly memoryPercent: number;
}

/** The measurements; tests pass their own. */
export interface Gauges {
  readonly nowMs: () => number;
  readonly memoryPercent: () => number;
}

export function createPressure(limits: PressureLimits, gauges: Gauges = createGauges()): Pressure {
  const lateness = createLateness(limits.eventLoopDelayMs, gauges.nowMs);
  let ticks = 0;
  let isMemoryFull = false;
  const measureMemory = (): void => {
    isMemoryFull = gauges.memoryPercent() > limits.memoryPercent;
  };
  const ticker = createTicker({
    everyMs: policy.tickMs,
    onWake() {
      lateness.expectTick();
      // Memory may have been freed or used up meanwhile.
      measureMemory();
    },
    onTick() {
      lateness.tick();
      if (ticks % policy.memoryCheckTicks === 0) measureMemory();
      ticks += 1;
    },
  });
  return {
    reason() {
      ticker.wake();
      if (isMemoryFull) return "memory";
      return lateness.isLate() ? "event_loop" : null;
    },
    close: ticker.stop,
  };
}

function createLateness(limitMs: number, nowMs: () => number) {
  let dueAtMs = 0;
  let lateSinceMs: number | null = null;
  /** Until then a late tick counts at once. */
  let recoveringUntilMs = 0;
  let isOverloaded = false;
  return {
    expectTick(): void {
      dueAtMs = nowMs() + policy.tickMs;
    },
    tick(): void {
      const atMs = nowMs();
      const isLate = atMs - dueAtMs > limitMs;
      dueAtMs = atMs + policy.tickMs;
      lateSinceMs = isLate ? (lateSinceMs ?? atMs) : null;
      isOverloaded = lateSinceMs !== null && (atMs - lateSinceMs >= policy.lateMinMs || atMs < recoveringUntilMs);
      if (isOverloaded) recoveringUntilMs = atMs + policy.recoveryMs;
    },
    /** Looks at the clock itself while recovering: in a long turn, the tick that would say so has to wait for its end. */
    isLate(): boolean {
      if (isOverloaded) return true;
      if (recoveringUntilMs === 0) return false;
      const atMs = nowMs();
      return atMs < recoveringUntilMs && atMs - dueAtMs > limitMs;
    },
  };
}

interface MemoryShare {
  /** The number of processes that share the memory, this one included. */
  readonly processes: number;
  /** The memory of another process that serves all of them. */
  readonly commonBytes: () => number;
}

export function createGauges({ processes, commonBytes }: MemoryShare = ALONE): Gauges {
  const availableBytes = readMachine().memoryBytes / processes;
  return {
    nowMs: () => performance.now(),
    memoryPercent() {
      const { used_heap_size: heapBytes, heap_size_limit: maxBytes } = getHeapStatistics();
      const usedBytes = residentBytes() + commonBytes() / processes;
      return 100 * Math.max(usedBytes / availableBytes, heapBytes / maxBytes);
    },
  };
}

const ALONE: MemoryShare = { processes: 1, commonBytes: () => 0 };

/** 0 where it cannot be read: without a free file descriptor, Node throws. */
export function residentBytes(): number {
  try {
    return process.memoryUsage.rss();
  } catch {
    return 0;
  }
}

export function heapMaxBytes(): number {
  return getHeapStatistics().heap_size_limit;
}

export interface Ticker {
  /** Says that a request came. The clock runs from now on. */
  wake(): void;
  stop(): void;
}

interface TickerOptions {
  readonly everyMs: number;
  /** Before the first tick after a sleep. */
  readonly onWake: () => void;
  readonly onTick: () => void;
  /** True while the clock is needed although no request comes. */
  readonly isNeeded?: () => boolean;
}

export function createTicker({ everyMs, onWake, onTick, isNeeded = () => false }: TickerOptions): Ticker {
  const idleTicksMax = OVERLOAD_POLICY.admission.idleMs / everyMs;
  let timer: NodeJS.Timeout | null = null;
  let idleTicks = 0;
  const stop = (): void => {
    if (timer !== null) clearInterval(timer);
    timer = null;
  };
  const tick = (): void => {
    onTick();
    idleTicks += 1;
    if (idleTicks >= idleTicksMax && !isNeeded()) stop();
  };
  return {
    wake() {
      idleTicks = 0;
      if (timer !== null) return;
      onWake();
      timer = setInterval(tick, everyMs).unref();
    },
    stop,
  };
}
