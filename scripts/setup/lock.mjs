// @ts-check
// Lets one set-up at a time work in a folder. The lock is a file naming its holder, who keeps touching it;
// one whose process is gone, or who stopped touching it, has lost it.

import { randomUUID } from "node:crypto";
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const TOUCH_EVERY_MS = 2_000;
/** Also tells a holder from a later process with the same number, as after the restart of a container. */
const LOST_AFTER_MS = 20_000;
const LOOK_EVERY_MS = 50;

/** Tokens of the locks this process holds, to know them from those left by an earlier process with our number. */
const held = new Set();

/**
 * Runs `work` while holding the lock; `onWait` hears once who has it when somebody else does.
 * @template T
 * @param {{ file: string, onWait: (pid: number) => void }} lock
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withLock({ file, onWait }, work) {
  const token = `${process.pid} ${randomUUID()}`;
  mkdirSync(dirname(file), { recursive: true });
  let waited = false;
  while (!take(file, token)) {
    const holder = read(file);
    if (holder !== null && isLost(file, holder)) {
      remove(file, holder);
      continue;
    }
    if (holder && !waited) {
      waited = true;
      onWait(pidOf(holder));
    }
    await sleep(LOOK_EVERY_MS);
  }
  return await hold({ file, token }, work);
}

function take(/** @type {string} */ file, /** @type {string} */ token) {
  try {
    writeFileSync(file, token, { flag: "wx" });
    held.add(token);
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  }
}

function read(/** @type {string} */ file) {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return null;
  }
}

function isLost(/** @type {string} */ file, /** @type {string} */ holder) {
  const ageMs = Date.now() - (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
  if (ageMs > LOST_AFTER_MS) return true;
  const pid = pidOf(holder);
  // Between creating and writing the file it is empty for a moment; its age decides then.
  if (Number.isNaN(pid)) return false;
  return pid === process.pid ? !held.has(holder) : !isAlive(pid);
}

function isAlive(/** @type {number} */ pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === "EPERM";
  }
}

/** Moves the lost lock aside before deleting it, so that of two who saw it lost none deletes the other's new one. */
function remove(/** @type {string} */ file, /** @type {string} */ holder) {
  const aside = `${file}.${randomUUID()}`;
  try {
    renameSync(file, aside);
    if (read(aside) !== holder) linkSync(aside, file);
  } catch (error) {
    if (codeOf(error) !== "ENOENT" && codeOf(error) !== "EEXIST") throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

/**
 * @template T
 * @param {{ file: string, token: string }} lock
 * @param {() => Promise<T>} work
 */
async function hold({ file, token }, work) {
  const timer = setInterval(() => touch(file), TOUCH_EVERY_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    held.delete(token);
    if (read(file) === token) rmSync(file, { force: true });
  }
}

function touch(/** @type {string} */ file) {
  try {
    const now = new Date();
    utimesSync(file, now, now);
  } catch {
    // Somebody removed the lock by hand; the work goes on and its outcome is checked by the stamp.
  }
}

function pidOf(/** @type {string} */ holder) {
  return Number.parseInt(holder, 10);
}

function codeOf(/** @type {unknown} */ error) {
  return error instanceof Error && "code" in error ? error.code : null;
}
