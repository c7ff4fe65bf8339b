// @ts-check
// Installs the packages that a folder's lock file names, and tells whether they are there.

import { rmSync } from "node:fs";
import { basename, join } from "node:path";
import { readJson } from "./files.mjs";
import { run, SetupError } from "./run.mjs";

/** @typedef {{ version: string, optional?: boolean, os?: string[], cpu?: string[], libc?: string[] }} LockEntry */

/** npm's own list of what it installed, which it writes last. */
const RECORD = "node_modules/.package-lock.json";

/** An install by hand counts, and one that was interrupted does not, because it has no record. */
export function isInstalled(/** @type {string} */ folder) {
  /** @type {Record<string, LockEntry> | undefined} */
  const wanted = readJson(join(folder, "package-lock.json"))?.packages;
  const installed = readJson(join(folder, RECORD))?.packages;
  if (wanted === undefined || installed === undefined) return wanted === undefined;
  return Object.entries(wanted).every(
    ([path, entry]) => path === "" || installed[path]?.version === entry.version || !isNeededHere(entry),
  );
}

/** npm leaves out optional packages of other machines. Only npm knows which C library this one has. */
function isNeededHere(/** @type {LockEntry} */ { optional, os, cpu, libc }) {
  if (optional !== true) return true;
  return libc === undefined && os?.includes(process.platform) === true && cpu?.includes(process.arch) === true;
}

export async function install(/** @type {string} */ folder) {
  // An interrupted install must not find the record of the one before.
  rmSync(join(folder, RECORD), { force: true });
  // `--include=dev` wins over NODE_ENV=production, under which npm would leave the compiler out.
  await runNpm(folder, ["ci", "--include=dev"], "npm could not install the packages");
}

/**
 * Runs npm in a folder. Fails with this message and what to check.
 * @param {string} folder
 * @param {readonly string[]} words
 * @param {string} failure
 */
export async function runNpm(folder, words, failure) {
  const npm = npmCommand();
  const args = [...npm.args, ...words, "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"];
  const { code } = await run(npm.command, args, { cwd: folder, show: "stderr", shell: npm.shell });
  if (code === 0) return;
  throw new SetupError(
    `${failure} (exit code ${code}); it said why above.\n` +
      "Check that this machine reaches its npm registry (npm ping) and that the disk has room, then run the command again.",
  );
}

/** The npm that runs us, so that its version and settings are the ones the user chose. */
export function npmCommand(env = process.env) {
  const path = env.npm_execpath;
  if (path !== undefined && basename(path) === "npm-cli.js")
    return { command: process.execPath, args: [path], shell: false };
  // On Windows npm is a script that only a shell can start.
  return { command: "npm", args: [], shell: process.platform === "win32" };
}
