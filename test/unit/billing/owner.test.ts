// Names of processes: whether the one they name can still be running.

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { isGone, newOwner } from "../../../src/billing/owner.ts";

const endedNumber = (): number => spawnSync(process.execPath, ["-e", ""]).pid;

test("each is another, and the process that has it is not gone", () => {
  expect(newOwner()).not.toBe(newOwner());
  expect(isGone(newOwner())).toBe(false);
});

test.runIf(existsSync("/proc/self/ns/pid"))("one of this machine that has ended is gone", () => {
  expect(isGone(newOwner().replace(/_\d+$/, `_${endedNumber()}`))).toBe(true);
});

test("one of another machine, or without a place, may be running", () => {
  expect(isGone(`process_0123456789abcdef_0123456789ab_${endedNumber()}`)).toBe(false);
  expect(isGone("process_0123456789abcdef")).toBe(false);
});
