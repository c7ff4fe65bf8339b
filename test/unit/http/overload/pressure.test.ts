// When the process is under pressure: event loop and memory.

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createPressure, type Pressure } from "../../../../src/http/overload/pressure.ts";

const TICK_MS = 50;
const LIMIT_MS = 200;

let atMs: number;
let memoryPercent: number;
let pressure: Pressure;
beforeEach(() => {
  vi.useFakeTimers();
  atMs = 1_000;
  memoryPercent = 10;
  const gauges = { nowMs: () => atMs, memoryPercent: () => memoryPercent };
  pressure = createPressure({ eventLoopDelayMs: LIMIT_MS, memoryPercent: 80 }, gauges);
  // The first request: only then is anything measured.
  pressure.reason();
});
afterEach(() => {
  pressure.close();
});

/** The next tick comes this much after it was due. */
function tick(lateMs = 0): void {
  atMs += TICK_MS + lateMs;
  vi.advanceTimersByTime(TICK_MS);
}

/** Requests come all the time. */
function ticks(count: number, lateMs = 0): void {
  for (let done = 0; done < count; done += 1) {
    tick(lateMs);
    pressure.reason();
  }
}

describe("the event loop", () => {
  it("on time is no reason", () => {
    ticks(100, LIMIT_MS - 1);
    expect(pressure.reason()).toBeNull();
  });

  it("that stalls once, however long, is no reason: it is over", () => {
    tick(5_000);
    expect(pressure.reason()).toBeNull();
    tick();
    tick(5_000);
    expect(pressure.reason()).toBeNull();
  });

  it("that stays late is one, until it is on time", () => {
    ticks(5, LIMIT_MS + 50);
    expect(pressure.reason()).toBe("event_loop");
    tick();
    expect(pressure.reason()).toBeNull();
  });

  it("that stalls once is no reason in the middle of it either: what came meanwhile is served", () => {
    ticks(3);
    atMs += TICK_MS + 20 * LIMIT_MS;
    expect(pressure.reason()).toBeNull();
    vi.advanceTimersByTime(TICK_MS);
    expect(pressure.reason()).toBeNull();
  });

  it("that is late again soon after is one at once, also in the middle of a round", () => {
    ticks(5, LIMIT_MS + 50);
    tick();
    atMs += TICK_MS + LIMIT_MS + 1;
    expect(pressure.reason()).toBe("event_loop");
    vi.advanceTimersByTime(TICK_MS);
    expect(pressure.reason()).toBe("event_loop");
  });

  it("is trusted again after a while", () => {
    ticks(5, LIMIT_MS + 50);
    ticks(200);
    tick(LIMIT_MS + 50);
    expect(pressure.reason()).toBeNull();
  });
});

describe("after a time without requests", () => {
  const IDLE_MS = 60_000;
  const sleep = (): void => {
    vi.advanceTimersByTime(IDLE_MS);
    atMs += IDLE_MS;
  };

  it("the first request is not late, whatever was before", () => {
    ticks(5, LIMIT_MS + 50);
    tick();
    vi.advanceTimersByTime(IDLE_MS);
    // Within the time in which a late loop rejects at once.
    atMs += 3_000;
    expect(pressure.reason()).toBeNull();
  });

  it("memory that was used up meanwhile rejects the first request", () => {
    sleep();
    memoryPercent = 81;
    expect(pressure.reason()).toBe("memory");
  });

  it("memory that was used up is measured before the first request is rejected", () => {
    memoryPercent = 81;
    ticks(20);
    expect(pressure.reason()).toBe("memory");
    sleep();
    expect(pressure.reason()).toBe("memory");
    sleep();
    memoryPercent = 79;
    expect(pressure.reason()).toBeNull();
  });
});

describe("memory", () => {
  it("above the limit is a reason until it is below", () => {
    memoryPercent = 81;
    ticks(20);
    expect(pressure.reason()).toBe("memory");
    memoryPercent = 79;
    ticks(20);
    expect(pressure.reason()).toBeNull();
  });

  it("is measured: this process uses some, but not all", () => {
    vi.useRealTimers();
    for (const [limit, expected] of [
      [0.000001, "memory"],
      [100, null],
    ] as const) {
      vi.useFakeTimers();
      const real = createPressure({ eventLoopDelayMs: 60_000, memoryPercent: limit });
      real.reason();
      vi.advanceTimersByTime(TICK_MS);
      expect(real.reason()).toBe(expected);
      real.close();
      vi.useRealTimers();
    }
  });
});
