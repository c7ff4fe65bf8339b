// The keeper of sessions: it holds a bounded number of turns, and deletes what is over as fast as it comes.

import { beforeEach, expect, it, vi } from "vitest";
import type { Log } from "../../../../src/core/log.ts";
import type { SessionTurn } from "../../../../src/core/session.ts";
import { createSessionKeeper } from "../../../../src/gateway/sessions/keeper.ts";

beforeEach(() => void vi.useFakeTimers());

const store = { write: async () => undefined, since: async () => [], deleteBefore: async () => 0 };
const log = { debug: vi.fn(), warn: vi.fn() } as unknown as Log;
const options = { learn: () => undefined, idleMs: () => 60_000, isShared: false, hasDuties: true, now: Date.now, log };

it("deletes in every round while there is more, then once a minute", async () => {
  const left = [5_000, 5_000, 7];
  const deleteBefore = vi.fn(async () => left.shift() ?? 0);
  const keeper = createSessionKeeper({ ...options, store: { ...store, deleteBefore } });
  await keeper.start();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(deleteBefore).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(deleteBefore).toHaveBeenCalledTimes(3);
  await vi.advanceTimersByTimeAsync(50_000);
  expect(deleteBefore).toHaveBeenCalledTimes(4);
  await keeper.stop();
});

it("lets go of turns while the store takes no more", async () => {
  const write = vi.fn(async (_turns: readonly SessionTurn[]) => undefined);
  const keeper = createSessionKeeper({ ...options, store: { ...store, write } });
  for (let at = 0; at < 20_001; at++) keeper.keep({ session: `s${at}` } as SessionTurn);
  await keeper.flush();
  expect(write.mock.calls[0]?.[0]).toHaveLength(20_000);
});
