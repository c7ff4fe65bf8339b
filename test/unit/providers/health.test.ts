// Which models rest, for whose sake, and what each kind of failure says about model, provider and key.

import { describe, expect, test } from "vitest";
import type { Log } from "../../../src/core/log.ts";
import { createHealth, type HealthInput, type Outcome, type Trouble } from "../../../src/providers/health.ts";

const RULES = {
  failuresInRow: 5,
  failureShare: 0.5,
  callsMin: 10,
  windowMs: 30_000,
  openMs: 5_000,
  openMsMax: 60_000,
};
const MODELS = [
  { id: "a1", provider: "a" },
  { id: "a2", provider: "a" },
  { id: "a3", provider: "a" },
  { id: "b1", provider: "b" },
];

function trouble(kind: Trouble["kind"], waitMs: number | null = null): Trouble {
  return { kind, waitMs, error: `${kind} in words` };
}

function make(more: Pick<HealthInput, "onPassed"> = {}) {
  const clock = { nowMs: 1_000_000 };
  const warnings: { fields: object; message: string }[] = [];
  const opened: object[] = [];
  const log: Log = {
    debug() {},
    info() {},
    warn: (fields, message = "") => void warnings.push({ fields, message }),
    error() {},
  };
  const health = createHealth({
    models: MODELS,
    rules: RULES,
    now: () => clock.nowMs,
    random: () => 0.5,
    log,
    onOpened: (each) => opened.push(each),
    ...more,
  });
  /** Attempts that are made whether or not the model rests. */
  const see = (model: string, outcome: Outcome, times = 1): void => {
    for (let index = 0; index < times; index += 1) {
      const ticket = health.admit(model) || health.admitResting(model);
      health.report(model, ticket, outcome);
    }
  };
  const resting = (): readonly string[] => [...health.resting().keys()];
  return { clock, health, warnings, opened, see, resting };
}

test("all is well at the start, and finding that out costs nothing", () => {
  const { health } = make();
  expect(health.resting().size).toBe(0);
  expect(health.resting()).toBe(health.resting());
  expect(health.stateOf("a1")).toEqual({
    isResting: false,
    state: "closed",
    sinceMs: 1_000_000,
    nextTryAtMs: null,
    consecutiveFailures: 0,
    lastError: null,
    lastErrorAtMs: null,
  });
});

describe("what a failure says", () => {
  test.each<readonly [Trouble["kind"], number, readonly string[]]>([
    ["failing", 4, []],
    ["failing", 5, ["a1"]],
    ["failing", 50, ["a1"]],
    ["unreachable", 4, []],
    ["unreachable", 5, ["a1", "a2", "a3"]],
    ["limited", 4, []],
    ["limited", 5, ["a1"]],
    ["refused-model", 2, []],
    ["refused-model", 3, ["a1"]],
    ["refused-key", 2, []],
    ["refused-key", 3, ["a1", "a2", "a3"]],
  ])("%s on one model, %i times: %j rest", (kind, times, expected) => {
    const { see, resting } = make();
    see("a1", trouble(kind), times);
    expect(resting()).toEqual(expected);
  });

  test.each<readonly [string, Outcome]>([
    ["dropped", "dropped"],
    ["answered", "answered"],
    ["a stream that began", "began"],
  ])("%s a hundred times: nothing rests", (_name, outcome) => {
    const { see, resting } = make();
    see("a1", outcome, 100);
    expect(resting()).toEqual([]);
  });

  test("several models of one provider failing, none answering: the provider rests", () => {
    const { see, resting } = make();
    see("a1", trouble("failing"), 2);
    see("a2", trouble("failing"), 2);
    expect(resting()).toEqual([]);
    see("a1", trouble("failing"));
    expect(resting()).toEqual(["a1", "a2", "a3"]);
  });

  test("one model failing while another of the provider answers leaves the provider alone", () => {
    const { see, resting } = make();
    for (let round = 0; round < 20; round += 1) {
      see("a1", trouble("failing"), 2);
      see("a2", "answered");
    }
    expect(resting()).toEqual(["a1"]);
  });

  test("keys refused on two models with an answer between them are not the key's fault", () => {
    const { see, resting } = make();
    for (let round = 0; round < 3; round += 1) {
      see("a1", trouble("refused-key"));
      see("a2", "answered");
    }
    expect(resting()).toEqual(["a1"]);
  });

  test("a provider that answers, whatever it says, can be reached", () => {
    const { see, resting } = make();
    see("a1", trouble("unreachable"), 4);
    see("a2", trouble("limited", 1000));
    see("a3", trouble("unreachable"), 4);
    expect(resting()).toEqual(["a2"]);
  });
});

test("the wait until a model may be called is that of its own breaker, its provider's or its pause", () => {
  const { clock, health, see } = make();
  expect(health.waitMs("a1")).toBe(0);
  see("a1", trouble("failing"), 5);
  const openMs = health.waitMs("a1");
  expect(openMs).toBeGreaterThan(0);
  expect(health.waitMs("a2")).toBe(0);
  clock.nowMs += openMs;
  expect(health.waitMs("a1")).toBe(0);
  see("a2", trouble("limited", 7_000));
  expect(health.waitMs("a2")).toBe(7_000);
  see("a3", trouble("unreachable"), 5);
  expect([health.waitMs("a1") > 0, health.waitMs("a3") > 0]).toEqual([true, true]);
});

