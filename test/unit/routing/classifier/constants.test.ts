// The constants cite experiments of the lab notebook; the notebook shows some of their values.

import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { HISTORY, PLACE, STEEPNESS, STORY, TOKENS, USUAL_TIER } from "../../../../src/routing/classifier/constants.ts";

const NOTEBOOK = readFileSync("docs/contribute/routing-experiments.md", "utf8");
const GUIDE = readFileSync("docs/concepts/routing.md", "utf8");
const SOURCES = ["constants.ts", "signals.ts"].map((name) => readFileSync(`src/routing/classifier/${name}`, "utf8"));

describe("the provenance of the constants", () => {
  it("is in the lab notebook: every experiment that a comment cites has a section", () => {
    const cited = new Set(SOURCES.join("\n").match(/\bE\d{1,2}\b/g));
    const missing = [...cited].filter((number) => !NOTEBOOK.includes(`\n## ${number}: `));
    expect(cited.size).toBeGreaterThan(5);
    expect(missing).toEqual([]);
  });

  it("is said of every group", () => {
    const groups = SOURCES[0]?.match(/^export const \w+/gm) ?? [];
    const commented = SOURCES[0]?.match(/\*\/\nexport const \w+/g) ?? [];
    expect(commented).toHaveLength(groups.length);
  });
});

describe("the pages show the values of the code", () => {
  it("in the notebook", () => {
    expect(NOTEBOOK).toContain(`| mathematics | ${USUAL_TIER.math} |`);
    expect(NOTEBOOK).toContain(`| reasoning | ${USUAL_TIER.reasoning} |`);
    expect(NOTEBOOK).toContain(`| coding | ${USUAL_TIER.coding_general_debugging_refactoring_testing} |`);
    expect(NOTEBOOK).toContain(`starts ${-PLACE.testShift} lower`);
    expect(NOTEBOOK).toContain(`× ${STEEPNESS.other.slope}, ${STEEPNESS.math.slope} for mathematics`);
    expect(NOTEBOOK).toContain(`${STORY.ease} lower, and the other moves × ${1 - STORY.calm}`);
    expect(NOTEBOOK).toContain(`first ${TOKENS.askingHead} and before the last ${TOKENS.askingTail} words`);
  });

  it("in the guide", () => {
    expect(HISTORY).toMatchObject({ followUpWordsMax: 12, lookBackMax: 8 });
    expect(GUIDE).toContain("at most twelve words");
    expect(GUIDE).toContain("Up to eight earlier requests");
  });
});
