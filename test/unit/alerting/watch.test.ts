// The rounds of the watch: one process looks at what is shared, and keeps doing so; failures end nothing.

import { expect, it, vi } from "vitest";
import { createWatch, type EventSource } from "../../../src/alerting/watch.ts";
import type { Observation } from "../../../src/core/alerts/kinds.ts";
import type { Log } from "../../../src/core/log.ts";
import { createAlertEventStore } from "../../../src/store/alerts/events.ts";
import { openDb } from "../../../src/store/db.ts";

const MINUTE_MS = 60_000;
const ALL = { accountId: null, kind: null };

async function openWorld() {
  const db = await openDb("sqlite::memory:");
  await db.migrate();
  const store = createAlertEventStore(db);
  const log = { info: vi.fn(), warn: vi.fn(), error: vi.fn(), debug: vi.fn() } satisfies Log;
  const world = {
    nowMs: Date.UTC(2026, 10, 19),
    store,
    log,
    watch: (ownSources: readonly EventSource[], sharedSources: readonly EventSource[]) =>
      createWatch({ store, ownSources, sharedSources, log, now: () => world.nowMs }),
    open: async () =>
      (await store.list(ALL, { limit: 50, after: null }))
        .filter(({ endedAtMs }) => endedAtMs === null)
        .map(({ kind }) => kind),
    later(ms: number) {
      world.nowMs += ms;
    },
    close: () => db.close(),
  };
  return world;
}

const LOW: Observation = {
  kind: "balance.low",
  accountId: "acme",
  subject: "acme",
  data: { account: "Acme", balanceUsd: "0.10", thresholdUsd: "1.00" },
};
const DOWN: Observation = {
  kind: "provider.down",
  accountId: null,
  subject: "openai",
  data: { provider: "openai", error: "no answer" },
};

it("one of two processes looks at what is shared, until it is silent for long", async () => {
  const world = await openWorld();
  const looks = [vi.fn(() => []), vi.fn(() => [])];
  const [first, second] = looks.map((look) => world.watch([], [{ look }]));
  for (let round = 0; round < 5; round += 1) {
    await first?.round();
    await second?.round();
    world.later(MINUTE_MS);
  }
  expect(looks.map((look) => look.mock.calls.length)).toEqual([5, 0]);
  world.later(2 * MINUTE_MS);
  await second?.round();
  await first?.round();
  world.later(MINUTE_MS);
  await first?.round();
  await second?.round();
  expect(looks.map((look) => look.mock.calls.length)).toEqual([5, 2]);
  await world.close();
});

it("raises once, logs it, and ends it when it is over", async () => {
  const world = await openWorld();
  let [own, shared]: [Observation[], Observation[]] = [[DOWN], [LOW]];
  const watch = world.watch([{ look: () => own }], [{ look: () => shared }]);
  for (let round = 0; round < 3; round += 1) {
    await watch.round();
    world.later(MINUTE_MS);
  }
  expect(await world.open()).toEqual(expect.arrayContaining(["balance.low", "provider.down"]));
  expect(world.log.warn.mock.calls.map(([fields]) => fields.kind)).toEqual(["provider.down", "balance.low"]);
  [own, shared] = [[], []];
  await watch.round();
  expect(await world.open()).toEqual(["provider.down"]);
  world.later(5 * MINUTE_MS);
  await watch.round();
  expect(await world.open()).toEqual([]);
  shared = [LOW];
  await watch.round();
  expect(await world.open()).toEqual(["balance.low"]);
  await world.close();
});

it("a source that fails ends nothing, and is asked again", async () => {
  const world = await openWorld();
  const look = vi.fn<() => readonly Observation[]>(() => [LOW]);
  const watch = world.watch([], [{ look }]);
  await watch.round();
  world.later(MINUTE_MS);
  look.mockImplementationOnce(() => {
    throw new Error("the database is away");
  });
  await watch.round();
  expect(await world.open()).toEqual(["balance.low"]);
  expect(world.log.warn).toHaveBeenLastCalledWith(
    expect.objectContaining({ event: "alert.watch_failed" }),
    expect.any(String),
  );
  world.later(MINUTE_MS);
  await watch.round();
  expect(await world.open()).toEqual(["balance.low"]);
  await world.close();
});

it("a slow source is asked when it is due", async () => {
  const world = await openWorld();
  const look = vi.fn(() => []);
  const watch = world.watch([], [{ everyMs: 15 * MINUTE_MS, look }]);
  for (let round = 0; round < 16; round += 1) {
    await watch.round();
    world.later(MINUTE_MS);
  }
  expect(look).toHaveBeenCalledTimes(2);
  await world.close();
});