describe("a pause the provider asked for", () => {
  test.each([
    [30_000, 30_000],
    [3_600_000, 300_000],
  ])("of %i ms lasts %i", (askedMs, restMs) => {
    const { clock, see, resting } = make();
    see("a1", trouble("limited", askedMs));
    clock.nowMs += restMs - 1;
    expect(resting()).toEqual(["a1"]);
    clock.nowMs += 1;
    expect(resting()).toEqual([]);
  });

  test("is no failure, but with one it counts as both", () => {
    const { health, see } = make();
    see("a1", trouble("limited", 1000), 20);
    expect(health.stateOf("a1")).toMatchObject({ state: "resting", consecutiveFailures: 0 });
    see("a2", trouble("failing", 1000));
    expect(health.stateOf("a2")).toMatchObject({ state: "resting", consecutiveFailures: 1 });
  });
});

describe("the probe", () => {
  test("is one call; the model rests for everybody else until it is back", () => {
    const { clock, health, see, resting } = make();
    see("a1", trouble("failing"), 5);
    expect(health.admit("a1")).toBe(0);
    clock.nowMs += 5_000;
    expect(resting()).toEqual([]);
    const probe = health.admit("a1");
    expect(probe).toBeGreaterThan(0);
    expect(health.admit("a1")).toBe(0);
    expect(resting()).toEqual(["a1"]);
    expect(health.resting().get("a1")).toMatch(/model a1 is being probed/);
    health.report("a1", probe, "answered");
    expect(resting()).toEqual([]);
    expect(health.admit("a1")).toBeGreaterThan(0);
  });

  test("of a provider is one call over all its models, and brings them all back", () => {
    const { clock, health, see, resting } = make();
    see("a1", trouble("unreachable"), 5);
    clock.nowMs += 5_000;
    const probe = health.admit("a2");
    expect(health.admit("a3")).toBe(0);
    health.report("a2", probe, "answered");
    expect(resting()).toEqual([]);
    expect(health.admit("a3")).toBeGreaterThan(0);
  });

  test("that comes to nothing leaves the place to the next", () => {
    const { clock, health, see } = make();
    see("a1", trouble("failing"), 5);
    clock.nowMs += 5_000;
    health.report("a1", health.admit("a1"), "dropped");
    expect(health.admit("a1")).toBeGreaterThan(0);
  });
});

describe("a try of a model that rests", () => {
  test("is given to ten at once, and again when one is back", () => {
    const { health, see } = make();
    see("a1", trouble("failing"), 5);
    const tries = Array.from({ length: 10 }, () => health.admitResting("a1"));
    expect(health.admitResting("a1")).toBe(0);
    health.report("a1", tries[0]!, trouble("failing"));
    expect(health.admitResting("a1")).toBeGreaterThan(0);
    health.report("a1", tries[1]!, "answered");
    expect(health.admit("a1")).toBeGreaterThan(0);
  });
});

test("retries: a fifth of a provider's calls and twenty more within ten seconds", () => {
  const { clock, health, see } = make();
  see("a1", "answered", 100);
  const allowed = (): number => Array.from({ length: 500 }, () => health.mayRetry("a1")).filter(Boolean).length;
  expect(allowed()).toBe(40);
  expect(health.mayRetry("b1")).toBe(true);
  clock.nowMs += 10_000;
  expect(allowed()).toBe(20);
});

test("there is no retry on an open breaker", () => {
  const { health, see } = make();
  see("a1", trouble("failing"), 5);
  expect(health.mayRetry("a1")).toBe(false);
  expect(health.mayRetry("a2")).toBe(true);
});

test("an opening is logged and told once, with what happened; so is each failed probe", () => {
  const { clock, warnings, opened, see } = make();
  see("a1", trouble("failing"), 9);
  expect(warnings).toEqual([
    {
      message: "model a1 is cooling down after failures",
      fields: {
        event: "breaker.opened",
        scope: "model",
        provider: "a",
        model: "a1",
        failures: 5,
        openMs: 5_000,
        error: "failing in words",
      },
    },
  ]);
  clock.nowMs += 5_000;
  see("a1", trouble("failing"));
  expect(warnings).toHaveLength(2);
  expect(opened).toEqual(
    Array(2).fill({
      ...{ scope: "model", provider: "a", model: "a1", name: "model a1" },
      ...{ openMs: expect.any(Number), error: "failing in words" },
    }),
  );
});

