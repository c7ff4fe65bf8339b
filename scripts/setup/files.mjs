// @ts-check
// The checkout's files: lists of them, and prints that tell whether they changed since a build.

import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";

export const ROOT = join(import.meta.dirname, "../..");

/** Every file below `folder` that is ours, as sorted paths relative to `root` with forward slashes. */
export function listFiles(/** @type {string} */ root, /** @type {string} */ folder) {
  /** @type {string[]} */
  const files = [];
  const visit = (/** @type {string} */ path) => {
    for (const entry of readdirSync(join(root, path), { withFileTypes: true })) {
      const child = `${path}/${entry.name}`;
      // A link to the packages of another checkout is no directory.
      if (entry.name === "node_modules" || entry.name === ".cache") continue;
      if (entry.isDirectory()) visit(child);
      else files.push(child);
    }
  };
  if (existsSync(join(root, folder))) visit(folder.split(sep).join("/"));
  return files.sort();
}

/** A hash of these files. Equal prints mean equal paths and content. */
export function printOf(/** @type {string} */ root, /** @type {readonly string[]} */ paths) {
  const hash = createHash("sha256");
  for (const path of paths) {
    const content = readFileSync(join(root, path));
    hash.update(`${path}\0${content.length}\n`).update(content);
  }
  return hash.digest("hex");
}

/** A missing or damaged file reads as null: a stamp that cannot be read vouches for nothing. */
export function readJson(/** @type {string} */ file) {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return null;
  }
}
