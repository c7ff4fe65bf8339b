// @ts-check
// Gets a checkout ready to run: right Node, dependencies installed, sources built. Does nothing, in a few
// milliseconds, when all is in place. Needs nothing but Node itself, since it runs before anything is installed.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { isBuilt, ensureBuild as makeBuild } from "./setup/build.mjs";
import { ensureDependencies as makeDependencies } from "./setup/dependencies.mjs";
import { readJson } from "./setup/fingerprint.mjs";
import { Interrupted } from "./setup/run.mjs";
import { ensureSite as makeSite } from "./setup/site.mjs";
import { here, SetupError } from "./setup/surroundings.mjs";

/** @typedef {import("./setup/surroundings.mjs").Surroundings} Surroundings */

/** `dev` asks for what tests need beyond what serving needs. */
export async function setUp({ dev = false } = {}, surroundings = here()) {
  const { root } = surroundings;
  checkNode(wantedNode(root));
  // A package installed from the registry has no sources: it comes built, and npm has installed what it needs.
  if (!existsSync(join(root, "src"))) return;
  await ensureDependencies({ dev: dev || !isBuilt(root) }, surroundings);
  await ensureBuild(surroundings);
}

export function ensureDependencies({ dev = true } = {}, surroundings = here()) {
  return makeDependencies({ dev }, surroundings);
}

export function ensureBuild(surroundings = here()) {
  return makeBuild(surroundings);
}

/** The documentation, which serving does not wait for. */
export function ensureSite(surroundings = here()) {
  return makeSite(surroundings);
}

/** Throws unless `version` is at least what `wanted` (">=major.minor") asks for. */
export function checkNode(wanted = wantedNode(here().root), version = process.versions.node) {
  const [major = 0, minor = 0] = numbers(wanted.replace(/^\D*/, ""));
  const [haveMajor = 0, haveMinor = 0] = numbers(version);
  if (haveMajor > major || (haveMajor === major && haveMinor >= minor)) return;
  throw new SetupError(
    `Switchyard needs Node ${major}.${minor} or newer, and this is Node ${version} (${process.execPath}).\n` +
      "Install a newer one from https://nodejs.org or with a version manager (nvm install), then run the command again.",
  );
}

/** @returns {string} */
function wantedNode(/** @type {string} */ root) {
  return readJson(join(root, "package.json"))?.engines?.node ?? "";
}

function numbers(/** @type {string} */ version) {
  return version.split(".").map((part) => Number.parseInt(part, 10) || 0);
}

/**
 * Runs a script's whole work and turns the failures a user can fix into a message and an exit code.
 * @param {() => Promise<void>} work
 */
export async function runScript(work) {
  try {
    await work();
  } catch (error) {
    if (error instanceof Interrupted) process.exit(error.exitCode);
    if (!(error instanceof SetupError)) throw error;
    console.error(error.message);
    process.exit(1);
  }
}
