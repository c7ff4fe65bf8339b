// A worker that owes an answer for 30 seconds is hung. Lag of the primary process itself does not count.

import { expect, test, vi } from "vitest";
import { createHeartbeat, type Heartbeat } from "../../../src/workers/heartbeat.ts";

/** A heartbeat with one worker, whose answers are given by hand, and a clock that may jump. */
function watchOne() {
  vi.useFakeTimers();
  let nowMs = 0;
  vi.spyOn(performance, "now").mockImplementation(() => nowMs);
  const heartbeat: Heartbeat = createHeartbeat();
  const answers: (() => void)[] = [];
  let close = (): void => undefined;
  const closed = new Promise<void>((resolve) => (close = resolve));
  const onHung = vi.fn();
  heartbeat.watch({ call: () => new Promise((resolve) => answers.push(() => resolve(null))), closed }, onHung);
  /** Beats that come after so many milliseconds each. */
  const pass = async (beats: number, lengthMs = 1_000): Promise<void> => {
    for (let beat = 0; beat < beats; beat += 1) {
      nowMs += lengthMs;
      await vi.advanceTimersByTimeAsync(1_000);
    }
  };
  return { heartbeat, answers, onHung, pass, close: () => close() };
}

test("a worker that answers is asked again and again, and never hung", async () => {
  const { answers, onHung, pass } = watchOne();
  for (let round = 1; round <= 100; round += 1) {
    await pass(1);
    expect(answers).toHaveLength(round);
    answers.at(-1)?.();
  }
  expect(onHung).not.toHaveBeenCalled();
});

test("a worker that answers no more is reported after a while, and hung after 30 seconds, once", async () => {
  const { heartbeat, answers, onHung, pass } = watchOne();
  await pass(5);
  expect([heartbeat.silent(), answers.length]).toEqual([0, 1]);
  await pass(1);
  expect(heartbeat.silent()).toBe(1);
  await pass(24);
  expect(onHung).not.toHaveBeenCalled();
  await pass(1);
  expect(onHung).toHaveBeenCalledOnce();
  expect(heartbeat.silent()).toBe(0);
  await pass(60);
  expect(onHung).toHaveBeenCalledOnce();
});

test("an answer that comes late counts", async () => {
  const { answers, onHung, pass } = watchOne();
  for (let round = 0; round < 10; round += 1) {
    await pass(29);
    answers.at(-1)?.();
  }
  expect(onHung).not.toHaveBeenCalled();
});

test.each([
  ["a machine that was suspended for an hour", 1, 3_600_000],
  ["a machine so busy that every beat comes a second late", 1_000, 2_000],
])("%s has no hung workers", async (_, beats, lengthMs) => {
  const { heartbeat, onHung, pass } = watchOne();
  await pass(1);
  await pass(beats, lengthMs);
  expect([heartbeat.silent(), onHung.mock.calls.length]).toEqual([0, 0]);
  await pass(30);
  expect(onHung).toHaveBeenCalledOnce();
});

test("a worker that has ended is not hung", async () => {
  const { heartbeat, onHung, pass, close } = watchOne();
  await pass(10);
  close();
  await pass(60);
  expect([heartbeat.silent(), onHung.mock.calls.length]).toEqual([0, 0]);
});
