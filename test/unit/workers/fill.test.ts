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
  const report = (name: string, load: number, connections: number) => fill.report(name, { load, connections });
  return {
    fill,
    take,
    pass(ms: number): void {
      nowMs += ms;
    },
    report,
    /** Reports the same until the reports before it count no more. Returns what the last one lets go of. */
    settle(name: string, load: number, connections: number): number {
      let leaving = 0;
      for (let index = 0; index < 20; index += 1) {
        nowMs += 1_000;
        leaving = report(name, load, connections);
      }
      return leaving;
    },
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
  const { take, settle } = openWith("a", "b", "c");
  expect(take(3)).toEqual({ a: 3 });
  settle("a", 0.2, 3);
  expect(take(2)).toEqual({ a: 2 });
  settle("a", 0.55, 5);
  expect(take(2)).toEqual({ b: 2 });
});

test("a burst goes to all workers, before any of them has reported", () => {
  const { take } = openWith("a", "b", "c");
  expect(take(90)).toEqual({ a: 30, b: 30, c: 30 });
});

test("a busy worker lets go of what others have room for, and then rests", () => {
  const { settle, report, pass } = openWith("a", "b");
  expect(settle("a", 0.6, 10)).toBe(0);
  expect(settle("a", 1, 10)).toBe(5);
  pass(200);
  expect(report("a", 1, 8)).toBe(0);
  settle("b", 0.2, 5);
  expect(settle("a", 0.8, 5)).toBe(2);
  settle("b", 0.4, 5);
  expect(settle("a", 0.8, 5)).toBe(0);
});

test("several busy workers share the room that one has", () => {
  const { settle } = openWith("a", "b", "c");
  settle("b", 1, 10);
  settle("c", 0.2, 5);
  expect(settle("a", 1, 10)).toBe(2);
});

test("one report says little: a large request moves no connection and starts no worker", () => {
  const { fill, settle, report } = openWith("a", "b");
  settle("a", 0.2, 10);
  expect(report("a", 1, 10)).toBe(0);
  expect(fill.wanted()).toBe(1);
});

test("a busy worker without others keeps its connections", () => {
  const { settle } = openWith("a");
  expect(settle("a", 1, 100)).toBe(0);
});

test("where all are busy, only one with many more connections than the others lets go of them", () => {
  const { settle, take } = openWith("a", "b");
  settle("b", 0.7, 10);
  expect(settle("a", 1, 15)).toBe(0);
  expect(settle("a", 1, 30)).toBe(10);
  settle("b", 1, 10);
  expect(take(4)).toEqual({ b: 4 });
});

test("when it becomes quiet, connections are gathered on as few workers as suffice", () => {
  const { settle } = openWith("a", "b", "c");
  settle("a", 0.3, 5);
  settle("b", 0.25, 5);
  expect(settle("c", 0.2, 5)).toBe(5);
  expect(settle("b", 0.25, 5)).toBe(0);
  settle("c", 0, 0);
  settle("a", 0.1, 5);
  expect(settle("b", 0.1, 5)).toBe(5);
  expect(settle("a", 0.1, 5)).toBe(0);
});

test("the load says how many workers are needed: four times as many where all are full", () => {
  const { fill, settle } = openWith("a", "b");
  expect(fill.wanted()).toBe(0);
  settle("a", 0.6, 5);
  expect(fill.wanted()).toBe(1);
  settle("b", 0.8, 5);
  expect(fill.wanted()).toBe(3);
  settle("a", 1, 5);
  settle("b", 0.95, 5);
  expect(fill.wanted()).toBe(8);
});

test("many connections on full workers need many at once", () => {
  const { fill, settle } = openWith("a");
  settle("a", 1, 512);
  expect(fill.wanted()).toBe(32);
});

test("a worker is spare that has had no connection for long, while the others suffice", () => {
  const { fill, settle, report, pass, take } = openWith("a", "b");
  report("a", 0.3, 5);
  pass(1_000);
  expect([fill.isSpare("a", 1_000), fill.isSpare("b", 1_000), fill.isSpare("b", 1_001)]).toEqual([false, true, false]);
  settle("a", 0.6, 5);
  take(1);
  pass(2_000);
  expect(fill.isSpare("b", 1_000)).toBe(false);
  report("b", 0, 0);
  pass(1_000);
  expect(fill.isSpare("b", 1_000)).toBe(true);
  settle("a", 1, 5);
  expect(fill.isSpare("b", 1_000)).toBe(false);
});

test("a worker that ended gets nothing, and its reports change nothing", () => {
  const { fill, take, report } = openWith("a", "b");
  fill.noteEnded("a");
  expect(take(1)).toEqual({ b: 1 });
  expect(report("a", 1, 10)).toBe(0);
});

interface Crowd {
  readonly connections: number;
  /** The work of all connections, in workers. */
  readonly work: number;
  /** All that there may be. They all serve at the start, or are started as the load needs them. */
  readonly workers: number;
  readonly isStarting?: boolean;
}

/** Steps of 100 ms. Loads are read with noise. Clients that are let go of connect again. A start takes a second. */
function run({ connections, work, workers, isStarting = false }: Crowd, steps: number) {
  let nowMs = 0;
  let seed = 1;
  const noise = (): number => {
    seed = (seed * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return 0.6 * (seed / 2 ** 32) - 0.3;
  };
  const fill = new Fill<number>(() => nowMs);
  const held = new Map<number, number>();
  const join = (): void => {
    fill.noteJoined(held.size);
    held.set(held.size, 0);
  };
  const connect = (count: number): void => {
    for (let index = 0; index < count; index += 1)
      fill.wait(0, (target) => held.set(target, (held.get(target) ?? 0) + 1));
  };
  for (let index = 0; index < (isStarting ? 1 : workers); index += 1) join();
  fill.begin();
  connect(connections);
  const starting: number[] = [];
  let moved = 0;
  for (let step = 0; step < steps; step += 1) {
    nowMs += 100;
    for (; (starting[0] ?? step + 1) <= step; starting.shift()) join();
    for (const worker of held.keys()) {
      const has = held.get(worker) ?? 0;
      const load = Math.min(1, Math.max(0, (has * work) / connections + noise()));
      const leaving = Math.min(has, fill.report(worker, { load, connections: has }));
      held.set(worker, has - leaving);
      connect(leaving);
      // The first second settles what the start gave out.
      if (step >= 10) moved += leaving;
      const wanted = isStarting ? Math.min(workers, fill.wanted()) : 0;
      while (held.size + starting.length < wanted) starting.push(step + 10);
    }
  }
  return { held: [...held.values()], movedPerSecond: moved / (steps / 10 - 1) };
}

// Before loads were weighed and room was shared, this moved 530 to 630 a second, and each is a new connection.
test.each([0.6, 0.7, 0.8])("sixteen workers that are %s busy keep nearly all connections", (each) => {
  const { held, movedPerSecond } = run({ connections: 512, work: 16 * each, workers: 16 }, 100);
  expect(movedPerSecond).toBeLessThan(64);
  expect(Math.max(...held)).toBeLessThan(1.5 * 32);
});

test("a crowd gets all cores within two seconds, and each worker its share", () => {
  const { held } = run({ connections: 512, work: 20, workers: 16, isStarting: true }, 20);
  expect(held).toHaveLength(16);
  expect(Math.min(...held)).toBeGreaterThan(16);
});

test("a quiet gateway stays on one worker", () => {
  const { held } = run({ connections: 8, work: 0.1, workers: 16, isStarting: true }, 100);
  expect(held.length).toBeLessThanOrEqual(2);
  expect(held[0]).toBe(8);
});
