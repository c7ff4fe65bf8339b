// Snapshots: what a new one takes over from the one before, and when connections that it does not use are closed.

import { afterEach, expect, test, vi } from "vitest";
import { createSnapshots, type Snapshots, type SnapshotsContext } from "../../../src/app/snapshots.ts";
import { priceFromRow } from "../../../src/catalog/prices/rows.ts";
import { Cancellation } from "../../../src/core/cancellation.ts";
import { createFormats } from "../../../src/formats/registry.ts";
import { createOpenCalls } from "../../../src/gateway/open-calls.ts";
import type { Services } from "../../../src/gateway/services.ts";
import type { Health } from "../../../src/providers/health.ts";
import { makeCatalog, makeModel, makeProvider } from "../../support/catalog.ts";

const routing = {
  answerWithinMs: 10_000,
  isRoutingDebugged: false,
  sessionMinutes: 0,
  marksCaches: false,
  sendsCacheKeys: false,
};
const limits = { endUserHeaders: [] };
const opened: Snapshots[] = [];

const logging = { logLevel: "silent", logContent: false, retentionDays: 30, auditRetentionDays: 365 } as const;

afterEach(async () => {
  for (const snapshots of opened.splice(0)) await snapshots.close();
});

function catalogOf(...providers: readonly { id: string; apiKey?: string }[]) {
  const models = providers.map(({ id }) => makeModel({ id: `${id}-model`, provider: id }));
  return makeCatalog({ chains: { SIMPLE: models }, providers: providers.map((row) => makeProvider(row)) });
}

function make(
  catalog = catalogOf({ id: "one" }, { id: "two" }),
  now: () => number = Date.now,
  onRetirement?: SnapshotsContext["onRetirement"],
) {
  const openCalls = createOpenCalls();
  const health = { watch: vi.fn() };
  const snapshots = createSnapshots(
    { catalog, routing, logging, limits },
    {
      formats: createFormats(),
      onStale: () => undefined,
      onRetirement,
      openHealth: () => health as unknown as Health,
      openCalls,
      services: { now } as Omit<Services, "catalog" | "registry" | "routing" | "logging" | "endUserHeaders" | "health">,
    },
  );
  opened.push(snapshots);
  return { openCalls, health, snapshots };
}

test("a request keeps its snapshot, and providers that did not change keep their connection and health", () => {
  const { snapshots, health } = make();
  const before = snapshots.current();
  snapshots.publish({
    catalog: catalogOf({ id: "one" }, { id: "two", apiKey: "other" }, { id: "three" }),
    routing,
    logging,
    limits,
  });
  const after = snapshots.current();
  expect(before.registry.connection("two").provider.apiKey).toBe("secret");
  expect(after.registry.connection("two").provider.apiKey).toBe("other");
  expect(after.registry.connection("one")).toBe(before.registry.connection("one"));
  expect(after.health).toBe(before.health);
  expect(health.watch.mock.lastCall?.[1]).toEqual(new Set(["two", "three"]));
});

test("connections are closed when the last request that may use them has ended, not before", async () => {
  const { snapshots, openCalls } = make();
  const done = openCalls.begin(new Cancellation());
  const { registry } = snapshots.current();
  const kept = vi.spyOn(registry.connection("one").transport, "retire");
  const removed = vi.spyOn(registry.connection("two").transport, "retire");
  snapshots.publish({ catalog: catalogOf({ id: "one" }), routing, logging, limits });
  await new Promise(setImmediate);
  expect(removed).not.toHaveBeenCalled();
  done();
  await vi.waitFor(() => expect(removed).toHaveBeenCalledTimes(1), 120_000);
  expect(kept).not.toHaveBeenCalled();
});

test("a price changes by itself on its day, and a request that runs keeps the one it began with", () => {
  const day = Date.UTC(2026, 11, 1);
  let nowMs = day - 1;
  const { price, schedule } = priceFromRow({
    ...{ input: 2, output: 10 },
    changes: [{ from: "2026-12-01", input: 4, output: 20 }],
  })!;
  const model = makeModel({ id: "argon", provider: "one", price, schedule: schedule! });
  const catalog = makeCatalog({ chains: { SIMPLE: [model] }, providers: [makeProvider({ id: "one" })] });
  const { snapshots } = make(catalog, () => nowMs);
  const inputPrices = ({ catalog: { models, chains, baseline } }: Services) =>
    [models.get("argon"), chains.SIMPLE[0], models.get(baseline.id)].map((each) => each?.price?.input);
  const before = snapshots.current();
  expect(inputPrices(before)[0]).toBe(2_000_000);
  expect(snapshots.current()).toBe(before);
  nowMs = day;
  const after = snapshots.current();
  expect(inputPrices(after).slice(0, 2)).toEqual([4_000_000, 4_000_000]);
  expect(after.registry).toBe(before.registry);
  expect(inputPrices(before).slice(0, 2)).toEqual([2_000_000, 2_000_000]);
  snapshots.publish({ catalog, routing, logging, limits });
  expect(inputPrices(snapshots.current())[0]).toBe(4_000_000);
});

test("a model of a chain is announced once before its last day and once after, also over a new version", () => {
  let nowMs = Date.parse("2030-01-01T00:00:00Z");
  const old = makeModel({ id: "old", provider: "one", retires: "2030-06-15" });
  const catalog = makeCatalog({ chains: { SIMPLE: [old] }, providers: [makeProvider({ id: "one" })] });
  const told: string[] = [];
  const { snapshots } = make(
    catalog,
    () => nowMs,
    ({ model, day, state }) => told.push(`${model} ${day} ${state}`),
  );
  const lookAt = (time: string): readonly string[] => {
    nowMs = Date.parse(time);
    snapshots.current();
    snapshots.publish({ catalog, routing, logging, limits });
    snapshots.current();
    return told.splice(0);
  };
  expect(lookAt("2030-05-15T23:59:59Z")).toEqual([]);
  expect(lookAt("2030-05-16T00:00:00Z")).toEqual(["old 2030-06-15 soon"]);
  expect(lookAt("2030-06-14T23:59:59Z")).toEqual([]);
  expect(lookAt("2030-06-15T00:00:00Z")).toEqual(["old 2030-06-15 retired"]);
});
