// Versions over a store that answers when the test wants: what a process says of its own versions and of others'.

import { expect, test, vi } from "vitest";
import type { Checked } from "../../../src/config/settings.ts";
import type { ConfigVersion } from "../../../src/core/overlay.ts";
import type { VersionEvent } from "../../../src/versions/events.ts";
import { createVersions } from "../../../src/versions/versions.ts";

const CHECKED = { ok: true, warnings: [] } as unknown as Checked;
const POLL_MS = 1_000;
const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** Inserts are stored at once; the caller of `insert` is told when the test lets it. */
function slowStore() {
  const stored: ConfigVersion[] = [];
  let confirm = (): void => undefined;
  return {
    stored,
    confirm: () => confirm(),
    store: {
      newest: async () => stored.at(-1)?.number ?? 0,
      find: async (number: number) => stored.find((version) => version.number === number) ?? null,
      list: async () => [],
      async insert(version: ConfigVersion) {
        const isNext = version.number === (stored.at(-1)?.number ?? 0) + 1;
        if (isNext) stored.push(version);
        await new Promise<void>((resolve) => {
          confirm = resolve;
        });
        return isNext;
      },
    },
  };
}

async function startVersions(store: ReturnType<typeof slowStore>["store"]) {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  const followed: VersionEvent[] = [];
  const versions = createVersions({
    store,
    configuration: { locks: [], check: () => CHECKED, provider: () => null },
    sealer: null,
    onServe: () => undefined,
    onEvent: (each) => void followed.push(each),
    log: silent,
    now: () => 5_000,
    pollMs: POLL_MS,
  });
  await versions.start();
  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const poll = async (): Promise<void> => {
    vi.advanceTimersByTime(POLL_MS);
    await settle();
  };
  return { versions, followed, poll, settle };
}

const change = { author: "ann", change: () => ({ tiers: { SIMPLE: ["alpha"] } }) };

test("a version that is polled before its publisher knows that it is stored was not published elsewhere", async () => {
  const slow = slowStore();
  const { versions, followed, poll, settle } = await startVersions(slow.store);
  const publishing = versions.publish(change);
  await settle();
  expect(slow.stored).toHaveLength(1);
  await poll();
  slow.confirm();
  await publishing;
  await poll();
  expect(followed).toEqual([]);
  expect(versions.serving().number).toBe(1);
  versions.stop();
});

test("a version of another process is followed, also one that came first", async () => {
  const slow = slowStore();
  const { versions, followed, poll, settle } = await startVersions(slow.store);
  const publishing = versions.publish(change);
  slow.stored.push({ number: 1, author: "bob", atMs: 4_000, note: "", document: { routing: { markup: 2 } } });
  await settle();
  slow.confirm();
  await settle();
  expect(followed).toEqual([{ kind: "followed", version: 1, delayMs: 1_000 }]);
  slow.confirm();
  expect((await publishing).version.number).toBe(2);
  slow.stored.push({ number: 3, author: "bob", atMs: 4_500, note: "", document: {} });
  await poll();
  expect(followed.slice(1)).toEqual([{ kind: "followed", version: 3, delayMs: 500 }]);
  versions.stop();
});
