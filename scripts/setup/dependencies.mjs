// @ts-check
// Installs what package-lock.json names when node_modules does not hold it.

import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { contentPrint, readJson } from "./fingerprint.mjs";
import { SetupError, tail, withSetupLock } from "./surroundings.mjs";

/** @typedef {import("./surroundings.mjs").Surroundings} Surroundings */
/** @typedef {{ version?: string, optional?: boolean, dev?: boolean, link?: boolean, os?: string[], cpu?: string[], libc?: string[] }} LockEntry */

const STAMP = "node_modules/.switchyard-stamp.json";
/** npm's own record of what it installed, written when an install is complete. */
const NPM_RECORD = "node_modules/.package-lock.json";

/**
 * `dev` asks for the development dependencies too; an install always brings both, since the build needs the compiler.
 * @param {{ dev: boolean }} wanted
 * @param {Surroundings} surroundings
 */
export async function ensureDependencies({ dev }, surroundings) {
  const { root, progress } = surroundings;
  if (isInstalled(root, dev)) return;
  await withSetupLock(surroundings, async () => {
    if (isInstalled(root, dev)) return;
    // Both vouch for a complete install, so an interrupted one must find neither.
    rmSync(join(root, STAMP), { force: true });
    rmSync(join(root, NPM_RECORD), { force: true });
    await progress.step("installing dependencies (npm ci)", () => install(surroundings));
    writeStamp(root, true);
  });
}

/** Does node_modules hold what the lock file names? Answers from the stamp, else by comparing with npm's record. */
export function isInstalled(/** @type {string} */ root, /** @type {boolean} */ dev) {
  const stamp = readJson(join(root, STAMP));
  if (stamp !== null && stamp.key === keyOf(root) && (stamp.dev || !dev)) return true;
  if (!recordMatches(root, dev)) return false;
  writeStamp(root, dev);
  return true;
}

function keyOf(/** @type {string} */ root) {
  const files = contentPrint(root, ["package.json", "package-lock.json", ".npmrc"]);
  return `${files} ${process.platform}-${process.arch}-${process.versions.modules}`;
}

function writeStamp(/** @type {string} */ root, /** @type {boolean} */ dev) {
  try {
    mkdirSync(join(root, "node_modules"), { recursive: true });
    writeFileSync(join(root, STAMP), JSON.stringify({ key: keyOf(root), dev }));
  } catch {
    // A read-only checkout has no stamp and is compared again each time.
  }
}

/** True for an install somebody made by hand, which need not be made again. */
function recordMatches(/** @type {string} */ root, /** @type {boolean} */ dev) {
  const lock = readJson(join(root, "package-lock.json"));
  const installed = readJson(join(root, NPM_RECORD))?.packages;
  if (!lock?.packages || !installed || !lockMatchesManifest(root, lock)) return false;
  return Object.entries(/** @type {Record<string, LockEntry>} */ (lock.packages))
    .filter(([path, entry]) => path !== "" && (dev || !entry.dev) && isNeededHere(entry))
    .every(([path, entry]) => installed[path]?.version === entry.version && existsSync(join(root, path)));
}

function lockMatchesManifest(/** @type {string} */ root, /** @type {any} */ lock) {
  const manifest = readJson(join(root, "package.json"));
  return ["dependencies", "devDependencies"].every(
    (field) => JSON.stringify(sorted(manifest?.[field])) === JSON.stringify(sorted(lock.packages[""]?.[field])),
  );
}

function sorted(/** @type {Record<string, string> | undefined} */ dependencies) {
  return Object.entries(dependencies ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
}

/** npm leaves out optional packages made for other machines; which C library this one has it alone knows. */
function isNeededHere(/** @type {LockEntry} */ entry) {
  if (entry.optional !== true) return true;
  if (entry.libc !== undefined || (entry.os === undefined && entry.cpu === undefined)) return false;
  return fits(entry.os, process.platform) && fits(entry.cpu, process.arch);
}

function fits(/** @type {string[] | undefined} */ allowed, /** @type {string} */ value) {
  if (allowed === undefined || allowed.includes(value)) return true;
  return allowed.every((entry) => entry.startsWith("!") && entry !== `!${value}`);
}

async function install(/** @type {Surroundings} */ { root, run }) {
  const npm = npmCommand();
  // `--include=dev` wins over NODE_ENV=production, under which npm would leave the compiler out.
  const args = [...npm.args, "ci", "--include=dev", "--prefer-offline", "--no-audit", "--no-fund"];
  const { code, output } = await run(npm.command, args, { cwd: root, shell: npm.shell });
  if (code === 0) return;
  throw new SetupError(
    `npm could not install the dependencies (exit code ${code}). Its last lines:\n${tail(withoutUsage(output))}\n` +
      "Check that this machine reaches its npm registry (npm ping) and that the disk has room, then run the command again.",
  );
}

/** After some errors npm prints the whole help of `npm ci`, which would push the reason out of sight. */
function withoutUsage(/** @type {string} */ output) {
  return output.split(/^npm (?:error|ERR!) Clean install a project/m)[0] ?? output;
}

/** The npm that runs us, so that its version and settings are the ones the user chose. */
export function npmCommand(env = process.env) {
  const path = env.npm_execpath;
  if (path !== undefined && basename(path) === "npm-cli.js")
    return { command: process.execPath, args: [path], shell: false };
  // On Windows npm is a script that only a shell can start.
  return { command: "npm", args: [], shell: process.platform === "win32" };
}
