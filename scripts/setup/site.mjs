// @ts-check
// Builds the documentation from docs/ into dist/docs when a page changed. It takes longer than the rest of the build and
// nothing but /docs needs it, so it has a stamp of its own and a first start does not wait for it.

import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { constants, setPriority } from "node:os";
import { join } from "node:path";
import { compress } from "./compress.mjs";
import { isFresh, listFiles, printsOf } from "./fingerprint.mjs";
import { SetupError, tail, withSetupLock } from "./surroundings.mjs";

/** @typedef {import("./surroundings.mjs").Surroundings} Surroundings */

const FOLDER = "dist/docs";
const STAMP = `${FOLDER}/.stamp.json`;

export async function ensureSite(/** @type {Surroundings} */ surroundings) {
  const { root, progress } = surroundings;
  if (isSiteBuilt(root)) return;
  await withSetupLock(surroundings, async () => {
    if (isSiteBuilt(root)) return;
    await progress.step("building the documentation", () => buildSite(surroundings));
  });
}

/**
 * Builds a stale site beside the server that is about to start, at low priority. Until then /docs shows the old one.
 * Nothing is said over the channel; the build ends when it closes, however this process ended.
 */
export function buildSiteInBackground(/** @type {string} */ root) {
  if (isSiteBuilt(root)) return;
  const stdio = /** @type {const} */ (["ignore", "ignore", "ignore", "ipc"]);
  const child = spawn(process.execPath, [join(root, "scripts/docs-build.mjs")], { cwd: root, stdio: [...stdio] });
  child.on("error", () => {});
  child.channel?.unref();
  if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL);
  child.unref();
}

/** For the build in the background: ends it with the process that started it. */
export function endWithStarter() {
  process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));
  process.channel?.unref();
}

/** A new build of the server keeps the site that is there. */
export function carrySite(/** @type {string} */ root, /** @type {string} */ outDir) {
  const old = join(root, FOLDER);
  if (existsSync(old)) cpSync(old, join(outDir, "docs"), { recursive: true, preserveTimestamps: true });
}

/** Is dist/docs the site of these pages? A package or a checkout without pages has nothing to build. */
export function isSiteBuilt(/** @type {string} */ root) {
  const hasPages = listFiles(root, "docs").length > 0;
  return !hasPages || isFresh({ root, stamp: join(root, STAMP), inputs: inputsOf(root) });
}

/** The version of the generator is part of the site, and the lock file names it. */
function inputsOf(/** @type {string} */ root) {
  return ["package-lock.json", "scripts/setup/licences.mjs", ...listFiles(root, "docs")];
}

async function buildSite(/** @type {Surroundings} */ { root, run }) {
  const stamp = printsOf(root, inputsOf(root));
  const next = join(root, `.dist-docs-${process.pid}`);
  try {
    const generator = join(root, "node_modules", "vitepress", "bin", "vitepress.js");
    const { code, output } = await run(process.execPath, [generator, "build", "docs", "--outDir", next], { cwd: root });
    if (code !== 0) throw new SetupError(`The documentation could not be built:\n${tail(output, 40)}`);
    // Brotli would save a fifth more and cost more time than all the rest.
    compress(next, ["gz"]);
    writeFileSync(join(next, ".stamp.json"), JSON.stringify(stamp));
    swapIn(root, next);
  } finally {
    rmSync(next, { recursive: true, force: true });
  }
}

function swapIn(/** @type {string} */ root, /** @type {string} */ next) {
  const folder = join(root, FOLDER);
  const old = `${next}-old`;
  mkdirSync(join(root, "dist"), { recursive: true });
  if (existsSync(folder)) renameSync(folder, old);
  renameSync(next, folder);
  rmSync(old, { recursive: true, force: true });
}
