import { describe, expect, it } from "vitest";
import type { Log } from "../../../src/core/ports.ts";
import type { ToolCallTally } from "../../../src/core/records.ts";
import { createSeenToolCalls } from "../../../src/telemetry/seen-tool-calls.ts";

const TALLY: ToolCallTally = { model: "m", scenario: "single", calls: 9, parsed: 8, known: 8, valid: 7 };

describe("what was seen of tool calls", () => {
  it("is read at the start and when asked, by model and scenario", async () => {
    let tallies = [TALLY, { ...TALLY, scenario: "parallel" as const, calls: 2, valid: 2 }];
    const keeper = createSeenToolCalls({ tallies: async () => tallies }, {} as Log);
    expect(keeper.current().size).toBe(0);
    await keeper.start();
    const seen = { single: { calls: 9, valid: 7 }, parallel: { calls: 2, valid: 2 } };
    expect([...keeper.current()]).toEqual([["m", seen]]);
    tallies = [];
    await keeper.refresh();
    expect(keeper.current().size).toBe(0);
    await keeper.stop();
  });

  it("stays as it was while the store does not answer", async () => {
    let isBroken = false;
    const warned: string[] = [];
    const log = { warn: (_: object, message: string) => warned.push(message) } as unknown as Log;
    const tallies = async () => {
      if (isBroken) throw new Error("gone");
      return [TALLY];
    };
    const keeper = createSeenToolCalls({ tallies }, log);
    await keeper.start();
    isBroken = true;
    await keeper.refresh();
    expect(keeper.current().size).toBe(1);
    expect(warned).toHaveLength(1);
    await keeper.stop();
  });
});
