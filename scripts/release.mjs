// @ts-check
// npm run release -- --dry-run: makes everything that the release workflow makes, in .cache/release or the folder after --out,
// and tries each part in an empty folder. What a tool is missing for is said. It publishes nothing: a pushed tag does.
// With --checksums FOLDER it only writes the checksums and the provenance statement of what lies there.

import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { checksumsOf, statementOf } from "./release/artifacts.mjs";
import { tryImage, tryPackage } from "./release/trial.mjs";
import { versionProblems } from "./release/version.mjs";
import { notesOf } from "./release-notes.mjs";
import { auditLine, auditPackages } from "./setup/audit.mjs";
import { writeBom } from "./setup/bom.mjs";
import { ROOT } from "./setup/files.mjs";
import { run } from "./setup/run.mjs";
import { ensureBuild, ensureSite, runScript } from "./setup.mjs";

/** @typedef {import("./release/trial.mjs").Outcome} Outcome */

const SIGNS = { made: "✓", skipped: "–", failed: "✗" };

const { values } = parseArgs({
  options: { "dry-run": { type: "boolean" }, out: { type: "string" }, checksums: { type: "string" } },
});

await runScript(async () => {
  if (values.checksums !== undefined) sealFolder(resolve(values.checksums));
  else if (values["dry-run"] === true) await dryRun(resolve(values.out ?? join(ROOT, ".cache", "release")));
  else {
    console.error("A release is published by its tag. To try everything before: npm run release -- --dry-run");
    process.exitCode = 2;
  }
});

async function dryRun(/** @type {string} */ folder) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  /** @type {readonly (readonly [string, () => Promise<Outcome>])[]} */
  const steps = [
    ["version", async () => checkVersion(version)],
    ["changelog", async () => writeNotes(folder, version)],
    ["audit", audit],
    ["build", build],
    ["tarball", () => pack(folder)],
    ["catalogue", async () => copyParts(folder)],
    ["chart", () => packChart(folder, version)],
    ["image", () => tryImage(ROOT, version)],
    ["checksums", async () => sealFolder(folder)],
    ["package runs", () => tryPackage(folder)],
  ];
  for (const [name, make] of steps) {
    const { state, words } = await make().catch(failed);
    console.log(`${SIGNS[state]} ${name.padEnd(13)} ${words}`);
    if (state === "failed") process.exitCode = 1;
  }
}

/** @returns {Outcome} */
function failed(/** @type {unknown} */ error) {
  return { state: "failed", words: error instanceof Error ? error.message : String(error) };
}

/** @returns {Outcome} */
function checkVersion(/** @type {string} */ version) {
  const problems = versionProblems(ROOT, version);
  return problems.length > 0
    ? { state: "failed", words: problems.join(" ") }
    : { state: "made", words: `${version}, in every file that names it; the tag is v${version}` };
}

/** @returns {Outcome} */
function writeNotes(/** @type {string} */ folder, /** @type {string} */ version) {
  const changelog = readFileSync(join(ROOT, "CHANGELOG.md"), "utf8");
  const notes = notesOf(changelog, version) ?? notesOf(changelog, "Unreleased");
  if (notes === null) return { state: "failed", words: `CHANGELOG.md has no section for ${version}.` };
  writeFileSync(join(folder, "notes.md"), `${notes}\n`);
  const isNamed = notesOf(changelog, version) !== null;
  const lines = notes.split("\n").filter((line) => line.startsWith("- ")).length;
  return isNamed
    ? { state: "made", words: `${lines} entries for ${version}` }
    : { state: "skipped", words: `no section for ${version} yet; Unreleased has ${lines} entries` };
}

/** @returns {Promise<Outcome>} */
async function audit() {
  const verdict = await auditPackages(ROOT);
  return { state: verdict.state === "clean" ? "made" : "failed", words: auditLine(verdict) };
}

/** @returns {Promise<Outcome>} */
async function build() {
  await ensureBuild();
  await ensureSite();
  writeBom(ROOT);
  return { state: "made", words: "dist/" };
}

/** @returns {Promise<Outcome>} */
async function pack(/** @type {string} */ folder) {
  const { code, output } = await run("npm", ["pack", "--loglevel=error", "--pack-destination", folder], { cwd: ROOT });
  if (code !== 0) throw new Error(output.trim());
  return { state: "made", words: output.trim().split("\n").at(-1) ?? "" };
}

/** @returns {Outcome} */
function copyParts(/** @type {string} */ folder) {
  for (const name of ["catalogue.json", "catalogue.schema.json"])
    copyFileSync(join(ROOT, "dist", name), join(folder, name));
  copyFileSync(join(ROOT, "dist", "sbom.cdx.json"), join(folder, "switchyard-sbom.cdx.json"));
  return {
    state: "made",
    words:
      "catalogue.json and its schema, unsigned (a person makes the key: docs/reference/catalogue.md), and switchyard-sbom.cdx.json",
  };
}

/** @returns {Promise<Outcome>} */
async function packChart(/** @type {string} */ folder, /** @type {string} */ version) {
  const chart = join(ROOT, "deploy/helm/switchyard");
  const has = await run("helm", ["version"], { cwd: ROOT });
  if (has.code !== 0)
    return { state: "skipped", words: "there is no helm here; test/unit/project/chart.test.ts reads the chart" };
  for (const args of [
    ["lint", "--strict", chart],
    ["package", chart, "--version", version, "--app-version", version, "--destination", folder],
    ["template", "trial", join(folder, `switchyard-${version}.tgz`), "--set", "database=sqlite,replicaCount=1"],
  ]) {
    const { code, output } = await run("helm", args, { cwd: ROOT });
    if (code !== 0) throw new Error(output.trim());
  }
  return { state: "made", words: `switchyard-${version}.tgz` };
}

/**
 * Checksums of everything in a folder, and who made it of what. The workflow signs; here nobody can.
 * @returns {Outcome}
 */
function sealFolder(/** @type {string} */ folder) {
  const subjects = checksumsOf(folder);
  writeFileSync(join(folder, "SHA256SUMS"), subjects.map(({ name, sha256 }) => `${sha256}  ${name}\n`).join(""));
  const statement = statementOf(ROOT, subjects, process.env);
  writeFileSync(join(folder, "provenance.intoto.json"), `${JSON.stringify(statement, null, 2)}\n`);
  return { state: "made", words: `SHA256SUMS of ${subjects.length} files, provenance.intoto.json (unsigned)` };
}
