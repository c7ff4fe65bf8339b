// Habits: what is learned of conversations and caches, and what a prompt's marks and the choice of a model make of it.

import { describe, expect, it } from "vitest";
import type { SessionTurn } from "../../../../src/core/session.ts";
import { createHabits, type Habits } from "../../../../src/gateway/sessions/habits.ts";
import { costAhead, isMarkWorthwhile, outlookOf, readChance } from "../../../../src/routing/sessions/outlook.ts";
import { makeModel } from "../../../support/catalog.ts";

const APP = 7;
const price = { input: 2e6, output: 10e6, cacheRead: 2e5, cacheWrite: 25e5 };
const claude = makeModel({ id: "claude", price, cache: { seconds: 300, tokensMin: 1024, isExplicit: true } });

const turn = (overrides: Partial<SessionTurn>): SessionTurn => ({
  ...{ session: "s", model: "claude", hostKey: "claude", keyId: null, tier: "LIGHT", promptTokens: 9_000 },
  ...{ cachedTokens: 0, atMs: 0, escalation: 0, task: 0, prefixes: [], trust: 1, calls: [], response: null },
  ...{ app: APP, number: 1, gaps: [], output: 100 },
  ...overrides,
});

/** Notes conversations of so many turns each. */
function converse(habits: Habits, lengths: readonly number[], facts: Partial<SessionTurn> = {}): void {
  for (const [at, length] of lengths.entries()) {
    let before: SessionTurn | undefined;
    for (let number = 1; number <= length; number++) {
      const gaps = number === 1 ? [] : (facts.gaps ?? [20]);
      const next = turn({ session: `s${at}`, ...(number === 1 ? {} : facts), number, gaps });
      habits.note(next, before);
      before = next;
    }
  }
}
const ask = (habits: Habits, last: SessionTurn | null = null) =>
  habits.of({
    app: APP,
    hasTools: true,
    isContinued: last !== null,
    last,
    nowMs: last === null ? 0 : last.atMs + 20_000,
  });

describe("breakpoints", () => {
  const isMarked = (habits: Habits, last: SessionTurn | null = null) =>
    isMarkWorthwhile(claude, 20_000, ask(habits, last));

  it("are set while conversations go on and are read", () => {
    const habits = createHabits();
    expect(isMarked(habits)).toBe(true);
    converse(habits, [10, 10, 10], { share: 0.95, isSteady: true });
    expect(isMarked(habits)).toBe(true);
    expect(isMarked(habits, turn({ number: 3 }))).toBe(true);
  });

  it.each<readonly [string, readonly number[], Partial<SessionTurn>, SessionTurn | null]>([
    ["for calls that stand alone", [1, 1, 1, 1, 1, 1, 1, 1], {}, null],
    ["at the last turn that conversations have", [2, 2, 2, 2, 2, 2, 2, 2], {}, turn({ number: 1 })],
    ["where the host never reads them", [8], { share: 0 }, turn({ number: 3 })],
    ["where a clock changes the prompt", [8], { isSteady: false }, turn({ number: 3 })],
    ["where the pauses are too long", [8], { gaps: [900] }, turn({ number: 3, gaps: [900, 900] })],
  ])("are not set %s", (_name, lengths, facts, last) => {
    const habits = createHabits();
    converse(habits, lengths, facts);
    expect(isMarked(habits, last)).toBe(false);
  });

  it("stop after a few turns that no host reads, for other applications at that host as well", () => {
    const habits = createHabits();
    converse(habits, [6], { share: 0 });
    expect(ask(habits).cacheOf("claude").hit).toBeLessThan(0.3);
    expect(ask(habits).cacheOf("other").hit).toBeLessThan(0.7);
  });
});

describe("the outlook", () => {
  it("expects as many turns as conversations of this kind had, and answers as long", () => {
    const habits = createHabits();
    const before = ask(habits).ahead;
    converse(habits, [2, 2, 2, 2, 2, 2]);
    expect(ask(habits).ahead).toBeLessThan(before / 3);
    expect(ask(habits).outputTokens).toBe(100);
  });

  it("expects the thinking that a model did here, and of others what their effort costs by that measure", () => {
    const habits = createHabits();
    expect(ask(habits).thought("claude", "high", 3_000)).toBe(3_000);
    converse(habits, [8, 8], { effort: "high", output: 400, thought: 300 });
    const { thought, outputTokens } = ask(habits);
    expect(outputTokens).toBe(100);
    expect(thought("claude", "high", 3_000)).toBeGreaterThan(290);
    expect(thought("claude", "high", 3_000)).toBeLessThan(500);
    expect(thought("other", "max", 10_000)).toBeLessThan(2_500);
    expect(thought("other", null, 0)).toBe(0);
  });

  it("takes no count of thinking for no thinking, unless the model was seen to think", () => {
    const [silent, spoken] = [createHabits(), createHabits()];
    converse(silent, [9, 9], { effort: "high", output: 400, thought: 0 });
    expect(ask(silent).thought("claude", "high", 3_000)).toBe(3_000);
    spoken.note(turn({ effort: "high", output: 400, thought: 300 }), undefined);
    const before = ask(spoken).thought("claude", "high", 3_000);
    converse(spoken, [9, 9], { effort: "high", output: 400, thought: 0 });
    expect(ask(spoken).thought("claude", "high", 3_000)).toBeLessThan(before / 2);
    // One that is asked for nothing may think as well.
    spoken.note(turn({ model: "free", output: 900, thought: 800 }), undefined);
    expect(ask(spoken).thought("free", null, 0)).toBeGreaterThan(200);
  });

  it("prices turns at the band of a prompt that is as long as theirs", () => {
    const band = { above: 100_000, input: 10e6, output: 50e6, cacheRead: 1e6, cacheWrite: 125e5 };
    const banded = { ...claude, price: { ...price, bands: [band] } };
    const ahead = (host: typeof claude, promptTokens: number) => {
      const outlook = { turns: 4, promptTokens, growth: 1_000, outputOf: () => 100, habit: ask(createHabits()) };
      return costAhead(host, outlook);
    };
    expect(ahead(banded, 90_000)).toBe(ahead(claude, 90_000));
    expect(ahead(banded, 99_000)).toBeCloseTo(5 * ahead(claude, 99_000), -3);
  });

  it("prices what is read from the cache by the chance that it is", () => {
    const view = { id: "s", last: null, loop: null, cached: [], nowMs: 0 };
    const cost = (habits: Habits) =>
      costAhead(
        claude,
        outlookOf({
          ...{ view: { ...view, habit: ask(habits) }, promptTokens: 9_000, lastTokens: null },
          ...{ outputOf: () => 100, hasTools: true },
        }),
      );
    const [good, bad] = [createHabits(), createHabits()];
    converse(good, [9, 9], { share: 1, isSteady: true });
    converse(bad, [9, 9], { share: 0, isSteady: true });
    expect(readChance(claude, ask(good))).toBeGreaterThan(0.9);
    expect(cost(bad)).toBeGreaterThan(2 * cost(good));
  });
});

describe("a cache that lives longer", () => {
  it("is expected to be alive at least as often", () => {
    const habits = createHabits();
    converse(habits, [9, 9]);
    const { alive } = ask(habits);
    expect(alive(300)).toBeGreaterThan(0.95);
    expect(alive(1_800)).toBeGreaterThanOrEqual(alive(300));
    const last = turn({ number: 3, gaps: [900, 900] });
    expect(ask(habits, last).alive(1_800)).toBeGreaterThan(2 * ask(habits, last).alive(300));
  });
});
