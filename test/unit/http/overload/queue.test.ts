// Which requests start, wait and are rejected.

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createQueue, type RequestQueue } from "../../../../src/http/overload/queue.ts";

const QUEUE_MS = 500;
const PER_TURN = 8;
/** How many finish between two turns. */
const PER_STEP = 8;
const WORKING_MAX = 64;

let atMs: number;
let queue: RequestQueue;
let started: number[];
let waits: number[];
let rejected: number[];
let finishes: (() => void)[];
let count: number;
let immediates: (() => void)[];
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  vi.stubGlobal("setImmediate", (callback: () => void) => immediates.push(callback));
  immediates = [];
  atMs = 1_000;
  started = [];
  waits = [];
  rejected = [];
  finishes = [];
  count = 0;
  queue = createQueue(QUEUE_MS, () => atMs);
});
afterEach(() => {
  queue.close();
});

/** One more request; its number. */
function arrive(isDisconnected = () => false, client = "crowd"): number {
  const number = count++;
  const start = (waitedMs: number): void => {
    started.push(number);
    waits.push(waitedMs);
    finishes.push(queue.beginWork());
  };
  if (queue.tryStart()) start(0);
  else queue.add({ client, isDisconnected, start, reject: () => rejected.push(number) });
  return number;
}

function crowd(size: number): void {
  for (let index = 0; index < size; index += 1) arrive();
}

function turn(): void {
  for (const callback of immediates.splice(0)) callback();
}

function turns(many: number): void {
  for (let index = 0; index < many; index += 1) turn();
}

/** Ticks of 50 ms in each of which so many arrive and up to so many finish. */
function pass(ticks: number, { arrives = 0, done = 0 }: { arrives?: number; done?: number }): void {
  for (let tick = 0; tick < ticks; tick += 1) {
    crowd(arrives);
    for (let left = done; left > 0; left -= PER_STEP) {
      turn();
      for (const finish of finishes.splice(0, Math.min(left, PER_STEP))) finish();
    }
    turn();
    atMs += 50;
    vi.advanceTimersByTime(50);
  }
}

describe("the queue", () => {
  it("starts a few at once and the others in later turns, in their order", () => {
    crowd(60);
    expect(started).toHaveLength(PER_TURN);
    turns(60 / PER_TURN);
    expect(started).toEqual(Array.from({ length: 60 }, (_, index) => index));
    expect(queue.length()).toBe(0);
  });

  it("starts no new request before those that wait", () => {
    crowd(PER_TURN + 1);
    expect(queue.tryStart()).toBe(false);
    turn();
    expect(queue.tryStart()).toBe(true);
  });

  it("keeps a request waiting while many work, and starts it when one finishes", () => {
    for (let round = 0; round < WORKING_MAX / PER_TURN; round += 1) {
      crowd(PER_TURN);
      turn();
    }
    const next = arrive();
    turn();
    expect(started).not.toContain(next);
    const [first] = finishes;
    first?.();
    first?.();
    turn();
    expect(started).toContain(next);
    arrive();
    turn();
    expect(started).toHaveLength(WORKING_MAX + 1);
  });

  it("tells how long a request waited, and skips disconnected clients", () => {
    crowd(PER_TURN);
    arrive(() => true);
    const last = arrive();
    atMs += 30;
    turn();
    expect(started.at(-1)).toBe(last);
    expect(waits.at(-1)).toBe(30);
    expect(started).toHaveLength(PER_TURN + 1);
  });
});

describe("a burst", () => {
  it("drains, however long that takes, and nothing is rejected", () => {
    crowd(2_000);
    pass(50, { done: 40 });
    expect(started).toHaveLength(2_000);
    expect(rejected).toEqual([]);
  });

  it("larger than the queue is cut at once", () => {
    crowd(5_000);
    expect(rejected.length).toBe(5_000 - PER_TURN - 4_096);
    expect(rejected[0]).toBe(PER_TURN + 4_096);
  });
});

describe("a flood", () => {
  // 800 finish in a second; twice as many arrive.
  const flood = { arrives: 80, done: 40 };

  it("is cut down to requests that start soon", () => {
    pass(80, flood);
    expect(rejected.length).toBeGreaterThan(0);
    waits.length = 0;
    const before = { started: started.length, rejected: rejected.length };
    pass(100, flood);
    expect(Math.max(...waits)).toBeLessThanOrEqual(150);
    expect(queue.length()).toBeLessThanOrEqual(64);
    expect(started.length - before.started).toBe(100 * flood.done);
    expect(rejected.length - before.rejected).toBeGreaterThan(100 * 39);
  });

  it("has no effect some seconds after its end", () => {
    pass(80, flood);
    expect(rejected.length).toBeGreaterThan(0);
    pass(100, { arrives: 30, done: 40 });
    rejected.length = 0;
    crowd(500);
    pass(20, { done: 40 });
    expect(rejected).toEqual([]);
  });
});

describe("a thousand clients that send again as soon as they are served", () => {
  it("are never rejected, however slow the machine", () => {
    crowd(1_000);
    // Twelve seconds; as many finish in a tick as arrive in it.
    pass(240, { arrives: 8, done: 8 });
    expect(rejected).toEqual([]);
  });
});

describe("a database that has stopped responding", () => {
  it("keeps no request waiting for ever", () => {
    crowd(WORKING_MAX + 100);
    for (let tick = 0; tick < 20; tick += 1) turn();
    pass(599, {});
    expect(rejected).toEqual([]);
    pass(2, {});
    expect(rejected).toHaveLength(100);
  });
});

describe("a client with one request", () => {
  const modest = (): number => arrive(undefined, "modest");

  it("is taken into a full queue, and started soon", () => {
    crowd(5_000);
    const mine = modest();
    expect(rejected).not.toContain(mine);
    for (const finish of finishes.splice(0)) finish();
    turn();
    expect(started.indexOf(mine)).toBeGreaterThan(0);
    expect(started.indexOf(mine)).toBeLessThan(PER_TURN + 4);
  });

  it("has one such place at a time", () => {
    crowd(5_000);
    modest();
    const second = modest();
    expect(rejected.at(-1)).toBe(second);
  });

  it("keeps its place when the queue is cut", () => {
    crowd(PER_TURN + WORKING_MAX);
    const mine = modest();
    pass(60, { arrives: 200 });
    expect(rejected.length).toBeGreaterThan(1_000);
    expect(rejected).not.toContain(mine);
  });

  it("waits no longer than others when nothing finishes", () => {
    crowd(5_000);
    turns(WORKING_MAX / PER_TURN);
    crowd(100);
    const mine = modest();
    pass(610, {});
    expect(rejected).toContain(mine);
  });
});

it("works off 3,000 requests that arrive within 1.8 s", () => {
  pass(36, { arrives: 84, done: 30 });
  pass(100, { done: 30 });
  expect(rejected).toEqual([]);
  expect(started.length).toBe(36 * 84);
});

it("a thousand clients with a key each are all served, though others have fair places", () => {
  for (let client = 0; client < 1_000; client += 1) arrive(undefined, `client ${client}`);
  for (let tick = 0; tick < 200; tick += 1) {
    for (let again = 0; again < 20; again += 1) arrive(undefined, `again ${tick} ${again}`);
    pass(1, { done: 40 });
  }
  expect(rejected).toEqual([]);
  expect(Math.max(...waits)).toBeLessThan(5_000);
});
