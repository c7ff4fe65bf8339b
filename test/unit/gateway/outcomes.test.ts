// What samples prove: bounds, states and the sentence.

import { describe, expect, it } from "vitest";
import type { MarkedSample } from "../../../src/core/requests/outcomes.ts";
import {
  groupOutcomes,
  outcomeSentence,
  samplesNeeded,
  summarize,
  wilson,
} from "../../../src/gateway/operate/outcomes.ts";

const side = (model: string, cost: bigint, latencyMs = 100) => ({ model, outputTokens: 10, latencyMs, cost });

function sample(changes: Partial<MarkedSample> = {}): MarkedSample {
  return {
    id: "r1",
    requestId: "req_1",
    profileId: "p",
    atMs: 0,
    tier: "LIGHT",
    category: "general",
    live: side("small", 10n),
    second: side("large", 100n),
    verdict: "same",
    similarity: 1,
    markedTier: null,
    score: null,
    ...changes,
  };
}
const many = (count: number, changes: Partial<MarkedSample> = {}) =>
  Array.from({ length: count }, () => sample(changes));

describe("Wilson's bounds", () => {
  it.each([
    // Computed apart, in Python.
    [8, 10, 0.490157, 0.943319],
    [0, 10, 0, 0.27754],
    [10, 10, 0.72246, 1],
    [950, 1000, 0.934686, 0.96187],
  ])("%i of %i", (agreed, judged, low, high) => {
    expect(wilson(agreed, judged).low).toBeCloseTo(low, 4);
    expect(wilson(agreed, judged).high).toBeCloseTo(high, 4);
  });

  it("narrow with every sample", () => {
    const needed = samplesNeeded(wilson(95, 100), 0.9) ?? 0;
    expect(wilson(0.95 * needed, needed).low).toBeGreaterThanOrEqual(0.9);
    expect(samplesNeeded(wilson(9, 10), 0.9)).toBeNull();
  });
});

describe("the state", () => {
  it.each([
    ["holds_up", many(100)],
    ["too_few", many(10)],
    ["worse", [...many(50), ...many(50, { verdict: "different" })]],
    ["too_few", many(100, { verdict: "unclear" })],
    ["too_few", []],
  ] as const)("%s", (state, samples) => {
    expect(summarize(samples, 0.9).state).toBe(state);
  });

  it("counts other arguments as not agreed", () => {
    const { agreed, judged, sameTool } = summarize([...many(3), ...many(2, { verdict: "same_tool" })], 0.9);
    expect([agreed, judged, sameTool]).toEqual([3, 5, 2]);
  });
});

describe("marks", () => {
  it("judge the answer that was delivered where it is the cheaper one", () => {
    const samples = [
      sample({ verdict: "different", score: 1 }),
      sample({ verdict: "unclear", score: 0.4 }),
      sample({ verdict: "unclear", markedTier: "LIGHT" }),
      sample({ verdict: "same", markedTier: "COMPLEX", score: 1 }),
      sample({ verdict: "unclear" }),
    ];
    expect(summarize(samples, 0.9)).toMatchObject({ samples: 5, judged: 4, agreed: 2, marked: 4 });
  });

  it("say nothing about a second model that is cheaper", () => {
    const swapped = { live: side("large", 100n), second: side("small", 10n) };
    const samples = [sample({ ...swapped, verdict: "different", score: 1 })];
    expect(summarize(samples, 0.9)).toMatchObject({ judged: 1, agreed: 0, marked: 0 });
  });
});

it("groups by category and tier, with cost and median latency", () => {
  const groups = groupOutcomes(
    [
      ...many(2, { category: "math", tier: "COMPLEX" }),
      sample({ live: side("small", 10n, 50) }),
      sample({ live: side("small", 30n, 300) }),
      sample({ live: side("small", 20n, 70) }),
    ],
    0.9,
  );
  expect(groups.map(({ category, samples }) => [category, samples])).toEqual([
    ["general", 3],
    ["math", 2],
  ]);
  expect(groups[0]).toMatchObject({ live: { cost: 60n, latencyMs: 70 }, second: { cost: 300n, latencyMs: 100 } });
});

describe("the sentence", () => {
  it.each([
    [
      many(100),
      "Your chain holds up: 100% of 100 judged answers agree with large (95% confidence: 96% to 100%), at 10% of its cost.",
    ],
    [
      many(20, { verdict: "different" }),
      "Your chain is worse: 0% of 20 judged answers agree with large (95% confidence: 0% to 16%), below 90%, at 10% of its cost.",
    ],
    [
      many(10),
      "Not enough data yet: 100% of 10 judged answers agree with large (95% confidence: 72% to 100%). About 37 are needed for a verdict.",
    ],
    [
      many(3, { verdict: "unclear" }),
      "Not enough data yet: none of 3 samples could be judged. Longer texts need feedback from your application.",
    ],
  ])("%#", (samples, words) => {
    expect(outcomeSentence(samples, "large", 0.9)).toBe(words);
  });

  it("is about the second model where that is the cheaper one", () => {
    const swapped = { live: side("large", 100n), second: side("small", 10n) };
    expect(outcomeSentence(many(100, swapped), "small", 0.9)).toMatch(/^small holds up: .* agree with your chain/);
  });
});
