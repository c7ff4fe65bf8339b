// Connections of workers that are started as needed: few workers while it is quiet, all of them under load, and back.

import { expect, test } from "vitest";
import { Fill } from "../../../src/workers/fill.ts";

/** Workers by name that listen, and the clock of their reports. */
function openWith(...names: readonly string[]) {
  let nowMs = 0;
  const fill = new Fill<string>(() => nowMs);
  for (const name of names) fill.noteJoined(name);
  fill.begin();
  const take = (count: number): Record<string, number> => {
    const got: Record<string, number> = {};
    for (let index = 0; index < count; index += 1)
      fill.wait(names[0] as string, (target) => {
        got[target] = (got[target] ?? 0) + 1;
      });
    return got;
  };
  return {
    fill,
    take,
    pass(ms: number): void {
      nowMs += ms;
    },
    report: (name: string, load: number, connections: number) => fill.report(name, { load, connections }),
  };
}

test("connections wait until workers were started", () => {
  const fill = new Fill<string>();
  const got: string[] = [];
  fill.noteJoined("a");
  fill.wait("a", (target) => got.push(target));
  expect(got).toEqual([]);
  fill.begin();
  expect(got).toEqual(["a"]);
});

test("the first worker with room gets the next connection", () => {
  const { take, report } = openWith("a", "b", "c");
  expect(take(3)).toEqual({ a: 3 });
  report("a", 0.2, 3);
  expect(take(2)).toEqual({ a: 2 });
  report("a", 0.55, 5);
  expect(take(2)).toEqual({ b: 2 });
});

test("a burst goes to all workers, before any of them has reported", () => {
  const { take } = openWith("a", "b", "c");
  expect(take(90)).toEqual({ a: 30, b: 30, c: 30 });
});

test("a busy worker lets go of what another one has room for, and then rests", () => {
  const { report, pass } = openWith("a", "b");
  expect(report("a", 0.6, 10)).toBe(0);
  expect(report("a", 1, 10)).toBe(5);
  pass(100);
  expect(report("a", 1, 8)).toBe(0);
  pass(200);
  report("b", 0.4, 5);
  expect(report("a", 0.8, 5)).toBe(2);
});

test("a busy worker without others keeps its connections", () => {
  const { report } = openWith("a");
  expect(report("a", 1, 100)).toBe(0);
});

test("where all are busy, only one with more connections than the others lets go of them", () => {
  const { report, pass, take } = openWith("a", "b");
  report("b", 0.7, 10);
  expect(report("a", 1, 11)).toBe(0);
  expect(report("a", 1, 30)).toBe(10);
  pass(1_000);
  report("b", 1, 10);
  expect(take(4)).toEqual({ b: 4 });
});

test("when it becomes quiet, connections are gathered on as few workers as suffice", () => {
  const { report, pass } = openWith("a", "b", "c");
  report("a", 0.3, 5);
  report("b", 0.25, 5);
  expect(report("c", 0.2, 5)).toBe(5);
  pass(1_000);
  expect(report("b", 0.25, 5)).toBe(0);
  report("c", 0, 0);
  report("a", 0.1, 5);
  expect(report("b", 0.1, 5)).toBe(5);
  expect(report("a", 0.1, 5)).toBe(0);
});

test("the load says how many workers are needed: four times as many where all are full", () => {
  const { fill, report } = openWith("a", "b");
  expect(fill.wanted()).toBe(0);
  report("a", 0.6, 5);
  expect(fill.wanted()).toBe(1);
  report("b", 0.8, 5);
  expect(fill.wanted()).toBe(3);
  report("a", 1, 5);
  report("b", 0.95, 5);
  expect(fill.wanted()).toBe(8);
});

test("a worker is spare that has had no connection for long, while the others suffice", () => {
  const { fill, report, pass, take } = openWith("a", "b");
  report("a", 0.3, 5);
  pass(1_000);
  expect([fill.isSpare("a", 1_000), fill.isSpare("b", 1_000), fill.isSpare("b", 1_001)]).toEqual([false, true, false]);
  report("a", 0.6, 5);
  take(1);
  pass(2_000);
  expect(fill.isSpare("b", 1_000)).toBe(false);
  report("b", 0, 0);
  pass(1_000);
  expect(fill.isSpare("b", 1_000)).toBe(true);
  report("a", 1, 5);
  expect(fill.isSpare("b", 1_000)).toBe(false);
});

test("a worker that ended gets nothing, and its reports change nothing", () => {
  const { fill, take, report } = openWith("a", "b");
  fill.noteEnded("a");
  expect(take(1)).toEqual({ b: 1 });
  expect(report("a", 1, 10)).toBe(0);
});
