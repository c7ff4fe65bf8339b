import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Admission } from "../../../../src/accounts/limits/per-minute.ts";
import { createSharedCounter } from "../../../../src/accounts/limits/shared-counter.ts";
import { createSharedLimits, type SharedLimits } from "../../../../src/accounts/limits/shared-per-minute.ts";
import { createSharedSignInLimiter, type SignInAttempt } from "../../../../src/accounts/limits/sign-ins.ts";
import type { Log } from "../../../../src/core/log.ts";
import {
  type CallWindows,
  type RateRequest,
  type SecondCount,
  takeFrom,
} from "../../../../src/core/processes/call-window.ts";
import { fc } from "../../../support/property.ts";

/** A shared store in memory that can be slow, or fail. */
function createStore() {
  const counts = new Map<string, readonly SecondCount[]>();
  const store = {
    isAway: false,
    latencyMs: 2,
    takes: [] as RateRequest[],
    /** What it would grant now. */
    roomFor: (id: string, limit: number): number =>
      takeFrom(counts.get(id) ?? [], { id, limit, spanSeconds: 62, count: limit, unused: null }, Date.now()).granted,
    windows: {
      async take(requests) {
        store.takes.push(...requests);
        await new Promise((resolve) => setTimeout(resolve, store.latencyMs));
        if (store.isAway) throw new Error("away");
        return requests.map((request) => {
          const taken = takeFrom(counts.get(request.id) ?? [], request, Date.now());
          counts.set(request.id, taken.counts);
          return taken;
        });
      },
      close: () => Promise.resolve(),
    } satisfies CallWindows,
  };
  return store;
}

type Store = ReturnType<typeof createStore>;

const open: SharedLimits[] = [];
const told: string[] = [];
const log: Log = {
  debug: () => undefined,
  info: ({ event }) => void told.push(event),
  warn: ({ event }) => void told.push(event),
  error: () => undefined,
};

function openProcess({ windows }: Store, processes: number): SharedLimits {
  const counter = createSharedCounter({ windows, timeoutMs: 100, log });
  const limits = createSharedLimits({ counter, processes: () => processes, now: Date.now, clock: Date.now });
  limits.start();
  open.push(limits);
  return limits;
}

beforeEach(() => {
  vi.useFakeTimers({ now: 1_700_000_000_000 });
});
afterEach(() => {
  for (const limits of open.splice(0)) limits.stop();
  told.length = 0;
});

const admit = async (limits: SharedLimits, limit: number, id = "k"): Promise<Admission> =>
  limits.admit(id, limit, Date.now());

async function burst(processes: readonly SharedLimits[], count: number, limit: number): Promise<readonly Admission[]> {
  const admissions = Array.from({ length: count }, (_, index) => admit(processes[index % processes.length]!, limit));
  await vi.advanceTimersByTimeAsync(50);
  return Promise.all(admissions);
}

const allowed = (admissions: readonly Admission[]): number => admissions.filter((each) => each.allowed).length;

test("a burst over three processes: exactly the limit is admitted, and the rest told when to retry", async () => {
  const store = createStore();
  const processes = [openProcess(store, 3), openProcess(store, 3), openProcess(store, 3)];
  const admissions = await burst(processes, 1_000, 60);
  expect(allowed(admissions)).toBe(60);
  const refused = admissions.find((each) => !each.allowed);
  expect(refused).toMatchObject({ limit: 60, remaining: 0, resetSeconds: 60, retryAfterSeconds: 60 });
  await vi.advanceTimersByTimeAsync(60_000);
  expect(allowed(await burst(processes, 10, 60))).toBe(0);
  await vi.advanceTimersByTimeAsync(3_000);
  expect(allowed(await burst(processes, 1_000, 60))).toBe(60);
});

test("a key far over its limit costs the store one question a second", async () => {
  const store = createStore();
  const limits = openProcess(store, 1);
  await burst([limits], 10, 5);
  store.takes.length = 0;
  for (let count = 0; count < 1_000; count += 1) {
    expect((await admit(limits, 5)).allowed).toBe(false);
    if (count % 2 === 0) await vi.advanceTimersByTimeAsync(1);
  }
  expect(store.takes.length).toBeLessThanOrEqual(1);
});

