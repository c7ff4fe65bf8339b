// @ts-check
// Gets a checkout ready to run: packages installed, sources built. Does nothing, in some milliseconds, when all is in
// place. Needs nothing but Node itself and npm, since it runs before anything is installed.

import { spawn } from "node:child_process";
import { constants, setPriority } from "node:os";
import { join } from "node:path";
import { nodeProblem } from "./launch.mjs";
import { build, isBuilt } from "./setup/build.mjs";
import { ROOT } from "./setup/files.mjs";
import { install, isInstalled } from "./setup/install.mjs";
import { withLock } from "./setup/lock.mjs";
import { SetupError, step } from "./setup/run.mjs";
import { buildSite, isSiteBuilt } from "./setup/site.mjs";

/** Folders with packages of their own. The root's build and serve, and npm start waits for nothing else. */
const GROUPS = { ".": "packages", docs: "packages of the documentation", test: "packages of the tests" };

/** Installs a group of packages where node_modules does not hold what its lock file names. */
export async function ensureInstalled(/** @type {keyof typeof GROUPS} */ group, root = ROOT) {
  const problem = nodeProblem();
  if (problem !== null) throw new SetupError(problem);
  const folder = join(root, group);
  await ensure(root, `installing the ${GROUPS[group]}`, {
    isDone: () => isInstalled(folder),
    work: () => install(folder),
  });
}

/** Builds dist/ where a source changed. */
export async function ensureBuild(root = ROOT) {
  await ensureInstalled(".", root);
  await ensure(root, "building", { isDone: () => isBuilt(root), work: () => build(root) });
}

/** Builds the documentation, which serving does not wait for. */
export async function ensureSite(root = ROOT) {
  if (isSiteBuilt(root)) return;
  await ensureInstalled("docs", root);
  await ensure(root, "building the documentation", { isDone: () => isSiteBuilt(root), work: () => buildSite(root) });
}

/**
 * Does a piece of work that is not done yet, after any other that is under way in this checkout.
 * @param {string} root
 * @param {string} label
 * @param {{ isDone: () => boolean, work: () => Promise<void> }} piece
 */
async function ensure(root, label, { isDone, work }) {
  if (isDone()) return;
  await withLock(join(root, ".cache", "setup.lock"), async () => {
    if (!isDone()) await step(label, work);
  });
}

/**
 * Builds a stale site beside the server that is about to start, at low priority. Until then /docs shows the old one.
 * Nothing is said over the channel; the build ends when it closes, however this process ended.
 */
export function buildSiteInBackground(root = ROOT) {
  if (isSiteBuilt(root)) return;
  const program = join(root, "scripts", "docs-build.mjs");
  const child = spawn(process.execPath, [program], { cwd: root, stdio: ["ignore", "ignore", "ignore", "ipc"] });
  child.on("error", () => {});
  child.channel?.unref();
  if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL);
  child.unref();
}

/**
 * Runs a script's whole work and turns the failures a user can fix into a message and an exit code.
 * @param {() => Promise<void>} work
 */
export async function runScript(work) {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    console.error(error.message);
    process.exit(error.exitCode);
  }
}
