// docs/contribute/testing.md says which test stands for which fault. Every test it names exists, and every case a test names is there.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../../..");
const page = readFileSync(join(ROOT, "docs/contribute/testing.md"), "utf8");
const rows = [...page.matchAll(/^\| (\d+)(?:–(\d+))? \| .* \| (.*) \|$/gm)].map(([, first, last, tests]) => ({
  first: Number(first),
  last: Number(last ?? first),
  text: tests ?? "",
  tests: [...(tests ?? "").matchAll(/`(test\/[^`]+)`/g)].map(([, path]) => path ?? ""),
}));

test("every case is proved by something, and stands once", () => {
  expect(
    rows.filter(({ tests, text }) => tests.length === 0 && !text.includes("npm run")).map(({ first }) => first),
  ).toEqual([]);
  const numbers = rows.flatMap(({ first, last }) =>
    Array.from({ length: last - first + 1 }, (_, step) => first + step),
  );
  expect(new Set(numbers).size).toBe(numbers.length);
  expect(numbers.length).toBeGreaterThan(75);
});

const findings = [...page.matchAll(/^\| U(\d+) \| .* \| (.*) \|$/gm)].map(([, number, tests]) => ({
  number: Number(number),
  tests: [...(tests ?? "").matchAll(/`(test\/[^`]+)`/g)].map(([, path]) => path ?? ""),
}));

test("every finding of the dashboard's review is proved by something", () => {
  expect(findings.map(({ number }) => number)).toEqual(Array.from({ length: 30 }, (_, index) => index + 1));
  expect(findings.filter(({ tests }) => tests.length === 0)).toEqual([]);
});

test("every test it names exists", () => {
  expect(rows.length).toBeGreaterThan(25);
  const named = [...rows, ...findings].flatMap(({ tests }) => tests);
  expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});

test("a test that names a case is in the case's row", () => {
  const files = readdirSync(join(ROOT, "test/fault"), { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".test.ts"),
  );
  const missing = files.flatMap((name) => {
    const path = `test/fault/${name}`;
    const text = readFileSync(join(ROOT, path), "utf8");
    const numbers = [...text.matchAll(/\b[Cc]ase (\d+):/g), ...text.matchAll(/\bnumber: (\d+), /g)];
    return [...new Set(numbers.map(([, number]) => Number(number)))]
      .filter((number) => !rows.some((row) => row.first <= number && number <= row.last && row.tests.includes(path)))
      .map((number) => `${path}: case ${number}`);
  });
  expect(missing).toEqual([]);
});
