// The map of the code tells the truth: docs/ARCHITECTURE.md names every file of src/ and nothing else.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { compareTree, drawTree, firstSentence } from "../../../scripts/architecture.mjs";
import { listFiles } from "../../../scripts/setup/fingerprint.mjs";

const ROOT = join(import.meta.dirname, "../../..");
const folder = mkdtempSync(join(tmpdir(), "switchyard-architecture-"));

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("docs/ARCHITECTURE.md", () => {
  test("names exactly the files of src/", () => {
    const page = readFileSync(join(ROOT, "docs/ARCHITECTURE.md"), "utf8");
    expect(pathsInTree(page)).toEqual(listFiles(ROOT, "src"));
  });

  test("describes each as the file describes itself (node scripts/architecture.mjs redraws it)", () => {
    const { drawn, expected } = compareTree(ROOT);
    expect(drawn).toBe(expected);
  });

  test("has something to say of each file", () => {
    expect(compareTree(ROOT).silent).toEqual([]);
  });
});

test("the tree shows files before folders, each folder once", () => {
  const paths = ["src/b.ts", "src/a/z.ts", "src/a/deep/x.sql", "src/a/y.json"];
  for (const path of paths) write(path, path.endsWith(".sql") ? "-- Says sql.\n" : "// Says it. More.\n");
  expect(drawTree(folder, paths).split("\n")).toEqual([
    "src/",
    "  b.ts                          Says it",
    "  a/",
    "    y.json                      Data",
    "    z.ts                        Says it",
    "    deep/",
    "      x.sql                     Says sql",
  ]);
});

test.each([
  ["// One sentence.\n\nimport x;", "One sentence"],
  ["// Goes over\n// two lines. And on.\n", "Goes over two lines"],
  ["#!/usr/bin/env node\n// @ts-check\n// After the marks.\n", "After the marks"],
  ["/**\n * In a block. More.\n */\n", "In a block"],
  ["// Version 1.5 of e.g. this thing.\n", "Version 1.5 of e.g. this thing"],
  ["export const x = 1;\n// Too late.\n", ""],
])("the first sentence of %j", (text, sentence) => {
  expect(firstSentence(text)).toBe(sentence);
});

/** Reads the tree back by its indentation, independently of how it was drawn. */
function pathsInTree(page: string): string[] {
  const block = /<!-- tree:begin.*?-->\s*```text\n(.*?)\n```\s*<!-- tree:end -->/s.exec(page)?.[1] ?? "";
  const folders: string[] = [];
  const paths: string[] = [];
  for (const line of block.split("\n")) {
    const depth = (line.length - line.trimStart().length) / 2;
    const name = line.trim().split(" ")[0]!;
    folders.length = depth;
    if (name.endsWith("/")) folders.push(name.slice(0, -1));
    else paths.push([...folders, name].join("/"));
  }
  return paths.sort();
}

function write(path: string, text: string): void {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
