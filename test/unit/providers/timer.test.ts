// The timeouts of one attempt, on a clock of our own.

import { beforeEach, expect, test, vi } from "vitest";
import { AttemptTimer } from "../../../src/providers/timer.ts";

const TIMEOUTS = { connectMs: 50, firstByteMs: 100, idleMs: 200, totalMs: 1000, isFirstByteConfigured: true };

beforeEach(() => void vi.useFakeTimers());

function start(isStream: boolean, changes: Partial<typeof TIMEOUTS> = {}) {
  const fired: string[] = [];
  const timer = new AttemptTimer({ ...TIMEOUTS, ...changes }, { isStream }, ({ message }) => fired.push(message));
  return { timer, fired };
}

test.each([true, false])("no headers: the first byte is late (stream: %s)", (isStream) => {
  const { fired } = start(isStream);
  vi.advanceTimersByTime(99);
  expect(fired).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(fired).toEqual(["the provider sent no answer within 100 ms"]);
});

test("a whole answer waits for its first byte only where that was configured", () => {
  const { fired } = start(false, { isFirstByteConfigured: false });
  vi.advanceTimersByTime(999);
  expect(fired).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(fired).toEqual(["the provider did not finish within 1000 ms"]);
});

test("in a stream headers and bytes do not end the wait for the first event; an event does", () => {
  const waiting = start(true);
  waiting.timer.headersSeen();
  waiting.timer.bytesSeen();
  vi.advanceTimersByTime(100);
  expect(waiting.fired).toEqual(["the provider sent no answer within 100 ms"]);
  const begun = start(true);
  begun.timer.headersSeen();
  begun.timer.eventSeen();
  vi.advanceTimersByTime(199);
  expect(begun.fired).toEqual([]);
});

test("silence counts from the last byte", () => {
  const { timer, fired } = start(false);
  timer.headersSeen();
  vi.advanceTimersByTime(150);
  timer.bytesSeen();
  vi.advanceTimersByTime(199);
  expect(fired).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(fired).toEqual(["the provider sent nothing more within 200 ms"]);
});

test("while the reader is slow there is no silence, but the whole is still bounded", () => {
  const { timer, fired } = start(false);
  timer.headersSeen();
  timer.suspend();
  vi.advanceTimersByTime(999);
  expect(fired).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(fired).toEqual(["the provider did not finish within 1000 ms"]);
});

test("once the reader goes on, silence counts from then", () => {
  const { timer, fired } = start(false);
  timer.headersSeen();
  timer.suspend();
  vi.advanceTimersByTime(500);
  timer.resume();
  vi.advanceTimersByTime(199);
  expect(fired).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(fired).toEqual(["the provider sent nothing more within 200 ms"]);
});

test("released, the provider has a second to end", () => {
  const { timer, fired } = start(true);
  timer.headersSeen();
  vi.advanceTimersByTime(50);
  timer.release();
  vi.advanceTimersByTime(999);
  expect(fired).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(fired).toEqual(["the provider did not end its answer within 1000 ms"]);
});

test("stopped, nothing fires and nothing is left behind", () => {
  const { timer, fired } = start(true);
  timer.headersSeen();
  timer.release();
  timer.stop();
  expect(vi.getTimerCount()).toBe(0);
  vi.advanceTimersByTime(10_000);
  expect(fired).toEqual([]);
});
