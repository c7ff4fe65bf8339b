import { beforeEach, expect, test, vi } from "vitest";
import { createDirectory } from "../../../src/accounts/directory.ts";
import { createMemoryStores } from "../../support/stores/memory-stores.ts";

beforeEach(() => {
  vi.useFakeTimers();
});

test("polling reads one number, and everything else only when it has moved", async () => {
  const stores = createMemoryStores();
  const all = vi.spyOn(stores.keys, "all");
  const directory = createDirectory(stores);
  await directory.start();
  expect(all).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(all).toHaveBeenCalledTimes(1);
  expect(stores.state.revisionReads).toBe(6);
  stores.state.revision += 1;
  await vi.advanceTimersByTimeAsync(2_000);
  expect(all).toHaveBeenCalledTimes(2);
  directory.stop();
  const reads = stores.state.revisionReads;
  await vi.advanceTimersByTimeAsync(10_000);
  expect(stores.state.revisionReads).toBe(reads);
});

test("an outage is logged once, and polling goes on", async () => {
  const stores = createMemoryStores();
  const directory = createDirectory(stores);
  await directory.start();
  stores.state.isDown = true;
  await vi.advanceTimersByTimeAsync(20_000);
  expect(stores.warnings).toHaveLength(1);
  stores.state.isDown = false;
  const reads = stores.state.revisionReads;
  await vi.advanceTimersByTimeAsync(4_000);
  expect(stores.state.revisionReads).toBe(reads + 2);
  directory.stop();
});

test("starting without a database fails, and can be retried", async () => {
  const stores = createMemoryStores();
  const directory = createDirectory(stores);
  stores.state.isDown = true;
  await expect(directory.start()).rejects.toMatchObject({ kind: "unavailable" });
  stores.state.isDown = false;
  const again = directory.start();
  await vi.advanceTimersByTimeAsync(100);
  await expect(again).resolves.toBeUndefined();
  directory.stop();
});

test("a call during a read gets a read that began afterwards", async () => {
  const stores = createMemoryStores();
  const directory = createDirectory(stores);
  const begun: number[] = [];
  const revision = stores.keys.revision;
  stores.keys.revision = () => {
    begun.push(stores.state.revision);
    return revision();
  };
  const first = directory.catchUp();
  await Promise.resolve();
  await Promise.resolve();
  expect(begun).toEqual([0]);
  stores.state.revision = 1;
  const waiting = [directory.catchUp(), directory.catchUp(), directory.catchUp()];
  await vi.advanceTimersByTimeAsync(100);
  await Promise.all([first, ...waiting]);
  expect(begun).toEqual([0, 1]);
});
