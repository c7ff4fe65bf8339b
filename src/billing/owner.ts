// The name a process keeps holds under. On Linux it says on which machine and in which process space it runs, so that a
// process beside it sees at once that it has ended, instead of waiting until it has been silent for long.

import { createHash, randomBytes } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

/**
 * Identifies this start of this machine and its space of process numbers; null if that is unknown. The name of the machine is
 * part of it, because copies of a suspended machine have all else in common.
 */
const PLACE = placeOf();
/** A name that holds a place and a process number. */
const NAMED = /^process_[0-9a-f]+_([0-9a-f]{12})_(\d+)$/;

export function newOwner(): string {
  const name = `process_${randomBytes(8).toString("hex")}`;
  return PLACE === null ? name : `${name}_${PLACE}_${process.pid}`;
}

/** True only if the process surely ended: it ran on this machine, and nothing has its number now. */
export function isGone(owner: string): boolean {
  const [, place, number] = NAMED.exec(owner) ?? [];
  return PLACE !== null && place === PLACE && !isRunning(Number(number));
}

/** Signal 0 asks for the process and does nothing to it; being forbidden to ask proves that it runs. */
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
