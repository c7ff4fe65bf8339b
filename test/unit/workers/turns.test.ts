// Workers get connections in turn: all of them from the start, and none many more than the others.

import { beforeEach, expect, test, vi } from "vitest";
import { Turns } from "../../../src/workers/turns.ts";

beforeEach(() => void vi.useFakeTimers());

/** Workers that listen, and how many connections each was given. */
function openWith(count: number) {
  const workers = Array.from({ length: count }, () => ({ handed: 0 }));
  const got = workers.map(() => 0);
  const turns = new Turns(() => workers);
  turns.begin();
  const hand = (index: number): void =>
    turns.wait(workers[index] as { handed: number }, () => {
      got[index] = (got[index] ?? 0) + 1;
    });
  return { turns, workers, got, hand };
}

test("a worker that is ahead waits until another one has got some", () => {
  const { got, hand } = openWith(2);
  for (let count = 0; count < 6; count += 1) hand(0);
  expect(got).toEqual([4, 0]);
  hand(1);
  expect(got).toEqual([5, 1]);
  for (let count = 0; count < 5; count += 1) hand(1);
  expect(got).toEqual([6, 6]);
});

test("it does not wait for a worker that takes nothing, which is owed nothing later", () => {
  const { got, hand } = openWith(2);
  for (let count = 0; count < 6; count += 1) hand(0);
  vi.advanceTimersByTime(25);
  expect(got).toEqual([6, 0]);
  for (let count = 0; count < 20; count += 1) hand(1);
  expect(got).toEqual([6, 6]);
  vi.advanceTimersByTime(25);
  expect(got).toEqual([6, 10]);
});

test("a worker that joins later gets as many as the others from then on", () => {
  const { turns, workers, got, hand } = openWith(1);
  for (let count = 0; count < 100; count += 1) hand(0);
  const late = { handed: 0 };
  workers.push(late);
  got.push(0);
  turns.noteJoined(late);
  for (let count = 0; count < 100; count += 1) hand(1);
  expect(got).toEqual([100, 4]);
});

test("a worker that ended is not waited for", () => {
  const { turns, workers, got, hand } = openWith(2);
  for (let count = 0; count < 6; count += 1) hand(0);
  const [, ended] = workers as [{ handed: number }, { handed: number }];
  workers.pop();
  turns.noteEnded(ended);
  expect(got).toEqual([6, 0]);
});
