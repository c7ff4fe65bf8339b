// @ts-check
// Checks that every file which names the version names the same one, and that its tag is free.

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Sentences; none where all is well. */
export function versionProblems(/** @type {string} */ root, /** @type {string} */ version) {
  const read = (/** @type {string} */ path) => readFileSync(join(root, path), "utf8");
  const chart = read("deploy/helm/switchyard/Chart.yaml");
  /** @type {Readonly<Record<string, string | undefined>>} */
  const named = {
    "package-lock.json": JSON.parse(read("package-lock.json")).version,
    "the chart's version": /^version: "?([^"\n]+)"?$/m.exec(chart)?.[1],
    "the chart's appVersion": /^appVersion: "?([^"\n]+)"?$/m.exec(chart)?.[1],
  };
  const others = Object.entries(named).filter(([, found]) => found !== version);
  const problems = others.map(([place, found]) => `${place} is ${found}, and package.json says ${version}.`);
  const tag = spawnSync("git", ["tag", "--list", `v${version}`], { cwd: root, encoding: "utf8" }).stdout.trim();
  return tag === "" ? problems : [...problems, `The tag ${tag} is there already.`];
}
