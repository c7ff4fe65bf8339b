// Files of backups: written under a temporary name for this user alone, on disk before they get their real one.

import { randomBytes } from "node:crypto";
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";

/** `write` fills an empty file of mode 0600. Where it fails, nothing is left behind. */
export async function writeWhole<T>(path: string, write: (temporary: string) => Promise<T>): Promise<T> {
  // Not named by the process: in a container its number is always the same, and one that was killed leaves its file.
  const temporary = `${path}.${randomBytes(6).toString("hex")}.partial`;
  closeSync(openSync(temporary, "wx", 0o600));
  try {
    const result = await write(temporary);
    syncToDisk(temporary);
    renameSync(temporary, path);
    syncToDisk(dirname(path));
    return result;
  } finally {
    for (const ending of ["", "-journal"]) rmSync(`${temporary}${ending}`, { force: true });
  }
}

/** Renames those that exist. */
export function moveAside(moves: readonly (readonly [from: string, to: string])[]): void {
  for (const [from, to] of moves) if (existsSync(from)) renameSync(from, to);
}

/** Also of a folder, which then has the new name for good. */
function syncToDisk(path: string): void {
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
