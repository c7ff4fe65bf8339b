import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { generateCorpus } from "../../../../eval/corpus/generate.ts";
import { evaluate } from "../../../../eval/evaluate.ts";
import { makeRouters } from "../../../../eval/routers.ts";
import { categoryOf } from "../../../../eval/rows.ts";
import { buildCatalog } from "../../../../src/catalog/build.ts";
import { CATEGORIES } from "../../../../src/core/decision.ts";

const rows = generateCorpus(process.cwd());

describe("our own corpus", () => {
  /** Of the rows as lines of JSON. New templates change it: the weights that ship were learned from these rows. */
  const LEARNED_FROM = "0960e1841363f11cd13453835d48d0e0e10b005bb1dd2e0561c3ebc2e02efec5";

  it("is the one that the weights were learned from, made from its templates", () => {
    const text = `${rows.map((row) => JSON.stringify(row)).join("\n")}\n`;
    expect(createHash("sha256").update(text).digest("hex")).toBe(LEARNED_FROM);
  });

  it("has thousands of different prompts in English and fifteen other languages at least", () => {
    expect(new Set(rows.map(({ prompt }) => prompt)).size).toBeGreaterThan(3000);
    const languages = new Set(rows.map(({ label }) => label.language).filter((name) => name !== undefined));
    expect(languages.size).toBeGreaterThan(15);
  });

  it("has every category, every tier and every scenario that a first turn can have", () => {
    const kinds = new Set(rows.map(({ label }) => categoryOf(label.category ?? "")).filter((kind) => kind !== null));
    expect([...kinds].sort()).toEqual([...CATEGORIES].sort());
    const rungs = new Set(rows.map(({ label }) => label.ladder).filter((rung) => rung !== undefined));
    expect([...rungs].sort()).toEqual([0, 1, 2, 3, 4]);
    const scenarios = new Set(rows.map(({ label }) => label.scenario).filter((name) => name !== undefined));
    expect([...scenarios].sort()).toEqual(["memory", "optional", "parallel", "single", "web_search"]);
  });
});

describe("the router on our own corpus", () => {
  const { catalog } = buildCatalog();
  const routers = makeRouters(catalog!);
  const ours = evaluate(routers.ours!, rows);

  it("keeps its floors", () => {
    expect(ours.category!.accuracy).toBeGreaterThan(0.98);
    // Lower since the corpus has the same tasks in fifteen languages.
    expect(ours.category!.macroF1).toBeGreaterThan(0.975);
    expect(ours.codingF1!).toBeGreaterThan(0.99);
    expect(ours.ladder!.exact).toBeGreaterThan(0.83);
    expect(ours.ladder!.withinOne).toBeGreaterThan(0.99);
    expect(ours.scenario!.macroF1).toBeGreaterThan(0.8);
    expect(ours.difficultyRank!).toBeGreaterThan(0.8);
  });

  it("beats every baseline", () => {
    for (const name of ["length", "always STANDARD", "random"]) {
      const baseline = evaluate(routers[name]!, rows);
      expect(ours.ladder!.exact).toBeGreaterThan(baseline.ladder!.exact);
      expect(ours.difficultyRank!).toBeGreaterThan(baseline.difficultyRank!);
    }
  });
});
