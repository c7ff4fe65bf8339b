// Every rule that code or a test cites as `Behaviour n.m` stands on docs/contribute/behaviour.md.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { listFiles } from "../../../scripts/setup/files.mjs";

const ROOT = join(import.meta.dirname, "../../..");
const page = readFileSync(join(ROOT, "docs/contribute/behaviour.md"), "utf8");
const sections = [...page.matchAll(/^## (\d+)\. /gm)].map(([, number]) => Number(number));
const rules = [...page.matchAll(/^\*\*(\d+)\.(\d+)\*\* /gm)].map(([, section, rule]) => `${section}.${rule}`);
const CITATION = /\bBehaviour (\d+(?:\.\d+)?(?:(?:, | and | to )\d+(?:\.\d+)?)*)/g;

describe("docs/contribute/behaviour.md", () => {
  test("numbers its sections and rules without a gap", () => {
    expect(sections).toEqual(sections.map((_, index) => index + 1));
    for (const section of sections) {
      const own = rules.filter((rule) => rule.startsWith(`${section}.`));
      expect(own).toEqual(own.map((_, index) => `${section}.${index + 1}`));
      expect(own.length).toBeGreaterThan(0);
    }
    expect(rules.filter((rule) => !sections.includes(Number(rule.split(".")[0])))).toEqual([]);
  });

  test("has every rule that is cited", () => {
    const known = new Set([...sections.map(String), ...rules]);
    const cited = citations();
    expect(cited.length).toBeGreaterThan(20);
    expect(cited.filter(({ number }) => !known.has(number))).toEqual([]);
  });

  test("is the only list of rules that is cited", () => {
    const files = ["src", "ui", "test", "bench", "eval", "docs"].flatMap((folder) => listFiles(ROOT, folder));
    const texts = files.filter(
      (path) => /\.(tsx?|mjs|md|sql)$/.test(path) && path !== "test/unit/project/behaviour.test.ts",
    );
    const elsewhere = texts.filter((path) => /\b(SPEC|CONTRACT) ?\d/.test(readFileSync(join(ROOT, path), "utf8")));
    expect(elsewhere).toEqual([]);
  });
});

function citations(): { path: string; number: string }[] {
  const paths = ["src", "ui", "test"]
    .flatMap((folder) => listFiles(ROOT, folder))
    .filter((path) => /\.tsx?$/.test(path));
  return paths.flatMap((path) =>
    [...readFileSync(join(ROOT, path), "utf8").matchAll(CITATION)].flatMap(([, numbers = ""]) =>
      numbers.split(/, | and | to /).map((number) => ({ path, number })),
    ),
  );
}
