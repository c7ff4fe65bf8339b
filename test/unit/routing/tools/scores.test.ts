// The blend of static scores with what was seen of calls, and the order that follows from it.

import { describe, expect, it } from "vitest";
import { NO_CONSTRAINTS, NO_CONTROLS, type ToolCallsSeen } from "../../../../src/core/decision.ts";
import { TIERS } from "../../../../src/core/tiers.ts";
import { decide } from "../../../../src/routing/decide.ts";
import { blendScore, rankByToolScore } from "../../../../src/routing/tools/scores.ts";
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
    const byStatic = ["first", "second", "plain"];
    expect(idsOf(new Map())).toEqual(byStatic);
    expect(idsOf(seen("first", 29, 0))).toEqual(byStatic);
    expect(idsOf(seen("second", 5_000, 5_000))).toEqual(byStatic);
  });

  it("puts a model lower whose calls could not be used, and says so", () => {
    const { models, notes } = rankByToolScore(MODELS, "single", seen("first", 100, 60));
    expect(models.map(({ id }) => id)).toEqual(["second", "first", "plain"]);
    expect(notes).toEqual([
      "ordered by function-calling score for single",
      "ranked first with score 56.25 instead of 75: 40 of its 100 observed tool calls were unusable",
    ]);
  });

  it("heeds only what was seen in the same scenario", () => {
    expect(idsOf(new Map([["first", { parallel: { calls: 100, valid: 0 } }]]))).toEqual(["first", "second", "plain"]);
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
    expect(decision).toMatchObject({ model: "second", toolScore: 70, chain: ["second", "first", "plain"] });
    expect(decision.reasoning).toContain("ranked first with score 56.25 instead of 75: 100 of its 100 observed");
  });

  it("filters by the static score, the benchmark that the filter means", () => {
    expect(ask(seen("first", 100, 0), 72)).toMatchObject({ chain: ["first"] });
  });
});
