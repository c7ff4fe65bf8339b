import { describe, expect, it } from "vitest";
import { NO_CONSTRAINTS, NO_CONTROLS } from "../../../src/core/decision.ts";
import { DEFAULT_BOUNDS, type Policy, type StoredDecision, whatIf } from "../../../src/routing/what-if.ts";

const price = (usd: number) => ({ input: usd * 1_000_000, output: usd * 1_000_000, cacheRead: null, cacheWrite: null });
const MODELS = {
  NANO: { id: "nano", price: price(1) },
  SIMPLE: { id: "simple", price: price(2) },
  LIGHT: { id: "light", price: price(3) },
  STANDARD: { id: "standard", price: price(4) },
  COMPLEX: { id: "complex", price: price(5) },
};
const PRICES = new Map(Object.values(MODELS).map(({ id, price: its }) => [id, its]));
const POLICY: Policy = {
  bounds: DEFAULT_BOUNDS,
  models: MODELS,
  unsureTier: "LIGHT",
  sureFrom: 0.5,
  categoryFloors: {},
  markupPpm: 0,
};
const PAST: StoredDecision = {
  id: "a",
  score: 0.5,
  confidence: 0.8,
  category: "writing",
  historyFloor: null,
  controls: NO_CONTROLS,
  constraints: NO_CONSTRAINTS,
  tier: "LIGHT",
  model: "light",
  tokens: { input: 1000, output: 1000 },
};

describe("whatIf", () => {
  it("changes nothing under the same policy", () => {
    expect(whatIf([PAST], POLICY, PRICES)).toEqual({ total: 1, changes: [], costDifference: 0n });
  });

  it("says what other bounds change, what it costs and why", () => {
    const { changes, costDifference } = whatIf([PAST], { ...POLICY, bounds: [0.1, 0.2, 0.3, 0.9] }, PRICES);
    expect(changes).toEqual([
      {
        id: "a",
        from: { tier: "LIGHT", model: "light" },
        to: { tier: "STANDARD", model: "standard" },
        costDifference: 2_000_000n,
        because: ["score 0.50 is cut as STANDARD"],
      },
    ]);
    expect(costDifference).toBe(2_000_000n);
  });

  const cases: readonly [string, Partial<StoredDecision>, Partial<Policy>, string][] = [
    ["an unsure one is raised", { score: 0.1, confidence: 0.3, tier: "NANO", model: "nano" }, {}, "LIGHT"],
    ["a category may have a floor", {}, { categoryFloors: { writing: "COMPLEX" } }, "COMPLEX"],
    ["a ceiling still wins", { controls: { ...NO_CONTROLS, tierCeiling: "NANO" } }, {}, "NANO"],
    ["the history floor still counts", { historyFloor: "STANDARD" }, {}, "STANDARD"],
  ];
  it.each(cases)("%s", (_name, past, policy, tier) => {
    const { changes } = whatIf([{ ...PAST, ...past }], { ...POLICY, ...policy }, PRICES);
    expect(changes.map(({ to }) => to.tier)).toEqual([tier]);
  });

  it("leaves what the caller forced alone", () => {
    const forced = { ...PAST, controls: { ...NO_CONTROLS, profile: "tier" as const } };
    expect(whatIf([forced], { ...POLICY, bounds: [0, 0, 0, 0] }, PRICES).changes).toEqual([]);
  });

  it("names a new first model of the same tier", () => {
    const models = { ...MODELS, LIGHT: { id: "lighter", price: price(1) } };
    const [change] = whatIf([PAST], { ...POLICY, models }, PRICES).changes;
    expect(change).toMatchObject({ costDifference: -4_000_000n, because: ["the chain of LIGHT begins with lighter"] });
  });
});
