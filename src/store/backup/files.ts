// Backup files: written under a temporary name for this user alone, and synced before they get their real name.

import { randomBytes } from "node:crypto";
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";

/** Calls `write` with an empty file of mode 0600. If `write` fails, the file is deleted. */
export async function writeWhole<T>(path: string, write: (temporary: string) => Promise<T>): Promise<T> {
  // A random name: in a container the process number is always the same, and a killed process leaves its file.
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

/** Renames the files that exist. */
export function moveAside(moves: readonly (readonly [from: string, to: string])[]): void {
  for (const [from, to] of moves) if (existsSync(from)) renameSync(from, to);
}

/** Syncs a file, or a folder with its new names. */
function syncToDisk(path: string): void {
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
