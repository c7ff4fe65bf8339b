// When a queue is too long: not because of a burst, but because it stays.

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createQueue, type Queue } from "../../../../src/http/v1/queue.ts";

const DELAY_MS = 500;

let atMs: number;
let queue: Queue;
let leaves: (() => void)[];
beforeEach(() => {
  vi.useFakeTimers();
  atMs = 1_000;
  leaves = [];
  queue = createQueue(DELAY_MS, () => atMs);
});
afterEach(() => {
  queue.close();
  vi.useRealTimers();
});

/** Tenths of a second in which so many requests come and so many leave; those the queue refuses stay out. */
function pass(tenths: number, { come = 0, leave = 0 }: { come?: number; leave?: number }): number {
  let refused = 0;
  for (let tenth = 0; tenth < tenths; tenth += 1) {
    for (let count = 0; count < come; count += 1) {
      if (queue.isFull()) refused += 1;
      else leaves.push(queue.enter());
    }
    for (const left of leaves.splice(0, leave)) left();
    atMs += 100;
    vi.advanceTimersByTime(100);
  }
  return refused;
}

describe("a queue", () => {
  it("takes a burst of any size and works it off", () => {
    expect(pass(1, { come: 5_000 })).toBe(0);
    expect(pass(100, { leave: 100 })).toBe(0);
    expect(pass(100, { come: 100, leave: 100 })).toBe(0);
  });

  it("never minds a few, however slowly they leave", () => {
    expect(pass(1, { come: 256 })).toBe(0);
    expect(pass(100, { come: 1, leave: 1 })).toBe(0);
  });

  it("that stays too long is held to what leaves in time, and let go when the rush is over", () => {
    // 1,000 leave in a second, so 500 may wait; 2,000 come.
    pass(20, { come: 200, leave: 100 });
    expect(pass(50, { come: 200, leave: 100 })).toBeGreaterThan(4_000);
    expect(leaves.length).toBeLessThanOrEqual(500);
    expect(leaves.length).toBeGreaterThan(300);
    pass(60, { leave: 100 });
    expect(pass(1, { come: 2_000 })).toBe(0);
  });

  it("is left once, however often one says so", () => {
    const leave = queue.enter();
    leave();
    leave();
    pass(1, { come: 256 });
    expect(queue.isFull()).toBe(false);
  });
});
