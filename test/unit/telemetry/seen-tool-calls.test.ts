import { describe, expect, it } from "vitest";
import type { Log } from "../../../src/core/log.ts";
import type { ToolCallTally } from "../../../src/core/requests/records.ts";
import { createSeenToolCalls } from "../../../src/telemetry/tool-calls.ts";

const TALLY: ToolCallTally = {
  accountId: "busy",
  model: "m",
  scenario: "single",
  calls: 90,
  parsed: 80,
  known: 80,
  valid: 70,
};

describe("what was seen of tool calls", () => {
  it("is the account's own where it is enough to tell, and everyone's where not", async () => {
    const asked: number[] = [];
    const shared = [
      { model: "m", scenario: "single" as const, calls: 40, valid: 39 },
      { model: "m", scenario: "parallel" as const, calls: 2, valid: 2 },
      { model: "n", scenario: "single" as const, calls: 5, valid: 5 },
    ];
    const store = {
      async shared(most: number) {
        asked.push(most);
        return shared;
      },
      async withAtLeast(calls: number) {
        asked.push(calls);
        return [TALLY];
      },
    };
    const keeper = createSeenToolCalls(store, {} as Log);
    expect(keeper.current("busy").size).toBe(0);
    await keeper.start();
    expect(asked).toEqual([10, 30]);
    const others = { single: { calls: 40, valid: 39 }, parallel: { calls: 2, valid: 2 } };
    expect(keeper.current("quiet").get("m")).toEqual(others);
    expect(keeper.current("busy").get("m")).toEqual({ ...others, single: { calls: 90, valid: 70 } });
    expect(keeper.current("busy").get("n")).toEqual({ single: { calls: 5, valid: 5 } });
    await keeper.stop();
  });

  it("is read once for many who ask while it is being read, and shows what was written before they asked", async () => {
    let reads = 0;
    const release: (() => void)[] = [];
    const store = {
      shared: async () => {
        const calls = ++reads;
        await new Promise<void>((resolve) => release.push(resolve));
        return [{ model: "m", scenario: "single" as const, calls, valid: 0 }];
      },
      withAtLeast: async () => [],
    };
    const keeper = createSeenToolCalls(store, {} as Log);
    const first = keeper.refresh();
    await Promise.resolve();
    const later = [keeper.refresh(), keeper.refresh(), keeper.refresh()];
    expect(reads).toBe(1);
    release.shift()?.();
    await first;
    await expect.poll(() => release.length).toBe(1);
    release.shift()?.();
    await Promise.all(later);
    expect([reads, keeper.current("any").get("m")?.single?.calls]).toEqual([2, 2]);
    await keeper.stop();
  });

  it("stays as it was while the store does not answer", async () => {
    let isBroken = false;
    const warned: string[] = [];
    const log = { warn: (_: object, message: string) => warned.push(message) } as unknown as Log;
    const withAtLeast = async () => {
      if (isBroken) throw new Error("gone");
      return [TALLY];
    };
    const keeper = createSeenToolCalls({ withAtLeast, shared: async () => [] }, log);
    await keeper.start();
    isBroken = true;
    await keeper.refresh();
    expect(keeper.current("busy").size).toBe(1);
    expect(warned).toHaveLength(1);
    await keeper.stop();
  });
});
