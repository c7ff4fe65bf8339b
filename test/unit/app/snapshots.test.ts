// Snapshots: what a new one takes over from the one before, and when connections that it does not use are closed.

import { afterEach, expect, test, vi } from "vitest";
import { createSnapshots, type Snapshots } from "../../../src/app/snapshots.ts";
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
const opened: Snapshots[] = [];

const logging = { logLevel: "silent", logContent: false, retentionDays: 30 } as const;

afterEach(async () => {
  for (const snapshots of opened.splice(0)) await snapshots.close();
});

function catalogOf(...providers: readonly { id: string; apiKey?: string }[]) {
  const models = providers.map(({ id }) => makeModel({ id: `${id}-model`, provider: id }));
  return makeCatalog({ chains: { SIMPLE: models }, providers: providers.map((row) => makeProvider(row)) });
}

function make() {
  const openCalls = createOpenCalls();
  const health = { watch: vi.fn() };
  const snapshots = createSnapshots(
    { catalog: catalogOf({ id: "one" }, { id: "two" }), routing, logging },
    {
      formats: createFormats(),
      onStale: () => undefined,
      openHealth: () => health as unknown as Health,
      openCalls,
      services: {} as Omit<Services, "catalog" | "registry" | "routing" | "logging" | "health">,
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
  snapshots.publish({ catalog: catalogOf({ id: "one" }), routing, logging });
  await new Promise(setImmediate);
  expect(removed).not.toHaveBeenCalled();
  done();
  await vi.waitFor(() => expect(removed).toHaveBeenCalledTimes(1), 120_000);
  expect(kept).not.toHaveBeenCalled();
});
