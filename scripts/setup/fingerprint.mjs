// @ts-check
// Tells whether files changed since a stamp was written: by time and size in a millisecond or two, by content when those differ.

import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, sep } from "node:path";

/** Every file below `folder`, as sorted paths relative to `root` with forward slashes. */
export function listFiles(/** @type {string} */ root, /** @type {string} */ folder) {
  /** @type {string[]} */
  const files = [];
  const visit = (/** @type {string} */ path) => {
    for (const entry of readdirSync(join(root, path), { withFileTypes: true })) {
      const child = `${path}/${entry.name}`;
      if (entry.isDirectory()) visit(child);
      else files.push(child);
    }
  };
  if (existsSync(join(root, folder))) visit(folder.split(sep).join("/"));
  return files.sort();
}

/** What a build writes as its stamp. */
export function printsOf(/** @type {string} */ root, /** @type {readonly string[]} */ paths) {
  return { quick: quickPrint(root, paths), content: contentPrint(root, paths) };
}

/**
 * Was the build that wrote this stamp made from these inputs?
 * @param {{ root: string, stamp: string, inputs: readonly string[] }} build
 */
export function isFresh({ root, stamp: file, inputs }) {
  const stamp = readJson(file);
  if (stamp === null) return false;
  const quick = quickPrint(root, inputs);
  if (stamp.quick === quick) return true;
  if (stamp.content !== contentPrint(root, inputs)) return false;
  try {
    writeFileSync(file, JSON.stringify({ ...stamp, quick }));
  } catch {
    // A read-only build is compared by content each time.
  }
  return true;
}

/** Times and sizes: equal means unchanged, different means "read them". */
function quickPrint(/** @type {string} */ root, /** @type {readonly string[]} */ paths) {
  const hash = createHash("sha256");
  for (const path of paths) {
    const stat = statSync(join(root, path), { throwIfNoEntry: false });
    hash.update(`${path}\0${stat?.mtimeMs}\0${stat?.size}\n`);
  }
  return hash.digest("hex");
}

export function contentPrint(/** @type {string} */ root, /** @type {readonly string[]} */ paths) {
  const hash = createHash("sha256");
  for (const path of paths) {
    const file = join(root, path);
    const content = existsSync(file) ? readFileSync(file) : null;
    hash.update(`${path}\0${content?.length ?? "absent"}\n`);
    if (content !== null) hash.update(content);
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
