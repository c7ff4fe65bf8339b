// The clock of overload control: it runs while requests come.

import { beforeEach, expect, it, vi } from "vitest";
import { OVERLOAD_POLICY } from "../../../../src/http/overload/policy.ts";
import { createPressure, createTicker } from "../../../../src/http/overload/pressure.ts";
import { createQueue } from "../../../../src/http/overload/queue.ts";

const { idleMs } = OVERLOAD_POLICY.admission;
const EVERY_MS = 50;

beforeEach(() => void vi.useFakeTimers());

it("ticks from the first request on, and sleeps when none came for a while", () => {
  const onWake = vi.fn();
  const onTick = vi.fn();
  const ticker = createTicker({ everyMs: EVERY_MS, onWake, onTick });
  vi.advanceTimersByTime(idleMs);
  expect([onWake, onTick].map(({ mock }) => mock.calls.length)).toEqual([0, 0]);
  ticker.wake();
  vi.advanceTimersByTime(idleMs - EVERY_MS);
  ticker.wake();
  vi.advanceTimersByTime(10 * idleMs);
  const ticks = (2 * idleMs) / EVERY_MS - 1;
  expect([onWake, onTick].map(({ mock }) => mock.calls.length)).toEqual([1, ticks]);
  ticker.wake();
  vi.advanceTimersByTime(EVERY_MS);
  expect([onWake, onTick].map(({ mock }) => mock.calls.length)).toEqual([2, ticks + 1]);
  ticker.stop();
  expect(vi.getTimerCount()).toBe(0);
});

it("ticks on while it is needed", () => {
  let isNeeded = true;
  const ticker = createTicker({ everyMs: EVERY_MS, onWake() {}, onTick() {}, isNeeded: () => isNeeded });
  ticker.wake();
  vi.advanceTimersByTime(10 * idleMs);
  expect(vi.getTimerCount()).toBe(1);
  isNeeded = false;
  vi.advanceTimersByTime(EVERY_MS);
  expect(vi.getTimerCount()).toBe(0);
});

it("no timer of overload control runs in an idle gateway", () => {
  const pressure = createPressure({ eventLoopDelayMs: 200, memoryPercent: 100 });
  const queue = createQueue(500);
  expect(vi.getTimerCount()).toBe(0);
  pressure.reason();
  queue.tryStart();
  expect(vi.getTimerCount()).toBeGreaterThan(0);
  vi.advanceTimersByTime(2 * idleMs);
  expect(vi.getTimerCount()).toBe(0);
});