test("a key is served again as soon as its window has room, also after a call that was refused just before", async () => {
  const limits = openProcess(createStore(), 1);
  await vi.advanceTimersByTimeAsync(250);
  expect(allowed(await burst([limits], 5, 5))).toBe(5);
  await vi.advanceTimersByTimeAsync(61_600);
  // 61.9 seconds after the second in which the calls were counted.
  expect(await Promise.all(await burst([limits], 1, 5))).toMatchObject([{ allowed: false, retryAfterSeconds: 1 }]);
  await vi.advanceTimersByTimeAsync(50);
  expect(allowed(await burst([limits], 5, 5))).toBe(5);
});

test("a limit of 0 costs the store one question a second as well", async () => {
  const store = createStore();
  const limits = openProcess(store, 1);
  for (let count = 0; count < 20; count += 1) expect(allowed(await burst([limits], 5, 0))).toBe(0);
  expect(store.takes.length).toBeLessThanOrEqual(2);
});

test("a busy key is admitted without asking each time, and unused permits go back", async () => {
  const store = createStore();
  const [here, there] = [openProcess(store, 2), openProcess(store, 2)];
  for (let count = 0; count < 500; count += 1) {
    const admission = admit(here, 2_000);
    await vi.advanceTimersByTimeAsync(10);
    expect((await admission).allowed).toBe(true);
  }
  expect(store.takes.length).toBeLessThan(40);
  await vi.advanceTimersByTimeAsync(2_500);
  // Every leased and unused permit is free again for the other process, but for the one that is kept.
  expect(store.roomFor("k", 2_000)).toBe(1_499);
  await vi.advanceTimersByTimeAsync(31_000);
  expect(allowed(await burst([there], 2_000, 2_000))).toBe(1_500);
});

describe("a lone call of a key with a large limit", () => {
  test("does not wait for the store, and counts from when it was made", async () => {
    const store = createStore();
    const limits = openProcess(store, 2);
    expect(allowed(await burst([limits], 1, 600))).toBe(1);
    for (let calls = 1; calls < 4; calls += 1) {
      await vi.advanceTimersByTimeAsync(29_000);
      store.takes.length = 0;
      expect(await limits.admit("k", 600, Date.now())).toMatchObject({ allowed: true });
      await vi.advanceTimersByTimeAsync(100);
      expect(store.takes).toMatchObject([{ unused: { count: 1 }, count: 2 }]);
      // Those of the last minute, and the one that is kept.
      expect(store.roomFor("k", 600)).toBe(600 - Math.min(calls + 1, 3) - 1);
    }
    await vi.advanceTimersByTimeAsync(61_900);
    expect(store.roomFor("k", 600)).toBe(600);
  });

  test("waits after a longer pause, and where the limit was changed", async () => {
    const limits = openProcess(createStore(), 1);
    for (const [pauseMs, limit] of [
      [0, 600],
      [31_500, 600],
      [5_000, 0],
    ] as const) {
      await vi.advanceTimersByTimeAsync(pauseMs);
      let isDecided = false;
      const admission = limits.admit("k", limit, Date.now());
      void admission.then(() => {
        isDecided = true;
      });
      await vi.advanceTimersByTimeAsync(0);
      expect(isDecided).toBe(false);
      await vi.advanceTimersByTimeAsync(50);
      expect((await admission).allowed).toBe(limit > 0);
    }
  });

  test("is told when the whole limit is free again, counted from itself", async () => {
    const limits = openProcess(createStore(), 2);
    await burst([limits], 1, 600);
    await vi.advanceTimersByTimeAsync(29_000);
    expect(await limits.admit("k", 600, Date.now())).toMatchObject({ allowed: true, resetSeconds: 60 });
  });

  test("keeps nothing of a window that turns out to be nearly full", async () => {
    const store = createStore();
    const [here, there] = [openProcess(store, 2), openProcess(store, 2)];
    expect(allowed(await burst([here], 598, 600))).toBe(598);
    await vi.advanceTimersByTimeAsync(3_000);
    expect(allowed(await burst([there], 1, 600))).toBe(1);
    await vi.advanceTimersByTimeAsync(3_000);
    expect(allowed(await burst([here], 1, 600))).toBe(1);
  });
});

