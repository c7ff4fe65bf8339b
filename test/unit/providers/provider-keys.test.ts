// Several keys of a provider: what is said of one key never stands in the way of another. And how fast hosts are.

import { describe, expect, test } from "vitest";
import type { Log } from "../../../src/core/log.ts";
import { createHealth, type Trouble } from "../../../src/providers/health.ts";
import { createSpeeds } from "../../../src/providers/speeds.ts";

const RULES = { failuresInRow: 5, failureShare: 0.5, callsMin: 10, windowMs: 30_000, openMs: 5_000, openMsMax: 60_000 };
const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };

function make() {
  const clock = { nowMs: 1_000_000 };
  const health = createHealth({
    models: [
      { id: "m", provider: "p", keyIds: ["a", "b"] },
      { id: "m", hostKey: "m via q", provider: "q" },
    ],
    rules: RULES,
    now: () => clock.nowMs,
    random: () => 0.5,
    log: SILENT,
  });
  const fail = (keyId: string, kind: Trouble["kind"], waitMs: number | null = null): void =>
    health.report("m", health.admit("m", keyId), { kind, waitMs, error: kind }, keyId);
  const isFree = (keyId: string): boolean => {
    const ticket = health.admit("m", keyId);
    if (ticket !== 0) health.report("m", ticket, "dropped", keyId);
    return ticket !== 0;
  };
  return { clock, health, fail, isFree };
}

describe("a key", () => {
  test("that is limited cools down alone, for as long as the provider asked", () => {
    const { clock, health, fail, isFree } = make();
    fail("a", "limited", 30_000);
    expect([isFree("a"), isFree("b")]).toEqual([false, true]);
    expect(health.resting().size).toBe(0);
    expect(health.stateOf("m").isResting).toBe(false);
    clock.nowMs += 30_001;
    expect(isFree("a")).toBe(true);
  });

  test("that is refused is taken out at once, and health names it", () => {
    const { clock, health, fail, isFree } = make();
    fail("a", "refused-key");
    expect([isFree("a"), isFree("b")]).toEqual([false, true]);
    const { credential, keys } = health.overview()[0] ?? { keys: [] };
    expect(keys.map(({ id, state, lastError }) => [id, state, lastError])).toEqual([
      ["a", "open", "refused-key"],
      ["b", "closed", null],
    ]);
    expect(credential?.state).toBe("closed");
    clock.nowMs += 10_000;
    expect(isFree("a")).toBe(true);
  });

  test("leaves the model resting only when all keys do", () => {
    const { health, fail } = make();
    fail("a", "limited", 30_000);
    fail("b", "limited", 20_000);
    expect([...health.resting().keys()]).toEqual(["m"]);
    expect(health.resting().get("m")).toContain("with key a");
    expect(health.admit("m via q")).toBeGreaterThan(0);
  });

  test("is not blamed for a failing model, which rests with every key", () => {
    const { health, fail, isFree } = make();
    for (let index = 0; index < 5; index += 1) fail(index % 2 === 0 ? "a" : "b", "failing");
    expect([isFree("a"), isFree("b")]).toEqual([false, false]);
    expect(health.overview()[0]?.keys.every(({ state }) => state === "closed")).toBe(true);
  });
});

test("a single key is not taken out by one refusal", () => {
  const { health } = make();
  health.report("m via q", health.admit("m via q"), { kind: "refused-key", waitMs: null, error: "401" });
  expect(health.admit("m via q")).toBeGreaterThan(0);
  expect(health.overview()[1]?.keys).toEqual([]);
});

describe("speeds", () => {
  type Answer = Parameters<ReturnType<typeof createSpeeds>["note"]>[1];
  const noteFive = (speeds: ReturnType<typeof createSpeeds>, hostKey: string, answer: Answer): void => {
    for (let index = 0; index < 5; index += 1) speeds.note(hostKey, answer);
  };

  test("are averages that noise does not move, of five answers at least", () => {
    const speeds = createSpeeds(() => 0);
    for (let index = 0; index < 4; index += 1) speeds.note("m", { firstMs: 100, outputTokens: 100, outputMs: 1000 });
    expect(speeds.current().size).toBe(0);
    speeds.note("m", { firstMs: 100, outputTokens: 100, outputMs: 1000 });
    const first = speeds.current();
    expect(first.get("m")?.firstMs).toBeCloseTo(100);
    expect(first.get("m")?.tokensPerSecond).toBeCloseTo(100);
    for (const firstMs of [130, 70, 120, 90]) speeds.note("m", { firstMs, outputTokens: 100, outputMs: 1100 });
    expect(speeds.current()).toBe(first);
    for (let index = 0; index < 40; index += 1) speeds.note("m", { firstMs: 400, outputTokens: 0, outputMs: 0 });
    expect(speeds.current().get("m")?.firstMs).toBeGreaterThan(300);
    expect(speeds.current().get("m")?.tokensPerSecond).toBeGreaterThan(90);
  });

  test("grow by less than half because of one answer that took thirty times as long, whenever it came", () => {
    for (const slowAt of [0, 3, 8]) {
      const speeds = createSpeeds(() => 0);
      for (let index = 0; index < 10; index += 1) {
        speeds.note("m", { firstMs: index === slowAt ? 1800 : 60, outputTokens: 0, outputMs: 0 });
        expect(speeds.current().get("m")?.firstMs ?? 60).toBeLessThan(90);
      }
    }
  });

  test("of whole answers say nothing about the first token, and short ones nothing at all", () => {
    const speeds = createSpeeds(() => 0);
    noteFive(speeds, "m", { firstMs: null, outputTokens: 50, outputMs: 500 });
    expect(speeds.current().get("m")?.firstMs).toBe(0);
    expect(speeds.current().get("m")?.tokensPerSecond).toBeCloseTo(100);
    noteFive(speeds, "short", { firstMs: null, outputTokens: 5, outputMs: 500 });
    expect(speeds.current().has("short")).toBe(false);
  });

  test("are forgotten, so that a slow host is tried again", () => {
    const clock = { nowMs: 0 };
    const speeds = createSpeeds(() => clock.nowMs);
    noteFive(speeds, "m", { firstMs: 9000, outputTokens: 1, outputMs: 1 });
    expect(speeds.current().size).toBe(1);
    clock.nowMs = 600_001;
    expect(speeds.current().size).toBe(0);
  });

  test("stay with a host that is called as before, and never pass to what takes its host key", () => {
    const before = createSpeeds(() => 0);
    const slow = { firstMs: 9000, outputTokens: 0, outputMs: 0 };
    for (const hostKey of ["m", "m via p"]) noteFive(before, hostKey, slow);
    const after = before.keeping((hostKey) => hostKey === "m via p");
    expect([...after.current().keys()]).toEqual(["m via p"]);
    // A call that began before still tells of its own host, and of no other.
    for (let index = 0; index < 40; index += 1)
      for (const hostKey of ["m", "m via p"]) before.note(hostKey, { ...slow, firstMs: 100 });
    noteFive(after, "m", { ...slow, firstMs: 50 });
    expect(after.current().get("m")?.firstMs).toBeCloseTo(50);
    expect(after.current().get("m via p")?.firstMs).toBeLessThan(1000);
  });
});
