// How many are at work: few when they are in each other's way, many when the store is slow by itself.

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createDoor, type Door } from "../../../../src/http/overload/starts.ts";

const TICK_MS = 50;

let atMs: number;
let door: Door;
let turns: number;
let immediates: (() => void)[];
beforeEach(() => {
  atMs = 1_000;
  turns = 0;
  immediates = [];
  vi.stubGlobal("setImmediate", (callback: () => void) => immediates.push(callback));
  door = createDoor(
    () => {
      turns += 1;
    },
    () => atMs,
  );
});
afterEach(() => vi.unstubAllGlobals());

function turn(): void {
  for (const callback of immediates.splice(0)) callback();
}

/** As many as the door lets in, turn by turn. */
function fill(): (() => void)[] {
  const leaves: (() => void)[] = [];
  while (door.isOpen()) {
    door.enter();
    leaves.push(door.work());
    turn();
  }
  return leaves;
}

/** Ticks in each of which as many come as the door lets in, or these few, and all are done after `tookMs`. */
function pass(ticks: number, { tookMs, few = null, isFlood = false }: Round): number {
  let most = 0;
  for (let done = 0; done < ticks; done += 1) {
    const leaves = few === null ? fill() : Array.from({ length: few }, () => door.work());
    most = leaves.length;
    atMs += tookMs;
    for (const leave of leaves) leave();
    turn();
    door.tick(isFlood);
  }
  return most;
}

interface Round {
  readonly tookMs: number;
  readonly few?: number | null;
  readonly isFlood?: boolean;
}

test("a few begin in a turn, and the next in the turn after", () => {
  for (let begun = 0; begun < 32; begun += 1) door.enter();
  expect(door.isOpen()).toBe(false);
  turn();
  expect([door.isOpen(), turns]).toEqual([true, 1]);
});

test("64 are at work at most, 24 with a flood outside, when the store is quick by itself", () => {
  pass(50, { tookMs: 3, few: 2 });
  expect(pass(50, { tookMs: TICK_MS })).toBe(64);
  expect(pass(50, { tookMs: TICK_MS, isFlood: true })).toBe(24);
  expect(pass(50, { tookMs: TICK_MS })).toBe(64);
});

test("a store that takes its time has more at work, and answers more in the same time", () => {
  pass(50, { tookMs: 100, few: 2 });
  expect(pass(50, { tookMs: 100, isFlood: true })).toBe(1_024);
});

test("who leaves the last place opens the door in the next turn", () => {
  const leaves = fill();
  turn();
  turns = 0;
  leaves[0]?.();
  leaves[0]?.();
  turn();
  expect([turns, door.isOpen()]).toEqual([1, true]);
  door.enter();
  door.work();
  turn();
  expect(door.isOpen()).toBe(false);
});
