// @ts-check
// Builds the documentation from docs/ into dist/docs. It takes longer than the rest of the build and nothing but /docs needs
// it, so it has packages and a stamp of its own and a first start does not wait for it.

import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { swapIn } from "./build.mjs";
import { compressInPlace } from "./compress.mjs";
import { listFiles, printOf, readJson } from "./files.mjs";
import { runNode } from "./run.mjs";

const FOLDER = "dist/docs";
const STAMP = ".stamp.json";

/** Is dist/docs the site of these pages? A package or a checkout without pages has nothing to build. */
export function isSiteBuilt(/** @type {string} */ root) {
  return !existsSync(join(root, "docs")) || readJson(join(root, FOLDER, STAMP)) === sitePrint(root);
}

function sitePrint(/** @type {string} */ root) {
  return printOf(root, ["scripts/setup/licences.mjs", ...listFiles(root, "docs")]);
}

export async function buildSite(/** @type {string} */ root) {
  const print = sitePrint(root);
  const next = join(root, `.dist-docs-${process.pid}`);
  try {
    const args = ["docs/node_modules/vitepress/bin/vitepress.js", "build", "docs", "--outDir", next];
    await runNode(root, args, "The documentation could not be built");
    // Brotli would save a fifth more and cost more time than all the rest.
    compressInPlace(next);
    writeFileSync(join(next, STAMP), JSON.stringify(print));
    swapIn(next, join(root, FOLDER));
  } finally {
    rmSync(next, { recursive: true, force: true });
  }
}
