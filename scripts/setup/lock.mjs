// @ts-check
// Lets one set-up at a time work in a checkout. The lock is a file that names its holder, who keeps touching it.

import { mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const TOUCH_EVERY_MS = 1_000;
/** Tells a holder from a later process with the same number, as after the restart of a container. */
const LOST_AFTER_MS = 60_000;
const LOOK_EVERY_MS = 50;

/**
 * @param {string} file
 * @param {() => Promise<void>} work
 */
export async function withLock(file, work) {
  mkdirSync(dirname(file), { recursive: true });
  for (let waited = false; !take(file); waited = true) {
    if (!waited) console.error("… waiting for another set-up of this checkout");
    if (isLost(file)) rmSync(file, { force: true });
    else await sleep(LOOK_EVERY_MS);
  }
  const timer = setInterval(() => touch(file), TOUCH_EVERY_MS);
  try {
    await work();
  } finally {
    clearInterval(timer);
    rmSync(file, { force: true });
  }
}

function take(/** @type {string} */ file) {
  try {
    writeFileSync(file, String(process.pid), { flag: "wx" });
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  }
}

/** True when the holder is gone. */
function isLost(/** @type {string} */ file) {
  try {
    if (Date.now() - statSync(file).mtimeMs > LOST_AFTER_MS) return true;
    // A file that is not written yet has the number 0, which is always alive.
    process.kill(Number(readFileSync(file, "utf8")), 0);
    return false;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ESRCH";
  }
}

function touch(/** @type {string} */ file) {
  const now = new Date();
  try {
    utimesSync(file, now, now);
  } catch {
    // Somebody removed the lock by hand; the work goes on.
  }
}
