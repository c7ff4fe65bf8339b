// docs/contribute/architecture.md is a true and short map: every folder is on it, every file it names exists.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { LAYER_FOLDERS } from "../../../scripts/layers.mjs";

const ROOT = join(import.meta.dirname, "../../..");
const page = readFileSync(join(ROOT, "docs/contribute/architecture.md"), "utf8");
const WORDS_MAX = 1_500;

describe("docs/contribute/architecture.md", () => {
  test("describes every folder of src/ and ui/, and no other", () => {
    const described = [...page.matchAll(/^\| `((?:src|ui)[^`]*)\/` \| (.+) \|$/gm)];
    expect(described.map(([, folder]) => folder).sort()).toEqual(["src", "ui"].flatMap(foldersBelow).sort());
    for (const [, , words] of described) expect(words?.split(" ").length).toBeLessThanOrEqual(24);
  });

  test("names the folders of every layer", () => {
    const layers = page.slice(page.indexOf("## Layers"), page.indexOf("## One request"));
    for (const { folder } of LAYER_FOLDERS) expect(layers).toContain(`\`${folder}/\``);
  });

  test("tells one request's way by files that exist", () => {
    const way = page.slice(page.indexOf("## One request"), page.indexOf("## Three promises"));
    const files = filesNamed(way);
    expect(files.length).toBeGreaterThan(9);
    expect(files).toContain("src/gateway/complete.ts");
    expect([...files, ...filesNamed(page)].filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  test("can be read in five minutes", () => {
    expect(page.split(/\s+/).filter((word) => /\w/.test(word)).length).toBeLessThan(WORDS_MAX);
  });
});

test("a request is readable on one screen: complete() runs the steps in the order the page tells", () => {
  const text = readFileSync(join(ROOT, "src/gateway/complete.ts"), "utf8");
  const body = /export async function complete\(.*?\n}\n/s.exec(text)?.[0] ?? "";
  expect(body.split("\n").length).toBeLessThan(45);
  const steps = ["route(", "reserve(", "attempt(", "answer(", "reportOf("].map((step) => body.indexOf(step));
  expect(steps).not.toContain(-1);
  expect(steps).toEqual([...steps].sort((a, b) => a - b));
});

function filesNamed(text: string): string[] {
  return [...text.matchAll(/`((?:src|ui|scripts|test)\/[\w./-]+\.\w+)`/g)].map(([, path]) => path ?? "");
}

/** Not src/ itself: the page is about what is in it. */
function foldersBelow(folder: string): string[] {
  const children = readdirSync(join(ROOT, folder), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const below = children.flatMap((entry) => foldersBelow(`${folder}/${entry.name}`));
  return folder === "src" ? below : [folder, ...below];
}
