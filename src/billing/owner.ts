// The name a process keeps holds under. On Linux it says on which machine and in which process space it runs, so that a
// process beside it can see at once that it is gone, instead of waiting for it to have been silent for long.

import { createHash, randomBytes } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

/**
 * Of this start of this machine, in this space of process numbers; null where that cannot be told. With the machine's name,
 * as copies of one machine that was stopped in the middle have all else in common.
 */
const PLACE = placeOf();
const NAMED = /^process_[0-9a-f]+_([0-9a-f]{12})_(\d+)$/;

export function newOwner(): string {
  const name = `process_${randomBytes(8).toString("hex")}`;
  return PLACE === null ? name : `${name}_${PLACE}_${process.pid}`;
}

/** True only when it surely runs no more: it ran where we do, and nothing has its number now. */
export function isGone(owner: string): boolean {
  const [, place, number] = NAMED.exec(owner) ?? [];
  return PLACE !== null && place === PLACE && !isRunning(Number(number));
}

function isRunning(processNumber: number): boolean {
  try {
    process.kill(processNumber, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

function placeOf(): string | null {
  try {
    const start = readFileSync("/proc/sys/kernel/random/boot_id", "utf8");
    const space = readlinkSync("/proc/self/ns/pid");
    return createHash("sha256").update(`${start}${space}${hostname()}`).digest("hex").slice(0, 12);
  } catch {
    return null;
  }
}
