// Notices when a file of an open SQLite database is deleted, moved or replaced. SQLite itself would go on writing to a
// file that nobody finds again. Plain JavaScript for the same reason as worker.mjs.

import { statSync } from "node:fs";
import { basename } from "node:path";

/** Interval between two checks: few writes are lost, and the checks cost nothing. */
const CHECK_MS = 1_000;

/** Notes the inode numbers. Call this right after SQLite opened the files, which keeps the numbers in use. */
export function createFileIdentity(paths) {
  const opened = new Map(paths.map((path) => [path, identify(path)]));
  let checkedAtMs = Number.NEGATIVE_INFINITY;
  let problems = [];

  function check() {
    checkedAtMs = performance.now();
    problems = paths
      .filter((path) => opened.get(path) !== identify(path))
      .map((path) => `${basename(path)} was deleted, moved or replaced while it was open`);
    return problems;
  }
  return {
    check,
    /** Throws before a write to a lost file. */
    assert() {
      if (performance.now() - checkedAtMs > CHECK_MS) check();
      if (problems.length > 0) throw Object.assign(new Error(problems[0]), { isMisplaced: true });
    },
  };
}

function identify(path) {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? null : `${found.dev}:${found.ino}`;
}
