// The baseline by its rule: the cheapest flagship among the first ten of two benchmarks, at its regular price.

import { describe, expect, it } from "vitest";
import { baselineOf } from "../../../src/catalog/baseline.ts";
import { buildCatalog } from "../../../src/catalog/build.ts";
import { readBuiltin } from "../../../src/catalog/builtin.ts";
import type { ModelRow } from "../../../src/catalog/rows.ts";

function row(id: string, changes: Partial<ModelRow> = {}): ModelRow {
  return {
    ...{ id, provider: "lab", price: { input: 2, output: 10 }, context: 200_000, maxOutput: 1000 },
    ...{
      capabilities: ["tools", "vision"],
      evidence: { overallRank: 10, agentRank: 10 },
      isFlagship: true,
      ...changes,
    },
  };
}

describe("the baseline", () => {
  it("is the cheapest of the flagships that fit", () => {
    expect(baselineOf([row("dear", { price: { input: 4, output: 20 } }), row("cheap")])?.id).toBe("cheap");
    expect(baselineOf([])).toBeNull();
  });

  it.each([
    ["is no flagship", { isFlagship: false }],
    ["takes no images", { capabilities: ["tools"] }],
    ["takes no tools", { capabilities: ["vision"] }],
    ["has a small window", { context: 199_999 }],
    ["is eleventh in one benchmark", { evidence: { overallRank: 11, agentRank: 1 } }],
    ["was measured by one owner", { evidence: { overallRank: 1 } }],
    [
      "has a promotion alone",
      { price: { input: 1, output: 5, changes: [{ from: "2026-12-01", input: 9, output: 9 }] } },
    ],
  ] as const)("is none that %s", (_, changes) => {
    const other = row("other", { price: { input: 3, output: 12 } });
    expect(
      baselineOf([row("wrong", { price: { input: 1, output: 5 }, ...changes } as Partial<ModelRow>), other])?.id,
    ).toBe("other");
  });

  it("of the catalogue that ships is counted at a price with date and source", () => {
    const baseline = baselineOf(readBuiltin().models);
    expect(baseline).toMatchObject({ id: "gpt-6.1-sol", tier: "COMPLEX", priceAsOf: "2026-11-18" });
    expect(buildCatalog().catalog?.baseline.id).toBe(baseline?.id);
  });
});
