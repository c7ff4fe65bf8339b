// The blend of static scores with what was seen of calls, and the order that follows from it.

import { describe, expect, it } from "vitest";
import { NO_CONSTRAINTS, NO_CONTROLS, type ToolCallsSeen } from "../../../../src/core/decision.ts";
import type { Model } from "../../../../src/core/model.ts";
import { TIERS } from "../../../../src/core/tiers.ts";
import { decide } from "../../../../src/routing/decide.ts";
import { blendScore, equallyGood, rankByToolScore } from "../../../../src/routing/tools/scores.ts";
import { makeCatalog, makeChat, makeModel } from "../../../support/catalog.ts";
import { fc } from "../../../support/property.ts";

describe("the blended score", () => {
  it("stays between three quarters of the static score and all of it", () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 100, noNaN: true }), fc.nat(10_000), fc.nat(10_000), (score, a, b) => {
        const blended = blendScore(score, { calls: Math.max(a, b), valid: Math.min(a, b) });
        expect(blended).toBeGreaterThanOrEqual(score * 0.75 - 0.01);
        expect(blended).toBeLessThanOrEqual(score + 0.01);
      }),
    );
  });

  it.each([
    [80, 0, 0, 80],
    [80, 29, 0, 80],
    [80, 30, 0, 60],
    [80, 500, 500, 80],
    [80, 50, 40, 72],
    [80, 1_000_000, 0, 60],
  ])("of %d with %d calls, %d of them valid, is %d", (score, calls, valid, expected) => {
    expect(blendScore(score, { calls, valid })).toBe(expected);
  });
});

const scores = (single: number) => ({ overall: single, single });
const MODELS = [
  makeModel({ id: "plain" }),
  makeModel({ id: "second", scores: scores(70) }),
  makeModel({ id: "first", scores: scores(75) }),
];
const seen = (model: string, calls: number, valid: number): ToolCallsSeen =>
  new Map([[model, { single: { calls, valid } }]]);
const idsOf = (found: ToolCallsSeen) => rankByToolScore(MODELS, "single", found).models.map(({ id }) => id);

describe("the order of a chain", () => {
  it("is that of the static scores while too little was seen, and where calls could be used", () => {
    const byStatic = ["first", "plain", "second"];
    expect(idsOf(new Map())).toEqual(byStatic);
    expect(idsOf(seen("first", 29, 0))).toEqual(byStatic);
    expect(idsOf(seen("second", 5_000, 5_000))).toEqual(byStatic);
  });

  it("puts a model lower whose calls could not be used, and says so", () => {
    const { models, notes } = rankByToolScore(MODELS, "single", seen("first", 100, 60));
    expect(models.map(({ id }) => id)).toEqual(["plain", "second", "first"]);
    expect(notes).toEqual([
      "ordered by function-calling score for single",
      "ranked first with score 56.25 instead of 75: 40 of its 100 observed tool calls were unusable",
    ]);
  });

  it("heeds only what was seen in the same scenario", () => {
    expect(idsOf(new Map([["first", { parallel: { calls: 100, valid: 0 } }]]))).toEqual(["first", "plain", "second"]);
  });
});

describe("models that count as equally good", () => {
  const measured = (id: string, single: number) => makeModel({ id, scores: scores(single) });
  const overall = (id: string, score: number) => makeModel({ id, scores: { overall: score } });
  const unknown = makeModel({ id: "unknown" });
  const inTier = (isOwnOrder: boolean, proven: readonly string[] | null) => {
    const catalog = makeCatalog({ ownChains: isOwnOrder ? ["LIGHT"] : [] });
    const ids: ReadonlySet<string> = new Set(proven);
    const ofTiers = { NANO: ids, SIMPLE: ids, LIGHT: ids, STANDARD: ids, COMPLEX: ids };
    return { tier: "LIGHT" as const, catalog: { ...catalog, proven: proven && ofTiers } };
  };
  const equalsOf = (models: readonly Model[], found: ToolCallsSeen = new Map(), isOwnOrder = true) => {
    const isEqual = equallyGood(models, { scenario: "single", seen: found, ...inTier(isOwnOrder, null) });
    return isEqual === null ? null : models.filter(isEqual).map(({ id }) => id);
  };

  it.each([
    ["measured in the scenario", [measured("best", 75), measured("near", 71), measured("far", 70.9)], ["best", "near"]],
    ["known overall", [overall("best", 74), overall("near", 62), overall("far", 61.9)], ["best", "near"]],
    ["one of each", [measured("best", 75), overall("near", 67), overall("far", 66.9)], ["best", "near"]],
    // The middle is 70 in the first, and 60 in the second.
    ["unknown, near the best", [measured("best", 75), measured("low", 65), unknown], ["best", "unknown"]],
    ["unknown, far from the best", [measured("best", 75), measured("low", 45), unknown], ["best"]],
  ])("are those whose scores differ less than they may be wrong: %s", (_name, models, expected) => {
    expect(equalsOf(models)).toEqual(expected);
    expect(equalsOf(models, new Map(), false)).toEqual(expected);
  });

  it("are not those whose calls often fail, and the best is then another one", () => {
    const models = [measured("best", 75), measured("near", 60), unknown];
    expect(equalsOf(models, seen("best", 100, 60))).toEqual(["near", "unknown"]);
  });

  it("are all of a built-in chain without scores, while an operator's order stands", () => {
    expect(equalsOf([unknown, makeModel({ id: "other" })], new Map(), false)).toEqual(["unknown", "other"]);
    expect(equalsOf([unknown, makeModel({ id: "other" })])).toBeNull();
    expect(equallyGood(MODELS, { scenario: null, seen: new Map(), ...inTier(true, null) })).toBeNull();
  });

  it.each([
    ["those above its floor", ["plain"], ["plain"]],
    ["all, where none is above it", ["elsewhere"], ["first", "plain", "second"]],
    ["all, where it has none", null, ["first", "plain", "second"]],
  ])("are, in a tier without tools, %s", (_name, proven, expected) => {
    const given = { scenario: null, seen: new Map(), ...inTier(false, proven) };
    const isEqual = equallyGood(MODELS, given) as NonNullable<ReturnType<typeof equallyGood>>;
    expect(
      MODELS.filter(isEqual)
        .map(({ id }) => id)
        .sort(),
    ).toEqual(expected);
  });
});

describe("a decision", () => {
  const catalog = makeCatalog({ chains: Object.fromEntries(TIERS.map((tier) => [tier, MODELS])) });
  const tools = [{ name: "get_weather", description: "The weather in a city", parameters: null }];
  const chat = makeChat({ messages: [{ role: "user", content: "What is the weather in Rome?" }], tools });
  const ask = (toolCallsSeen: ToolCallsSeen, toolScoreMin: number | null = null) => {
    const controls = { ...NO_CONTROLS, toolScoreMin };
    return decide({ chat, controls, constraints: NO_CONSTRAINTS, restingModels: new Map(), toolCallsSeen }, catalog);
  };

  it("names the static score and explains the order", () => {
    const decision = ask(seen("first", 100, 0));
    expect(decision).toMatchObject({ model: "plain", toolScore: null, chain: ["plain", "second", "first"] });
    expect(decision.reasoning).toContain("ranked first with score 56.25 instead of 75: 100 of its 100 observed");
  });

  it("filters by the static score, the benchmark that the filter means", () => {
    expect(ask(seen("first", 100, 0), 72)).toMatchObject({ chain: ["first"] });
  });
});
