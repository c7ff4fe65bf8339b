// The name under which a process keeps holds. On Linux the name has the machine, the process space and the process
// number, so that a neighbour sees at once that the process has ended.

import { createHash, randomBytes } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

/**
 * Identifies this boot of this machine and the process space; null if unknown. Includes the host name, because copies of a
 * suspended machine share everything else.
 */
const PLACE = placeOf();
/** Matches a name with a place and a process number. */
const NAMED = /^process_[0-9a-f]+_([0-9a-f]{12})_(\d+)$/;

export function newOwner(): string {
  const name = `process_${randomBytes(8).toString("hex")}`;
  return PLACE === null ? name : `${name}_${PLACE}_${process.pid}`;
}

/** Returns true only if the process has certainly ended: it ran here, and no process has its number now. */
export function isGone(owner: string): boolean {
  const [, place, number] = NAMED.exec(owner) ?? [];
  return PLACE !== null && place === PLACE && !isRunning(Number(number));
}

/** Checks with signal 0, which changes nothing. A permission error proves that the process runs. */
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