test("calls that a stalled process admits long after they were counted are counted again", async () => {
  const store = createStore();
  const counter = createSharedCounter({ windows: store.windows, timeoutMs: 100, log });
  let stallMs = 0;
  // The answer came in time, and is read late.
  const take: typeof counter.take = async (id, request) => {
    const taken = await counter.take(id, request);
    await new Promise((resolve) => setTimeout(resolve, stallMs));
    return taken;
  };
  const options = { processes: () => 2, now: Date.now, clock: Date.now };
  const limits = createSharedLimits({ ...options, counter: { ...counter, take } });
  open.push(limits);
  const first = admit(limits, 600);
  stallMs = 20_000;
  await vi.advanceTimersByTimeAsync(20_100);
  stallMs = 0;
  expect((await first).allowed).toBe(true);
  await vi.advanceTimersByTimeAsync(43_000);
  // More than 62 seconds after it was counted first, and less than 60 after it was made.
  expect(store.roomFor("k", 600)).toBeLessThan(600);
});

test("a limit that was changed counts from the next call", async () => {
  const limits = openProcess(createStore(), 1);
  expect(allowed(await burst([limits], 5, 3))).toBe(3);
  expect(allowed(await burst([limits], 5, 4))).toBe(1);
  expect(allowed(await burst([limits], 5, 0))).toBe(0);
});

describe("without the store", () => {
  test("each process enforces its part, no call waits, and it is logged once", async () => {
    const store = createStore();
    const processes = [openProcess(store, 2), openProcess(store, 2)];
    store.isAway = true;
    expect(allowed(await burst(processes, 200, 60))).toBe(60);
    const atOnce = await processes[0]!.admit("other", 60, Date.now());
    expect(atOnce).toMatchObject({ allowed: true, limit: 60, remaining: 29 });
    await vi.advanceTimersByTimeAsync(30_000);
    expect(told).toHaveLength(2);
  });

  test("a store that hangs delays only the first calls, and no longer than the timeout", async () => {
    const store = createStore();
    const limits = openProcess(store, 1);
    store.latencyMs = 3_600_000;
    const first = admit(limits, 60);
    await vi.advanceTimersByTimeAsync(150);
    expect(await first).toMatchObject({ allowed: true });
    expect(await limits.admit("k", 60, Date.now())).toMatchObject({ allowed: true });
  });

  test("calls admitted before count, so that both together stay below twice the limit", async () => {
    const store = createStore();
    const processes = [openProcess(store, 2), openProcess(store, 2)];
    expect(allowed(await burst([processes[0]!], 100, 60))).toBe(60);
    store.isAway = true;
    await vi.advanceTimersByTimeAsync(1_000);
    expect(allowed(await burst([processes[0]!], 100, 60))).toBe(0);
    expect(allowed(await burst([processes[1]!], 100, 60))).toBe(30);
  });

  test("limits are shared again when the store is back", async () => {
    const store = createStore();
    const processes = [openProcess(store, 2), openProcess(store, 2)];
    store.isAway = true;
    await burst(processes, 10, 60);
    store.isAway = false;
    await vi.advanceTimersByTimeAsync(6_000);
    expect(told.filter((event) => event === "rate_limits.sharing_recovered")).toHaveLength(2);
    expect(allowed(await burst([processes[0]!], 100, 60))).toBe(60);
    expect(allowed(await burst([processes[1]!], 100, 60))).toBe(0);
  });
});

