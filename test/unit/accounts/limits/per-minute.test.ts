import { describe, expect, test } from "vitest";
import { createLimiter } from "../../../../src/accounts/limits/per-minute.ts";
import { fc } from "../../../support/property.ts";

const START_MS = 1_700_000_000_000;

describe("the per-minute limit", () => {
  test("admits up to the limit, refuses the next call, and says when to retry", () => {
    const limiter = createLimiter();
    for (let count = 1; count <= 5; count += 1) {
      expect(limiter.admit("k", 5, START_MS)).toEqual({
        allowed: true,
        limit: 5,
        remaining: 5 - count,
        resetSeconds: 60,
        retryAfterSeconds: 0,
      });
    }
    const refused = limiter.admit("k", 5, START_MS + 10_000);
    expect(refused).toEqual({ allowed: false, limit: 5, remaining: 0, resetSeconds: 50, retryAfterSeconds: 50 });
    expect(limiter.admit("k", 5, START_MS + 59_999).allowed).toBe(false);
    expect(limiter.admit("k", 5, START_MS + 60_000)).toMatchObject({ allowed: true, remaining: 4 });
  });

  test("keys do not disturb each other", () => {
    const limiter = createLimiter();
    expect(limiter.admit("a", 1, START_MS).allowed).toBe(true);
    expect(limiter.admit("a", 1, START_MS).allowed).toBe(false);
    expect(limiter.admit("b", 1, START_MS).allowed).toBe(true);
  });

  test("a limit that was changed counts from the next call", () => {
    const limiter = createLimiter();
    for (let count = 0; count < 3; count += 1) limiter.admit("k", 3, START_MS);
    expect(limiter.admit("k", 2, START_MS)).toMatchObject({ allowed: false, remaining: 0 });
    expect(limiter.admit("k", 4, START_MS)).toMatchObject({ allowed: true, remaining: 0 });
    expect(limiter.admit("k", 0, START_MS).allowed).toBe(false);
  });

  test("forgets keys that are idle", () => {
    const limiter = createLimiter();
    for (let id = 0; id < 1_000; id += 1) limiter.admit(String(id), 10, START_MS);
    expect(limiter.size()).toBe(1_000);
    limiter.admit("one", 10, START_MS + 61_000);
    limiter.admit("one", 10, START_MS + 122_000);
    expect(limiter.size()).toBe(1);
  });

  test("a clock that steps back neither opens nor freezes the window", () => {
    const limiter = createLimiter();
    expect(limiter.admit("k", 1, START_MS).allowed).toBe(true);
    expect(limiter.admit("k", 1, START_MS - 5_000).allowed).toBe(false);
    expect(limiter.admit("k", 1, START_MS - 3_600_000).allowed).toBe(true);
    expect(limiter.admit("k", 1, START_MS - 3_600_000).allowed).toBe(false);
  });
});

const history = fc.record({
  limit: fc.integer({ min: 1, max: 20 }),
  startMs: fc.integer({ min: 0, max: 10_000_000 }),
  // Bursts and pauses of every size around the window.
  gapsMs: fc.array(
    fc.oneof(
      fc.constant(0),
      fc.integer({ min: 0, max: 900 }),
      fc.integer({ min: 0, max: 70_000 }),
      fc.integer({ min: 58_900, max: 61_100 }),
    ),
    { minLength: 1, maxLength: 300 },
  ),
});

describe("laws of the limit", () => {
  test("never more than the limit in any 60 seconds, wherever they begin", () => {
    fc.assert(
      fc.property(history, ({ limit, startMs, gapsMs }) => {
        const limiter = createLimiter();
        const admittedAtMs: number[] = [];
        let nowMs = startMs;
        for (const gapMs of gapsMs) {
          nowMs += gapMs;
          if (limiter.admit("k", limit, nowMs).allowed) admittedAtMs.push(nowMs);
        }
        for (const [index, atMs] of admittedAtMs.entries()) {
          const inWindow = admittedAtMs.slice(index).filter((otherMs) => otherMs < atMs + 60_000);
          expect(inWindow.length).toBeLessThanOrEqual(limit);
        }
      }),
    );
  });

  test("a call is refused only when the limit was used in the last 61 seconds", () => {
    fc.assert(
      fc.property(history, ({ limit, startMs, gapsMs }) => {
        const limiter = createLimiter();
        const admittedAtMs: number[] = [];
        let nowMs = startMs;
        for (const gapMs of gapsMs) {
          nowMs += gapMs;
          const recent = admittedAtMs.filter((atMs) => atMs > nowMs - 61_000).length;
          if (limiter.admit("k", limit, nowMs).allowed) admittedAtMs.push(nowMs);
          else expect(recent).toBeGreaterThanOrEqual(limit);
        }
      }),
    );
  });

  test("a client that waits as long as told is admitted, and not a whole second earlier", () => {
    fc.assert(
      fc.property(history, ({ limit, startMs, gapsMs }) => {
        const limiter = createLimiter();
        let nowMs = startMs;
        for (const gapMs of gapsMs) {
          nowMs += gapMs;
          const answer = limiter.admit("k", limit, nowMs);
          expect(Math.max(answer.retryAfterSeconds, answer.resetSeconds)).toBeLessThanOrEqual(60);
          if (answer.allowed) continue;
          const early = limiter.admit("k", limit, nowMs + (answer.retryAfterSeconds - 1) * 1000 - (nowMs % 1000));
          expect(early.allowed).toBe(false);
          nowMs += answer.retryAfterSeconds * 1000;
          expect(limiter.admit("k", limit, nowMs).allowed).toBe(true);
        }
      }),
    );
  });
});
