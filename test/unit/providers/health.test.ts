// Which models rest, and for how long.

import { expect, test } from "vitest";
import type { Log } from "../../../src/core/ports.ts";
import { createHealth } from "../../../src/providers/health.ts";

function make() {
  const clock = { nowMs: 1_000_000 };
  const warnings: object[] = [];
  const log: Log = { debug() {}, info() {}, warn: (fields) => void warnings.push(fields), error() {} };
  const health = createHealth(() => clock.nowMs, log);
  const fail = (times: number): void => {
    for (let index = 0; index < times; index += 1) health.failed("alpha", null);
  };
  const restsFor = (): number => {
    let ms = 0;
    while (health.resting().has("alpha")) {
      clock.nowMs += 1000;
      ms += 1000;
    }
    return ms;
  };
  return { clock, health, warnings, fail, restsFor };
}

test("five failures in a row put a model to rest, four do not", () => {
  const { health, warnings, fail } = make();
  fail(4);
  expect(health.resting().size).toBe(0);
  fail(1);
  expect([...health.resting()]).toEqual(["alpha"]);
  expect(health.stateOf("alpha")).toEqual({ isResting: true, consecutiveFailures: 5 });
  expect(health.stateOf("beta")).toEqual({ isResting: false, consecutiveFailures: 0 });
  expect(warnings).toHaveLength(1);
});

test("each failure after a rest doubles the next, up to a minute", () => {
  const { fail, restsFor } = make();
  fail(5);
  const rests = [restsFor()];
  for (let round = 0; round < 5; round += 1) {
    fail(1);
    rests.push(restsFor());
  }
  expect(rests).toEqual([5_000, 10_000, 20_000, 40_000, 60_000, 60_000]);
});

test("one success ends the rest and the count", () => {
  const { health, fail } = make();
  fail(9);
  health.succeeded("alpha");
  expect(health.resting().size).toBe(0);
  fail(4);
  expect(health.resting().size).toBe(0);
});

test.each([
  [30_000, 30_000],
  [3_600_000, 300_000],
])("a provider that asks for %i ms gets %i", (askedMs, restMs) => {
  const { health, restsFor } = make();
  health.failed("alpha", askedMs);
  expect(restsFor()).toBe(restMs);
});
