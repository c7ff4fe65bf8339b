// The breaker as a state machine: examples for each rule, and laws that hold for any history.

import { describe, expect, test } from "vitest";
import { Breaker, type BreakerRules } from "../../../src/providers/breaker.ts";
import { fc } from "../../support/property.ts";

const RULES: BreakerRules = {
  failuresInRow: 5,
  failureShare: 0.5,
  callsMin: 10,
  windowMs: 30_000,
  openMs: 5_000,
  openMsMax: 60_000,
};
/** The middle of the jitter, where open times are as configured. */
const EVEN = 0.5;
const OPEN_MS_MOST = RULES.openMsMax * 1.2;

function make(random: () => number = () => EVEN, rules: Partial<BreakerRules> = {}) {
  const clock = { nowMs: 1_000_000 };
  const pulse = { now: () => clock.nowMs, random, lastTicket: 0 };
  const breaker = new Breaker({ ...RULES, ...rules }, pulse);
  const enter = (): number => {
    pulse.lastTicket += 1;
    breaker.enter(pulse.lastTicket);
    return pulse.lastTicket;
  };
  const fail = (times = 1): void => {
    for (let index = 0; index < times; index += 1) breaker.failed(enter(), RULES.failuresInRow);
  };
  const succeed = (times = 1): void => {
    for (let index = 0; index < times; index += 1) breaker.succeeded(enter());
  };
  /** How long until it lets a call through. */
  const waits = (): number => {
    const waitMs = Math.max(0, breaker.admitsAtMs - clock.nowMs);
    clock.nowMs += waitMs;
    return waitMs;
  };
  return { clock, breaker, enter, fail, succeed, waits };
}

describe("opens", () => {
  test("at five failures in a row, not at four", () => {
    const { breaker, fail } = make();
    fail(4);
    expect([breaker.state, breaker.admits()]).toEqual(["closed", true]);
    fail();
    expect([breaker.state, breaker.admits()]).toEqual(["open", false]);
  });

  test("at half of ten calls, though none failed five times in a row", () => {
    const { breaker, fail, succeed } = make();
    for (let round = 0; round < 4; round += 1) {
      succeed();
      fail();
    }
    expect(breaker.state).toBe("closed");
    succeed();
    fail();
    expect(breaker.state).toBe("open");
  });

  test("not at a third of many", () => {
    const { breaker, fail, succeed, clock } = make();
    for (let round = 0; round < 100; round += 1) {
      succeed(2);
      fail();
      clock.nowMs += 100;
    }
    expect(breaker.state).toBe("closed");
  });

  test("not by the share of calls that lie further back than the window", () => {
    const { breaker, fail, succeed, clock } = make();
    for (let round = 0; round < 4; round += 1) {
      succeed();
      fail();
    }
    clock.nowMs += RULES.windowMs;
    succeed();
    fail();
    expect(breaker.state).toBe("closed");
  });
});

describe("half-open", () => {
  test("lets one probe through, and closes when it succeeds", () => {
    const { breaker, enter, fail, waits } = make();
    fail(5);
    expect(waits()).toBe(5_000);
    expect([breaker.state, breaker.admits()]).toEqual(["half-open", true]);
    const probe = enter();
    expect(breaker.admits()).toBe(false);
    breaker.succeeded(probe);
    expect([breaker.state, breaker.admits(), breaker.failuresInRow]).toEqual(["closed", true, 0]);
  });

  test("stays half-open for the next one when the probe says nothing", () => {
    const { breaker, enter, fail, waits } = make();
    fail(5);
    waits();
    breaker.dropped(enter());
    expect([breaker.state, breaker.admits()]).toEqual(["half-open", true]);
  });

  test("doubles its time with each failed probe, up to a minute", () => {
    const { fail, waits } = make();
    fail(5);
    const rests = [waits()];
    for (let round = 0; round < 5; round += 1) {
      fail();
      rests.push(waits());
    }
    expect(rests).toEqual([5_000, 10_000, 20_000, 40_000, 60_000, 60_000]);
  });

  test("goes on from the time it had when it opens again at once, and starts over after a quiet window", () => {
    const { clock, fail, succeed, waits } = make();
    fail(5);
    waits();
    succeed();
    fail(5);
    expect(waits()).toBe(10_000);
    succeed();
    clock.nowMs += RULES.windowMs + 1;
    fail(5);
    expect(waits()).toBe(5_000);
  });

  test("a stream that has begun closes it on probation: one break and it rests for longer", () => {
    const { breaker, enter, fail, waits } = make();
    fail(5);
    waits();
    const stream = enter();
    breaker.began(stream);
    expect([breaker.state, breaker.admits()]).toEqual(["closed", true]);
    breaker.failed(stream, RULES.failuresInRow);
    expect(breaker.state).toBe("open");
    expect(waits()).toBe(10_000);
  });

  test("a stream that ends well ends the probation", () => {
    const { breaker, enter, fail, waits } = make();
    fail(5);
    waits();
    const stream = enter();
    breaker.began(stream);
    breaker.succeeded(stream);
    fail(4);
    expect(breaker.state).toBe("closed");
  });
});

