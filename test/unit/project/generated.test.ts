// Everything generated is up to date: `npm run docs` would change no file.

import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import { renderAll, staleFiles } from "../../../scripts/docs.mjs";
import { blockBegin, blockEnd, fillBlock } from "../../../scripts/setup/generated.mjs";

const ROOT = join(import.meta.dirname, "../../..");

test("every generated file says what the code says (npm run docs rewrites them)", async () => {
  const files = await renderAll(ROOT, (path) => import(pathToFileURL(join(ROOT, "src", path)).href));
  expect(files.size).toBeGreaterThan(0);
  expect(staleFiles(ROOT, files)).toEqual([]);
});

describe("a generated block", () => {
  const page = `Before.\n\n${blockBegin("a")}\n\nold\n\n${blockEnd("a")}\n\nAfter.\n`;

  test("is replaced, and the words around it stay", () => {
    const filled = fillBlock({ path: "page.md", page, block: "a", text: "new\n" });
    expect(filled).toBe(page.replace("old", "new"));
  });

  test("must exist on the page", () => {
    expect(() => fillBlock({ path: "page.md", page, block: "b", text: "new" })).toThrow("page.md has no block");
  });
});
