// How many requests work at once: few when they slow each other down, many when the database is slow by itself.

import { beforeEach, expect, test, vi } from "vitest";
import { type ConcurrencyLimit, createConcurrencyLimit } from "../../../../src/http/overload/queue.ts";

const TICK_MS = 50;

let atMs: number;
let limit: ConcurrencyLimit;
let turns: number;
let immediates: (() => void)[];
beforeEach(() => {
  atMs = 1_000;
  turns = 0;
  immediates = [];
  vi.stubGlobal("setImmediate", (callback: () => void) => immediates.push(callback));
  limit = createConcurrencyLimit(
    () => {
      turns += 1;
    },
    () => atMs,
  );
});

function turn(): void {
  for (const callback of immediates.splice(0)) callback();
}

/** As many as there is room for, turn by turn. */
function fill(): (() => void)[] {
  const finishes: (() => void)[] = [];
  while (limit.hasRoom()) {
    limit.start();
    finishes.push(limit.beginWork());
    turn();
  }
  return finishes;
}

/** Ticks in each of which as many start as there is room for, or these few, and all finish after `tookMs`. */
function pass(ticks: number, { tookMs, few = null }: Round): number {
  let most = 0;
  for (let done = 0; done < ticks; done += 1) {
    const finishes = few === null ? fill() : Array.from({ length: few }, () => limit.beginWork());
    most = finishes.length;
    atMs += tookMs;
    for (const finish of finishes) finish();
    turn();
    limit.update();
  }
  return most;
}

interface Round {
  readonly tookMs: number;
  readonly few?: number | null;
}

test("a few start in a turn, and the next in the turn after", () => {
  for (let started = 0; started < 32; started += 1) limit.start();
  expect(limit.hasRoom()).toBe(false);
  turn();
  expect([limit.hasRoom(), turns]).toEqual([true, 1]);
});

test("64 work at most when the database is quick by itself", () => {
  pass(50, { tookMs: 3, few: 2 });
  expect(pass(50, { tookMs: TICK_MS })).toBe(64);
});

test("a slow database gets more work at once, and finishes more in the same time", () => {
  pass(50, { tookMs: 100, few: 2 });
  expect(pass(50, { tookMs: 100 })).toBe(1_024);
});

test("finishing when full makes room in the next turn", () => {
  const finishes = fill();
  turn();
  turns = 0;
  finishes[0]?.();
  finishes[0]?.();
  turn();
  expect([turns, limit.hasRoom()]).toEqual([1, true]);
  limit.start();
  limit.beginWork();
  turn();
  expect(limit.hasRoom()).toBe(false);
});
