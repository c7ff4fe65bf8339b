// One suite for every place where windows are shared: they count as the pure function does, by a clock of their own, and
// two that take at once never take more than the limit.

import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type CallWindows, msUntil, type RateRequest, totalOf } from "../../src/core/processes/call-window.ts";
import { openDb } from "../../src/store/db.ts";
import { createCallWindows } from "../../src/store/rate-windows/database.ts";
import { openRedisWindows } from "../../src/store/rate-windows/redis.ts";
import { startTestRedis } from "../support/stores/redis.ts";
import { describeStores } from "../support/stores/stores.ts";

const redis = await startTestRedis();
afterAll(() => redis?.stop());

let names = 0;
function request(fields: Partial<RateRequest> = {}): RateRequest {
  names += 1;
  return { id: `k${names}`, limit: 10, spanSeconds: 60, count: 1, unused: null, ...fields };
}

/** Two processes, as far as the store can be shared. */
type Pair = readonly [here: CallWindows, there: CallWindows];

function behaves(open: () => Promise<Pair>): void {
  let here: CallWindows;
  let there: CallWindows;

  beforeAll(async () => {
    [here, there] = await open();
  });
  afterAll(async () => {
    await here.close();
    if (there !== here) await there.close();
  });

  test("grants what fits, and says what is in the window", async () => {
    const first = request({ count: 7 });
    const [taken] = await here.take([first]);
    expect(taken).toMatchObject({ granted: 7 });
    expect(totalOf(taken!.counts)).toBe(7);
    expect(Math.abs(taken!.second - Date.now() / 1000)).toBeLessThan(60);
    const [more] = await there.take([{ ...first, count: 7 }]);
    expect(more).toMatchObject({ granted: 3 });
    expect((await here.take([first]))[0]).toMatchObject({ granted: 0 });
  });

  test("several names in one call are counted apart, in the order they were given", async () => {
    const requests = [
      request({ count: 3 }),
      request({ limit: 2, count: 3 }),
      request({ limit: 0, count: 3 }),
    ].reverse();
    expect((await here.take(requests)).map(({ granted }) => granted)).toEqual([0, 2, 3]);
    expect(await here.take([])).toEqual([]);
  });

  test("what was not used is given back", async () => {
    const all = request({ count: 10 });
    const [taken] = await here.take([all]);
    const unused = { second: taken!.second, count: 4 };
    expect((await there.take([{ ...all, count: 6, unused }]))[0]).toMatchObject({ granted: 4 });
    expect((await there.take([{ ...all, count: 6, unused: { second: 5, count: 4 } }]))[0]).toMatchObject({
      granted: 0,
    });
  });

  test("a count leaves the window when its time is over", async () => {
    const short = request({ spanSeconds: 1, count: 10 });
    expect((await here.take([short]))[0]).toMatchObject({ granted: 10 });
    await expect.poll(async () => (await here.take([short]))[0]?.granted, { timeout: 120_000, interval: 100 }).toBe(10);
  });

  test("says to the millisecond when it was asked, and so when a full window has room", async () => {
    const short = request({ spanSeconds: 1, count: 10 });
    const beforeMs = Date.now();
    const [first] = await here.take([short]);
    const atMs = first!.second * 1000 + first!.ms;
    // The stores of these tests have the clock of this machine, read and rounded in their own ways.
    expect(atMs).toBeGreaterThan(beforeMs - 20);
    expect(atMs).toBeLessThan(Date.now() + 20);
    await wait(msUntil(first!, 9, 1) + 5);
    expect((await there.take([short]))[0]).toMatchObject({ granted: 10 });
  });

  test("two that take at once never take more than the limit", async () => {
    const hot = request({ limit: 100, count: 3 });
    const cold = request({ limit: 1_000, count: 1 });
    const takes = Array.from({ length: 60 }, (_, index) =>
      index % 2 === 0 ? here.take([hot, cold]) : there.take([cold, hot].map((each) => ({ ...each }))),
    );
    const granted = (await Promise.all(takes)).map((taken, index) => taken[index % 2]!.granted);
    expect(granted.reduce((sum, count) => sum + count, 0)).toBe(100);
  });
}

await describeStores("shared windows", ({ url, isShared }) => {
  const openOne = async (): Promise<CallWindows> => {
    const db = await openDb(url, { busyTimeoutMs: 20_000 });
    await db.migrate();
    return createCallWindows(db);
  };
  behaves(async () => {
    const here = await openOne();
    return [here, isShared ? await openOne() : here];
  });
});

describe.skipIf(redis === null)("shared windows in Redis", () => {
  const openOne = () => openRedisWindows(redis!.url, { onError: () => undefined });
  behaves(async () => [await openOne(), await openOne()]);
});