test("the overview shows each breaker for itself, the state of a model what holds it back", () => {
  const { clock, health, see } = make();
  see("a1", trouble("refused-key"), 3);
  clock.nowMs += 1000;
  const held = { state: "open", sinceMs: 1_000_000, nextTryAtMs: 1_005_000, lastError: "refused-key in words" };
  const [a, b] = health.overview();
  expect(a).toMatchObject({ id: "a", provider: { state: "closed" }, credential: held });
  expect(a!.models.map(({ id, state, isResting }) => [id, state, isResting])).toEqual([
    ["a1", "open", true],
    ["a2", "closed", true],
    ["a3", "closed", true],
  ]);
  expect(b).toMatchObject({ id: "b", provider: { state: "closed" }, credential: { state: "closed" } });
  expect(health.stateOf("a2")).toMatchObject({ isResting: true, ...held });
  expect(health.resting().get("a2")).toBe(
    "the key of a is cooling down until 1970-01-01T00:16:45.000Z after failures (refused-key in words)",
  );
});

test("a model nobody knows is a fault of ours", () => {
  expect(() => make().health.admit("nobody")).toThrow(/nobody/);
});

describe("another catalogue", () => {
  const without = (id: string) => MODELS.filter((model) => model.id !== id);

  test("what is known of a provider that did not change stays", () => {
    const { health, see, resting } = make();
    see("a1", trouble("failing"), 5);
    health.watch([...without("a3"), { id: "c1", provider: "c" }], new Set(["c"]));
    expect(resting()).toEqual(["a1"]);
    expect(health.overview().map(({ id, models }) => [id, models.map((model) => model.id)])).toEqual([
      ["a", ["a1", "a2"]],
      ["b", ["b1"]],
      ["c", ["c1"]],
    ]);
  });

  test("a provider that changed starts afresh, and attempts with what it was before say nothing of it", () => {
    const { health, see, resting } = make();
    see("a1", trouble("refused-key"), 2);
    const before = health.admit("a2");
    health.watch(MODELS, new Set(["a"]));
    expect(resting()).toEqual([]);
    health.report("a2", before, trouble("refused-key"));
    see("a1", trouble("refused-key"), 2);
    expect(resting()).toEqual([]);
    see("a1", trouble("refused-key"));
    expect(resting()).toEqual(["a1", "a2", "a3"]);
  });

  test("a route that leads elsewhere starts afresh, and so does one under another name", () => {
    const { health, see, resting } = make();
    for (const row of [{ provider: "b" }, { provider: "a", upstream: "a1-newer" }]) {
      see("a1", trouble("failing"), 5);
      expect(resting()).toEqual(["a1"]);
      const before = health.admitResting("a1");
      health.watch([{ id: "a1", ...row }, ...without("a1")], new Set());
      expect(resting()).toEqual([]);
      health.report("a1", before, trouble("limited", 60_000));
      expect(resting()).toEqual([]);
    }
  });

  test("a request that began before may still try a model that is gone", () => {
    const { health, see, resting } = make();
    const ticket = health.admit("b1");
    health.watch(without("b1"), new Set());
    health.report("b1", ticket, trouble("failing"));
    see("b1", trouble("failing"), 10);
    expect(resting()).toEqual([]);
    expect(health.overview().map(({ id }) => id)).toEqual(["a"]);
  });
});

test("what another process saw fail is tried last here too, for as long and with its reason", () => {
  const { clock, health } = make();
  const place = { scope: "model", provider: "a", model: "a1", name: "model a1" } as const;
  const opening = { ...place, openMs: 5_000, error: "API credit used up, status 402" };
  health.follow(opening);
  health.follow({ ...opening, provider: "nowhere" });
  expect(health.resting().get("a1")).toContain("(API credit used up, status 402)");
  expect(health.stateOf("a1")).toMatchObject({ lastError: opening.error, lastErrorAtMs: clock.nowMs });
  expect(health.admit("a1")).toBe(0);
  clock.nowMs += 5_001;
  expect(health.resting().has("a1")).toBe(false);
  expect(health.admit("a1")).toBeGreaterThan(0);
});

describe("an operator's test that was answered", () => {
  test("closes the breakers of model, provider and key, and is passed on once", () => {
    const passed: object[] = [];
    const { health, see, resting } = make({ onPassed: (each) => passed.push(each) });
    see("a1", trouble("refused-key"), 3);
    see("a1", trouble("unreachable"), 5);
    expect(resting()).toEqual(["a1", "a2", "a3"]);
    health.passed("a1");
    expect(resting()).toEqual([]);
    const [{ provider, credential } = {}] = health.overview();
    expect([provider?.consecutiveFailures, credential?.consecutiveFailures]).toEqual([0, 0]);
    expect(passed).toEqual([{ passed: "a1" }]);
  });

  test("in another process closes the same, says nothing further, and may be of a model that is gone", () => {
    const passed: object[] = [];
    const { health, see, resting } = make({ onPassed: (each) => passed.push(each) });
    see("a1", trouble("refused-key"));
    expect(health.overview()[0]?.credential.consecutiveFailures).toBe(1);
    health.follow({ passed: "a1" });
    health.follow({ passed: "gone" });
    expect(health.overview()[0]?.credential.consecutiveFailures).toBe(0);
    expect([resting(), passed]).toEqual([[], []]);
  });
});
