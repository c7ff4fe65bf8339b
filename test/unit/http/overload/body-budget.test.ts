// The budget for bodies in memory: limits of process and key, room for small bodies, order of waiting, and no leaks.

import { beforeEach, describe, expect, it, vi } from "vitest";
import type { BodyCharge } from "../../../../src/http/exchange/body.ts";
import { BodyBudget } from "../../../../src/http/overload/body-budget.ts";
import { OVERLOAD_POLICY } from "../../../../src/http/overload/policy.ts";

const MB = 1024 * 1024;
const { waitMaxMs } = OVERLOAD_POLICY.bodies;

let rejected: string[];
let budget: BodyBudget;
beforeEach(() => {
  vi.useFakeTimers();
  rejected = [];
  budget = new BodyBudget(40 * MB, (reason) => rejected.push(reason));
});

function take(owner: string | null, bytes: number): BodyCharge {
  const charge = budget.tryTake(owner, bytes);
  if (charge === null) throw new Error("it has to wait");
  return charge;
}

describe("room", () => {
  it("is counted, and given back once", () => {
    const first = take("a", 10 * MB);
    take("b", 5 * MB);
    expect(budget.usedBytes).toBe(15 * MB);
    first.release();
    first.release();
    expect(budget.usedBytes).toBe(5 * MB);
  });

  it("is not taken again by a body that is still read when its client has disconnected", () => {
    const charge = take("a", 64_000);
    charge.release();
    charge.add(64_000);
    expect(budget.usedBytes).toBe(0);
  });

  it("one large body is always taken, whatever its size", () => {
    take("a", 1000);
    expect(take("a", 500 * MB)).toBeDefined();
  });

  it("large bodies leave some to small ones", async () => {
    take("a", 15 * MB);
    take("b", 15 * MB);
    expect(budget.tryTake("c", MB)).toBeNull();
    const large = budget.take("c", MB);
    const refused = expect(large).rejects.toMatchObject({ status: 503, details: { code: "overloaded" } });
    take("c", 100_000).release();
    await vi.advanceTimersByTimeAsync(waitMaxMs);
    await refused;
    expect(rejected).toEqual(["bodies"]);
  });

  it("one key may use half of it", async () => {
    take("a", 15 * MB);
    const more = budget.take("a", 6 * MB);
    const refused = expect(more).rejects.toMatchObject({ status: 429, details: { code: "too_many_body_bytes" } });
    await budget.take("b", 6 * MB);
    await vi.advanceTimersByTimeAsync(waitMaxMs);
    await refused;
    expect(rejected).toEqual(["key_bodies"]);
  });
});

describe("a body that grows", () => {
  it("is charged as it grows, and refused at once when there is no room", () => {
    take("b", 20 * MB);
    const growing = take("a", 64 * 1024);
    growing.add(5 * MB);
    expect(budget.usedBytes).toBe(25 * MB + 64 * 1024);
    expect(() => growing.add(10 * MB)).toThrow(expect.objectContaining({ status: 503 }));
    growing.release();
    expect(budget.usedBytes).toBe(20 * MB);
  });

  it("may grow to any size when it is the only large one", () => {
    const growing = take("a", 1000);
    growing.add(50 * MB);
    growing.add(50 * MB);
    growing.release();
    expect(budget.usedBytes).toBe(0);
  });
});

describe("waiting", () => {
  it("ends when another body is released, in the order of arrival", async () => {
    const first = take("a", 20 * MB);
    const started: string[] = [];
    const wait = (owner: string, bytes: number): void => void budget.take(owner, bytes).then(() => started.push(owner));
    wait("b", 20 * MB);
    wait("c", MB);
    await vi.advanceTimersByTimeAsync(0);
    expect(started).toEqual([]);
    first.release();
    await vi.advanceTimersByTimeAsync(0);
    expect(started).toEqual(["b", "c"]);
    await vi.advanceTimersByTimeAsync(2 * waitMaxMs);
    expect(rejected).toEqual([]);
  });

  it("a key at its limit keeps no other key waiting", async () => {
    const first = take("a", 15 * MB);
    const own = budget.take("a", 10 * MB);
    const other = await budget.take("b", 10 * MB);
    other.release();
    first.release();
    (await own).release();
    expect(budget.usedBytes).toBe(0);
  });
});
