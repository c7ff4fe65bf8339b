// @ts-check
// Builds dist/ from src/ and ui/ when a source changed. The new build takes the old one's place only when it is complete.

import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isFresh, listFiles, printsOf } from "./fingerprint.mjs";
import { carrySite } from "./site.mjs";
import { SetupError, tail, withSetupLock } from "./surroundings.mjs";
import { buildUi, uiInputsOf } from "./ui.mjs";

/** @typedef {import("./surroundings.mjs").Surroundings} Surroundings */

const STAMP = ".stamp.json";
/** At the depth of dist/ itself, since source maps hold relative paths; .gitignore knows the name. */
const TEMPORARY = ".dist-";
/**
 * Each of several checkers works out for itself the types that files share: four take 1.4 to 2.4 times the processor time
 * of one, and are done sooner only where cores are idle.
 */
export const ONE_CHECKER = ["--checkers", "1"];
const SETTINGS = ["package.json", "tsconfig.json", "scripts/setup/bundle.mjs", "scripts/setup/licences.mjs"];

export async function ensureBuild(/** @type {Surroundings} */ surroundings) {
  const { root, progress } = surroundings;
  if (isBuilt(root)) return;
  await withSetupLock(surroundings, async () => {
    if (isBuilt(root)) return;
    await progress.step("building", () => build(surroundings));
  });
}

/** Is dist/ the build of these sources? */
export function isBuilt(/** @type {string} */ root) {
  return isFresh({ root, stamp: join(root, "dist", STAMP), inputs: inputsOf(root) });
}

function inputsOf(/** @type {string} */ root) {
  return [...SETTINGS, ...listFiles(root, "src"), ...uiInputsOf(root)];
}

async function build(/** @type {Surroundings} */ surroundings) {
  const { root } = surroundings;
  removeLeftovers(root);
  // Taken before compiling: a source saved meanwhile makes the build stale, as it should.
  const stamp = printsOf(root, inputsOf(root));
  const next = join(root, `${TEMPORARY}${process.pid}`);
  try {
    await compile(surroundings, { project: "src/tsconfig.json", outDir: next });
    copyAssets(root, next);
    await bundle(surroundings, next);
    await buildUi(surroundings, next);
    carrySite(root, next);
    writeFileSync(join(next, STAMP), JSON.stringify(stamp));
    swapIn(root, next);
  } finally {
    rmSync(next, { recursive: true, force: true });
  }
}

/** Only the holder of the lock builds, so whatever else bears the name was left by a build that was killed. */
function removeLeftovers(/** @type {string} */ root) {
  for (const name of readdirSync(root))
    if (name.startsWith(TEMPORARY)) rmSync(join(root, name), { recursive: true, force: true });
}

/**
 * @param {Surroundings} surroundings
 * @param {{ project: string, outDir: string }} target
 */
export async function compile({ root, run }, { project, outDir }) {
  const compiler = join(root, "node_modules", "typescript", "bin", "tsc");
  const args = [compiler, ...ONE_CHECKER, "-p", project, "--outDir", outDir];
  const { code, output } = await run(process.execPath, args, { cwd: root });
  if (code === 0) return;
  throw new SetupError(`The compiler found errors, so nothing was built:\n${tail(output, 40)}`);
}

/**
 * @param {Surroundings} surroundings
 * @param {string} outDir
 */
async function bundle({ root, run }, outDir) {
  const program = join(root, "scripts", "setup", "bundle.mjs");
  const { code, output } = await run(process.execPath, [program, outDir], { cwd: root });
  if (code !== 0) throw new SetupError(`The program could not be bundled:\n${tail(output, 40)}`);
}

/** What the compiler does not write (SQL, data, plain scripts) goes beside the compiled files as it is. */
export function copyAssets(/** @type {string} */ root, /** @type {string} */ outDir) {
  for (const path of listFiles(root, "src")) {
    if (path.endsWith(".ts") || path === "src/tsconfig.json") continue;
    const target = join(outDir, path.slice("src/".length));
    mkdirSync(dirname(target), { recursive: true });
    cpSync(join(root, path), target);
  }
}

function swapIn(/** @type {string} */ root, /** @type {string} */ next) {
  const dist = join(root, "dist");
  const old = `${next}-old`;
  if (existsSync(dist)) renameSync(dist, old);
  renameSync(next, dist);
  rmSync(old, { recursive: true, force: true });
}