test("no 60 seconds have more calls than the limit, and none is refused while there is room, whenever and wherever", async () => {
  const call = fc.record({ afterMs: fc.nat(3_000), process: fc.nat(2), count: fc.integer({ min: 1, max: 12 }) });
  const history = fc.record({
    limit: fc.integer({ min: 1, max: 40 }),
    calls: fc.array(call, { maxLength: 120, size: "max" }),
  });
  await fc.assert(
    fc.asyncProperty(history, async ({ limit, calls }) => {
      const store = createStore();
      const processes = [openProcess(store, 3), openProcess(store, 3), openProcess(store, 3)];
      const letInAtMs: number[] = [];
      const roomWhenRefused: number[] = [];
      for (const { afterMs, process, count } of calls) {
        await vi.advanceTimersByTimeAsync(afterMs);
        for (let index = 0; index < count; index += 1) {
          void admit(processes[process]!, limit).then((each) => {
            if (each.allowed) letInAtMs.push(Date.now());
            else roomWhenRefused.push(store.roomFor("k", limit));
          });
        }
      }
      await vi.advanceTimersByTimeAsync(1_000);
      const most = Math.max(
        0,
        ...letInAtMs.map((from) => letInAtMs.filter((at) => at >= from && at < from + 60_000).length),
      );
      expect(most).toBeLessThanOrEqual(limit);
      expect(roomWhenRefused.filter((room) => room > 0)).toEqual([]);
      for (const limits of open.splice(0)) limits.stop();
    }),
    { numRuns: 40 },
  );
});

test("no 60 seconds have more calls than a limit that is leased from, with pauses and bursts", async () => {
  const call = fc.record({ afterMs: fc.nat(20_000), process: fc.nat(2), count: fc.integer({ min: 1, max: 60 }) });
  const history = fc.record({
    limit: fc.integer({ min: 120, max: 160 }),
    calls: fc.array(call, { maxLength: 60, size: "max" }),
  });
  await fc.assert(
    fc.asyncProperty(history, async ({ limit, calls }) => {
      const store = createStore();
      const processes = [openProcess(store, 3), openProcess(store, 3), openProcess(store, 3)];
      const letInAtMs: number[] = [];
      for (const { afterMs, process, count } of calls) {
        await vi.advanceTimersByTimeAsync(afterMs);
        for (let index = 0; index < count; index += 1) {
          // When it was let in, not when that was heard of.
          const admission = processes[process]!.admit("k", limit, Date.now());
          void admission.then((each) => each.allowed && letInAtMs.push(Date.now()));
        }
      }
      await vi.advanceTimersByTimeAsync(1_000);
      const most = Math.max(
        0,
        ...letInAtMs.map((from) => letInAtMs.filter((at) => at >= from && at < from + 60_000).length),
      );
      expect(most).toBeLessThanOrEqual(limit);
      for (const limits of open.splice(0)) limits.stop();
    }),
    { numRuns: 40 },
  );
});

describe("failed sign-ins", () => {
  const limits = [
    { name: "email ada", most: 10 },
    { name: "address 10.0.0.1", most: 50 },
  ];

  function openPair(store: Store) {
    return [0, 1].map(() =>
      createSharedSignInLimiter(createSharedCounter({ windows: store.windows, timeoutMs: 100, log }), Date.now),
    );
  }

  async function tryAll(store: Store, count: number): Promise<readonly SignInAttempt[]> {
    const processes = openPair(store);
    const begun = Array.from({ length: count }, (_, index) => processes[index % 2]!.begin(limits));
    await vi.advanceTimersByTimeAsync(500);
    return Promise.all(begun);
  }

  const may = (begun: readonly SignInAttempt[]): number => begun.filter(({ waitSeconds }) => waitSeconds === 0).length;

  test("are counted over all processes, and a success takes its own back", async () => {
    const store = createStore();
    const begun = await tryAll(store, 16);
    expect(may(begun)).toBe(10);
    expect(Math.max(...begun.map(({ waitSeconds }) => waitSeconds))).toBe(300);
    begun.find(({ waitSeconds }) => waitSeconds === 0)!.succeeded();
    await vi.advanceTimersByTimeAsync(100);
    expect(may(await tryAll(store, 6))).toBe(1);
    expect(store.takes.every(({ id }) => !id.includes("ada"))).toBe(true);
  });

  test("are counted by each process alone when nothing can be shared", async () => {
    const store = createStore();
    store.isAway = true;
    expect(may(await tryAll(store, 40))).toBe(20);
  });
});
