// Upkeep of stored responses: an account is measured each time it has stored another part of what it may have.

import { expect, test } from "vitest";
import type { ResponseUpkeepStore } from "../../../src/core/responses/stored.ts";
import { createBackgroundRuns } from "../../../src/gateway/state/background.ts";
import { createStateUpkeep, type StateUpkeep } from "../../../src/gateway/state/upkeep.ts";

const BYTES = 1_600;

function createUpkeep(trim: ResponseUpkeepStore["trim"]): { readonly upkeep: StateUpkeep; readonly events: string[] } {
  const events: string[] = [];
  const note = ({ event }: { readonly event: string }): void => void events.push(event);
  const store: ResponseUpkeepStore = {
    trim,
    stopped: async () => [],
    failAbandoned: async () => 0,
    deleteBefore: async () => 0,
    oversized: async () => [],
  };
  const log = { debug: note, info: note, warn: note, error: note };
  return {
    upkeep: createStateUpkeep({ store, runs: createBackgroundRuns(), bytesPerAccount: () => BYTES, log }),
    events,
  };
}

test("an account is measured after every sixteenth part of its limit, and others are not", async () => {
  const trimmed: [string, number][] = [];
  const { upkeep, events } = createUpkeep(async (accountId, maxBytes) => {
    trimmed.push([accountId, maxBytes]);
    return trimmed.length;
  });
  upkeep.noteStored("ada", 60);
  upkeep.noteStored("eve", 60);
  expect(trimmed).toEqual([]);
  upkeep.noteStored("ada", 40);
  expect(trimmed).toEqual([["ada", BYTES]]);
  upkeep.noteStored("ada", 99);
  expect(trimmed).toHaveLength(1);
  upkeep.noteStored("ada", 1);
  upkeep.noteStored("eve", 4_000);
  expect(trimmed.map(([account]) => account)).toEqual(["ada", "ada", "eve"]);
  await expect.poll(() => events).toEqual(["responses.trimmed", "responses.trimmed", "responses.trimmed"]);
});

test("a measurement that fails is logged, and the next part measures again", async () => {
  let calls = 0;
  const { upkeep, events } = createUpkeep(async () => {
    calls += 1;
    throw new Error("no database");
  });
  upkeep.noteStored("ada", 100);
  upkeep.noteStored("ada", 100);
  expect(calls).toBe(2);
  await expect.poll(() => events).toEqual(["responses.upkeep_failed", "responses.upkeep_failed"]);
});
