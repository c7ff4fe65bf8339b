import { describe, expect, it } from "vitest";
import { saferTier } from "../../../src/routing/safer.ts";

describe("the tier of a classification that is not sure", () => {
  it.each([
    ["is the one above where the score is nearer to it", "LIGHT", 0.51, "STANDARD"],
    ["stays where the score is nearer to the tier below", "STANDARD", 0.62, "STANDARD"],
    ["is never below the unsure tier", "NANO", 0.05, "LIGHT"],
    ["is never above COMPLEX", "COMPLEX", 0.95, "COMPLEX"],
  ] as const)("%s", (_what, tier, score, safer) => {
    expect(saferTier({ tier, score }, "LIGHT")).toBe(safer);
  });

  it("is the unsure tier alone where no score is known, or another step moved the tier", () => {
    expect(saferTier({ tier: "LIGHT" }, "LIGHT")).toBe("LIGHT");
    expect(saferTier({ tier: "STANDARD", score: 0.35 }, "LIGHT")).toBe("STANDARD");
  });
});
