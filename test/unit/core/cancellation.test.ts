import { expect, test, vi } from "vitest";
import { Cancellation, pause } from "../../../src/core/cancellation.ts";

test("listeners are told once, unless they have left before", () => {
  const cancellation = new Cancellation();
  const told: string[] = [];
  const removed = (): void => void told.push("removed");
  cancellation.addEventListener("abort", () => told.push("first"));
  cancellation.addEventListener("abort", removed);
  cancellation.addEventListener("abort", () => told.push("second"));
  cancellation.removeEventListener("abort", removed);
  expect(cancellation.aborted).toBe(false);
  cancellation.abort();
  cancellation.abort();
  expect(cancellation.aborted).toBe(true);
  expect(told).toEqual(["first", "second"]);
  cancellation.addEventListener("abort", () => told.push("late"));
  cancellation.abort();
  expect(told).toEqual(["first", "second"]);
});

test("a pause ends with its time, or when nobody waits any more", async () => {
  vi.useFakeTimers();
  const ended: string[] = [];
  const [whole, cut] = [new Cancellation(), new Cancellation()];
  const both = [
    pause(100, whole).then(() => ended.push("whole")),
    pause(100, cut).then(() => ended.push("cut")),
    pause(100, AbortSignal.abort()).then(() => ended.push("never begun")),
  ];
  cut.abort();
  expect(vi.getTimerCount()).toBe(1);
  await vi.advanceTimersByTimeAsync(50);
  expect(ended.sort()).toEqual(["cut", "never begun"]);
  await vi.advanceTimersByTimeAsync(50);
  await Promise.all(both);
});
