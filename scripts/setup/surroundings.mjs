// @ts-check
// What the set-up works with: a folder, a way to run programs and a place to report to. Tests put their own in.

import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { withLock } from "./lock.mjs";
import { createProgress } from "./progress.mjs";
import { run } from "./run.mjs";

/** @typedef {{ root: string, run: import("./run.mjs").Run, progress: import("./progress.mjs").Progress }} Surroundings */

export const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** A failure whose message says all the user needs; its stack would not help. */
export class SetupError extends Error {}

/** @returns {Surroundings} */
export function here() {
  return { root: ROOT, run, progress: createProgress() };
}

/**
 * @template T
 * @param {Surroundings} surroundings
 * @param {() => Promise<T>} work
 */
export function withSetupLock({ root, progress }, work) {
  const onWait = (/** @type {number} */ pid) =>
    progress.note(`waiting for the set-up already running (process ${pid})`);
  return withLock({ file: join(root, ".cache", "setup.lock"), onWait }, work);
}

/** The last lines of a program's output, where it says what went wrong. */
export function tail(/** @type {string} */ output, lines = 20) {
  return output.trimEnd().split("\n").slice(-lines).join("\n");
}
