// Who begins when, who waits, and who is sent away.

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createLine, type Line } from "../../../../src/http/overload/queue.ts";

const QUEUE_MS = 500;
const PER_TURN = 32;
const PER_FLOOD_TURN = 8;
const AT_WORK_MAX = 64;

let atMs: number;
let line: Line;
let begun: number[];
let waits: number[];
let refused: number[];
let leaves: (() => void)[];
let count: number;
let immediates: (() => void)[];
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  vi.stubGlobal("setImmediate", (callback: () => void) => immediates.push(callback));
  immediates = [];
  atMs = 1_000;
  begun = [];
  waits = [];
  refused = [];
  leaves = [];
  count = 0;
  line = createLine(QUEUE_MS, () => atMs);
});
afterEach(() => {
  line.close();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

/** One more request; its number. */
function come(isGone = () => false): number {
  const number = count++;
  const begin = (waitedMs: number): void => {
    begun.push(number);
    waits.push(waitedMs);
    leaves.push(line.work());
  };
  if (line.passes()) begin(0);
  else line.wait({ isGone, begin, refuse: () => refused.push(number) });
  return number;
}

function crowd(size: number): void {
  for (let index = 0; index < size; index += 1) come();
}

function turn(): void {
  for (const callback of immediates.splice(0)) callback();
}

/** Ticks of 50 ms in each of which so many come and, if at work, so many are done. */
function pass(ticks: number, { comes = 0, done = 0 }: { comes?: number; done?: number }): void {
  for (let tick = 0; tick < ticks; tick += 1) {
    crowd(comes);
    for (let left = done; left > 0; left -= PER_FLOOD_TURN) {
      turn();
      for (const leave of leaves.splice(0, Math.min(left, PER_FLOOD_TURN))) leave();
    }
    turn();
    atMs += 50;
    vi.advanceTimersByTime(50);
  }
}

describe("a line", () => {
  it("lets a few begin at once and the others in later turns, in their order", () => {
    crowd(60);
    expect(begun).toHaveLength(PER_TURN);
    turn();
    expect(begun).toEqual(Array.from({ length: 60 }, (_, index) => index));
    expect(line.length()).toBe(0);
  });

  it("lets nobody overtake who waits", () => {
    crowd(PER_TURN + 1);
    expect(line.passes()).toBe(false);
    turn();
    expect(line.passes()).toBe(true);
  });

  it("keeps the next one waiting while many are at work, and calls it when one is done", () => {
    for (let round = 0; round < AT_WORK_MAX / PER_TURN; round += 1) {
      crowd(PER_TURN);
      turn();
    }
    const next = come();
    turn();
    expect(begun).not.toContain(next);
    const [first] = leaves;
    first?.();
    first?.();
    turn();
    expect(begun).toContain(next);
    come();
    turn();
    expect(begun).toHaveLength(AT_WORK_MAX + 1);
  });

  it("says how long one has waited, and passes over who has gone", () => {
    crowd(PER_TURN);
    come(() => true);
    const last = come();
    atMs += 30;
    turn();
    expect(begun.at(-1)).toBe(last);
    expect(waits.at(-1)).toBe(30);
    expect(begun).toHaveLength(PER_TURN + 1);
  });
});

describe("a burst", () => {
  it("is worked off, however long that takes, and nobody is sent away", () => {
    crowd(2_000);
    pass(50, { done: 40 });
    expect(begun).toHaveLength(2_000);
    expect(refused).toEqual([]);
  });

  it("of more than can be worked off is cut at once", () => {
    crowd(5_000);
    expect(refused.length).toBe(5_000 - PER_TURN - 2_048);
    expect(refused[0]).toBe(PER_TURN + 2_048);
  });
});

describe("a flood", () => {
  // 800 in a second are done; twice as many come.
  const flood = { comes: 80, done: 40 };

  it("is cut down to those that need not wait long", () => {
    pass(80, flood);
    expect(refused.length).toBeGreaterThan(0);
    waits.length = 0;
    const before = { begun: begun.length, refused: refused.length };
    pass(100, flood);
    expect(Math.max(...waits)).toBeLessThanOrEqual(150);
    expect(line.length()).toBeLessThanOrEqual(64);
    expect(begun.length - before.begun).toBe(100 * flood.done);
    expect(refused.length - before.refused).toBeGreaterThan(100 * 39);
  });

  it("that is over leaves nothing behind after some seconds", () => {
    pass(80, flood);
    expect(refused.length).toBeGreaterThan(0);
    pass(100, { comes: 30, done: 40 });
    refused.length = 0;
    crowd(500);
    pass(20, { done: 40 });
    expect(refused).toEqual([]);
  });
});

describe("a crowd that comes back as soon as it was served", () => {
  it("of a thousand is never sent away, however slow the machine", () => {
    crowd(1_000);
    // Twelve seconds; as many are done in a tick as come back in it.
    pass(240, { comes: 8, done: 8 });
    expect(refused).toEqual([]);
  });
});

describe("a store that has stopped answering", () => {
  it("keeps nobody waiting for ever", () => {
    crowd(AT_WORK_MAX + 100);
    for (let tick = 0; tick < 20; tick += 1) turn();
    pass(599, {});
    expect(refused).toEqual([]);
    pass(2, {});
    expect(refused).toHaveLength(100);
  });
});
