// @ts-check
// Builds dist/ from src/ and ui/. The new build takes the old one's place only when it is complete.

import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { compress } from "./compress.mjs";
import { listFiles, printOf, readJson } from "./files.mjs";
import { runNode } from "./run.mjs";

const STAMP = ".stamp.json";
/** At the depth of dist/ itself, since source maps hold relative paths; .gitignore knows the name. */
const TEMPORARY = ".dist-";
const SETTINGS = [
  "package.json",
  "package-lock.json",
  "scripts/setup/bundle.mjs",
  "scripts/setup/catalogue-file.mjs",
  "scripts/setup/licences.mjs",
  "scripts/setup/transpile.mjs",
];

/** Is dist/ the build of these sources? */
export function isBuilt(/** @type {string} */ root) {
  return readJson(join(root, "dist", STAMP)) === printOf(root, inputsOf(root));
}

function inputsOf(/** @type {string} */ root) {
  return [...SETTINGS, ...listFiles(root, "src"), ...listFiles(root, "ui")];
}

export async function build(/** @type {string} */ root) {
  // Only the holder of the lock builds, so whatever else bears the name was left by a build that was killed.
  for (const name of readdirSync(root).filter((one) => one.startsWith(TEMPORARY)))
    rmSync(join(root, name), { recursive: true, force: true });
  // Taken before compiling: a source saved meanwhile makes the build stale, as it should.
  const print = printOf(root, inputsOf(root));
  const next = join(root, `${TEMPORARY}${process.pid}`);
  try {
    await transpile(root, ["src"], next);
    copyAssets(root, next);
    await runNode(root, ["scripts/setup/catalogue-file.mjs", next], "The catalogue's file could not be written");
    await runNode(root, ["scripts/setup/bundle.mjs", next], "The program could not be bundled");
    await buildUi(root, next);
    const site = join(root, "dist", "docs");
    if (existsSync(site)) cpSync(site, join(next, "docs"), { recursive: true, preserveTimestamps: true });
    writeFileSync(join(next, STAMP), JSON.stringify(print));
    swapIn(next, join(root, "dist"));
  } finally {
    rmSync(next, { recursive: true, force: true });
  }
}

/**
 * @param {string} root
 * @param {readonly string[]} folders
 * @param {string} outDir
 */
export async function transpile(root, folders, outDir) {
  const args = ["scripts/setup/transpile.mjs", outDir, ...folders];
  await runNode(root, args, "The sources have errors, so nothing was built");
}

/** Copies SQL, data and plain scripts to a place beside the transpiled files. */
export function copyAssets(/** @type {string} */ root, /** @type {string} */ outDir) {
  for (const path of listFiles(root, "src")) {
    if (path.endsWith(".ts")) continue;
    const target = join(outDir, path.slice("src/".length));
    mkdirSync(dirname(target), { recursive: true });
    cpSync(join(root, path), target);
  }
}

/** Builds the dashboard, or takes it over from the old build when nothing of it changed. */
async function buildUi(/** @type {string} */ root, /** @type {string} */ outDir) {
  // A checkout may come without the dashboard, as those made by tests do.
  if (listFiles(root, "ui").length === 0) return;
  // It also takes constants of the catalog and core, the paths of the formats, and the list of its pages.
  const folders = ["ui", "src/catalog", "src/core", "src/formats", "src/http/pages"];
  const inputs = [...SETTINGS, ...folders.flatMap((folder) => listFiles(root, folder))];
  const stamp = join("ui", STAMP);
  const print = printOf(root, inputs);
  if (readJson(join(root, "dist", stamp)) === print) {
    cpSync(join(root, "dist", "ui"), join(outDir, "ui"), { recursive: true });
    return;
  }
  const args = [
    "node_modules/vite/bin/vite.js",
    "build",
    "--config",
    "ui/vite.config.mjs",
    "--outDir",
    join(outDir, "ui"),
  ];
  await runNode(root, args, "The dashboard could not be built");
  compress(join(outDir, "ui"), ["gz", "br"]);
  writeFileSync(join(outDir, stamp), JSON.stringify(print));
}

/** Replaces a folder by its next version. */
export function swapIn(/** @type {string} */ next, /** @type {string} */ folder) {
  const old = `${next}-old`;
  mkdirSync(dirname(folder), { recursive: true });
  if (existsSync(folder)) renameSync(folder, old);
  renameSync(next, folder);
  rmSync(old, { recursive: true, force: true });
}