describe("what does not count", () => {
  test("calls that began before it opened", () => {
    const { breaker, enter, fail, waits } = make();
    const [early, late] = [enter(), enter()];
    fail(5);
    breaker.succeeded(early);
    expect(breaker.state).toBe("open");
    waits();
    breaker.failed(late, RULES.failuresInRow);
    expect([breaker.state, breaker.admits()]).toEqual(["half-open", true]);
  });

  test("a last try that fails while it is open prolongs nothing; one that succeeds closes it", () => {
    const { breaker, clock, enter, fail } = make();
    fail(5);
    const dueAtMs = breaker.admitsAtMs;
    clock.nowMs += 1000;
    fail(3);
    expect(breaker.admitsAtMs).toBe(dueAtMs);
    breaker.succeeded(enter());
    expect(breaker.state).toBe("closed");
  });
});

describe("a pause the provider asked for", () => {
  test("is kept, the later end of two", () => {
    const { breaker, clock } = make();
    breaker.rest(30_000);
    breaker.rest(1_000);
    expect([breaker.state, breaker.admits()]).toEqual(["resting", false]);
    clock.nowMs += 29_999;
    expect(breaker.admits()).toBe(false);
    clock.nowMs += 1;
    expect([breaker.state, breaker.admits()]).toEqual(["closed", true]);
  });

  test("ends with a success of a call that began after it, not before", () => {
    const { breaker, enter } = make();
    const early = enter();
    breaker.rest(30_000);
    breaker.succeeded(early);
    expect(breaker.state).toBe("resting");
    breaker.succeeded(enter());
    expect(breaker.state).toBe("closed");
  });
});

describe("laws", () => {
  type Step = "enter" | "succeeded" | "failed" | "dropped" | "began" | "rest" | number;
  const outcomes = fc.constantFrom<Step>(
    "enter",
    "enter",
    "enter",
    "succeeded",
    "failed",
    "failed",
    "dropped",
    "began",
  );
  const steps = fc.array(
    fc.oneof(
      { weight: 8, arbitrary: outcomes },
      { weight: 1, arbitrary: fc.constant<Step>("rest") },
      { weight: 3, arbitrary: fc.integer({ min: 0, max: 20_000 }) as fc.Arbitrary<Step> },
    ),
    { maxLength: 200 },
  );

  /** Plays a history in which calls enter only where they are let in, and end in any order. */
  function play(history: readonly Step[], seed: number, each: (made: ReturnType<typeof make>, out: number[]) => void) {
    let state = seed;
    const random = (): number => {
      state = (state * 16_807) % 2_147_483_647;
      return state / 2_147_483_647;
    };
    const made = make(random);
    const { breaker, clock, enter } = made;
    const out: number[] = [];
    for (const step of history) {
      if (typeof step === "number") clock.nowMs += step;
      else if (step === "enter") {
        if (breaker.admits()) out.push(enter());
      } else if (step === "rest") breaker.rest(7_000);
      else if (out.length > 0) {
        const [ticket] = out.splice(Math.floor(random() * out.length), 1) as [number];
        if (step === "failed") breaker.failed(ticket, RULES.failuresInRow);
        else breaker[step](ticket);
      }
      each(made, out);
    }
    return { ...made, out };
  }

  const histories = [steps, fc.integer({ min: 1, max: 2_147_483_646 })] as const;

  test("nothing is let through before its time, and never for longer than the longest rest", () => {
    fc.assert(
      fc.property(...histories, (history, seed) => {
        play(history, seed, ({ breaker, clock }) => {
          if (breaker.state === "open" || breaker.state === "resting") expect(breaker.admits()).toBe(false);
          expect(breaker.admitsAtMs - clock.nowMs).toBeLessThanOrEqual(OPEN_MS_MOST);
        });
      }),
    );
  });

  test("half-open, at most one call is out that was let in since", () => {
    fc.assert(
      fc.property(...histories, (history, seed) => {
        let heldBefore: readonly number[] = [];
        let wasHalfOpen = false;
        play(history, seed, ({ breaker }, out) => {
          const isHalfOpen = breaker.state === "half-open";
          if (isHalfOpen && wasHalfOpen) {
            expect(out.filter((ticket) => !heldBefore.includes(ticket)).length).toBeLessThanOrEqual(1);
          } else heldBefore = [...out];
          wasHalfOpen = isHalfOpen;
        });
      }),
    );
  });

  test("whatever happened, when all calls have ended and time has passed, a call is let through and closes it", () => {
    fc.assert(
      fc.property(...histories, (history, seed) => {
        const { breaker, clock, enter, out } = play(history, seed, () => undefined);
        for (const ticket of out) breaker.dropped(ticket);
        clock.nowMs += OPEN_MS_MOST;
        expect(breaker.admits()).toBe(true);
        breaker.succeeded(enter());
        expect([breaker.state, breaker.failuresInRow]).toEqual(["closed", 0]);
      }),
    );
  });

  test("without failures it never opens; what clients do is no failure", () => {
    fc.assert(
      fc.property(...histories, (history, seed) => {
        const harmless = history.filter((step) => step !== "failed" && step !== "rest");
        play(harmless, seed, ({ breaker }) => expect(breaker.state).toBe("closed"));
      }),
    );
  });

  test("five failures in a row of calls that were let in always leave it open", () => {
    fc.assert(
      fc.property(...histories, (history, seed) => {
        const { breaker, clock, fail, out } = play(history, seed, () => undefined);
        for (const ticket of out) breaker.dropped(ticket);
        clock.nowMs = Math.max(clock.nowMs, breaker.admitsAtMs);
        for (let index = 0; index < 5 && breaker.admits(); index += 1) fail();
        expect(breaker.state).toBe("open");
      }),
    );
  });
});
