// @ts-check
// npm run docs: rewrites everything in the repository that is generated from code or tables.
// With --check it writes nothing, names what is stale and ends with 1.

import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { hushJsonImports } from "./launch.mjs";
import { ROOT } from "./setup/files.mjs";
import { fillBlock } from "./setup/generated.mjs";
import { ensureBuild, ensureInstalled, runScript } from "./setup.mjs";

/**
 * One generated text: a whole file, or the block of a file that carries this name (see scripts/setup/generated.mjs).
 * @typedef {{ path: string, text: string, block?: string }} Generated
 */
/**
 * Loads one compiled module of src/ by its source path, for instance `load("config/reference.ts")`.
 * @typedef {(path: string) => Promise<any>} Load
 */
/** @typedef {{ render: (root: string, load: Load) => readonly Generated[] | Promise<readonly Generated[]> }} Renderer */

const RENDERERS = "scripts/docs";

/**
 * Every generated file as it should be. Each file in scripts/docs/ exports one `render(root, load)`.
 * Blocks of one page may come from several renderers, so a page is read once and filled step by step.
 */
export async function renderAll(/** @type {string} */ root, /** @type {Load} */ load) {
  /** @type {Map<string, string>} */
  const files = new Map();
  for (const name of readdirSync(join(root, RENDERERS)).sort()) {
    /** @type {Renderer} */
    const { render } = await import(pathToFileURL(join(root, RENDERERS, name)).href);
    for (const { path, text, block } of await render(root, load)) {
      const before = files.get(path) ?? current(root, path);
      files.set(path, block === undefined ? text : fillBlock({ path, page: before, block, text }));
    }
  }
  return files;
}

/** The paths whose text on disk differs from what the code says. */
export function staleFiles(/** @type {string} */ root, /** @type {ReadonlyMap<string, string>} */ files) {
  return [...files].filter(([path, text]) => current(root, path) !== text).map(([path]) => path);
}

function current(/** @type {string} */ root, /** @type {string} */ path) {
  const file = join(root, path);
  return existsSync(file) ? readFileSync(file, "utf8") : "";
}

/** The built program holds every module of src/ at the same place, so no second compiler run is needed. */
function fromBuild(/** @type {string} */ path) {
  return import(pathToFileURL(join(ROOT, "dist", path.replace(/\.ts$/, ".js"))).href);
}

async function main() {
  await ensureBuild();
  await ensureInstalled("test");
  hushJsonImports();
  const files = await renderAll(ROOT, fromBuild);
  const stale = staleFiles(ROOT, files);
  const isCheck = process.argv.includes("--check");
  for (const path of stale) {
    if (!isCheck) writeFileSync(join(ROOT, path), files.get(path) ?? "");
    console.log(isCheck ? `stale: ${path}` : `wrote ${path}`);
  }
  if (isCheck && stale.length > 0) {
    console.error("Run `npm run docs` to bring these files up to date.");
    process.exitCode = 1;
  }
  if (stale.length === 0) console.log(`All ${files.size} generated files are up to date.`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await runScript(main);
