// Lines of one event beyond 100 in ten seconds are left out and counted; other events are not affected.

import { beforeEach, expect, test, vi } from "vitest";
import { LOG_EVENTS, type LogEvent } from "../../../src/core/events.ts";
import { createRepeats } from "../../../src/telemetry/repeats.ts";

beforeEach(() => void vi.useFakeTimers());

function counted() {
  const reports: [LogEvent, number][] = [];
  const repeats = createRepeats((event, leftOut) => reports.push([event, leftOut]));
  const written = (event: LogEvent, times: number): number =>
    Array.from({ length: times }, () => repeats.allows(event)).filter(Boolean).length;
  return { repeats, reports, written };
}

test("a hundred lines of each event are written, and the number of the others at the end of the window", () => {
  const { reports, written } = counted();
  expect(written("request.failed", 5_000)).toBe(100);
  expect(written("attempt.failed", 7)).toBe(7);
  expect(reports).toEqual([]);
  vi.advanceTimersByTime(10_000);
  expect(reports).toEqual([["request.failed", 4_900]]);
  expect(written("request.failed", 101)).toBe(100);
  vi.advanceTimersByTime(10_000);
  expect(reports).toEqual([
    ["request.failed", 4_900],
    ["request.failed", 1],
  ]);
});

test("every event of a warning or an error is limited", () => {
  const { written } = counted();
  const events = (Object.keys(LOG_EVENTS) as LogEvent[]).filter((event) => LOG_EVENTS[event].level !== "info");
  expect(events.length).toBeGreaterThan(20);
  expect(events.filter((event) => written(event, 200) !== 100)).toEqual([]);
});

test("a window that left nothing out is not reported and sets no timer", () => {
  const { reports, written } = counted();
  expect(written("request.failed", 100)).toBe(100);
  expect(vi.getTimerCount()).toBe(0);
  vi.advanceTimersByTime(10_000);
  expect(written("request.failed", 100)).toBe(100);
  expect(reports).toEqual([]);
});

test("every request has its line", () => {
  const { written } = counted();
  expect(written("request.completed", 5_000)).toBe(5_000);
});

test("what was left out is reported when the log is flushed, once", () => {
  const { repeats, reports, written } = counted();
  written("stream.broken", 102);
  repeats.close();
  repeats.close();
  expect(reports).toEqual([["stream.broken", 2]]);
  expect(vi.getTimerCount()).toBe(0);
});
