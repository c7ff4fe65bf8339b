// @ts-check
// npm test: sets up what is missing, then checks style, types and behaviour. With arguments (`npm test -- routing`)
// only the tests run, and the arguments choose which. Tests that need the build make it themselves.

import { join } from "node:path";
import { auditDependencies, auditLine } from "./setup/audit.mjs";
import { ONE_CHECKER } from "./setup/build.mjs";
import { seconds } from "./setup/progress.mjs";
import { run } from "./setup/run.mjs";
import { here, ROOT } from "./setup/surroundings.mjs";
import { checkNode, ensureBuild, ensureDependencies, runScript } from "./setup.mjs";

/**
 * One check: a program, by its path in the repository, and its arguments.
 * @typedef {{ name: string, program: string, args: readonly string[] }} Stage
 */

const BIOME = "node_modules/@biomejs/biome/bin/biome";
const TSC = "node_modules/typescript/bin/tsc";

/** @type {readonly Stage[]} */
const SOURCE_CHECKS = [
  { name: "lint", program: BIOME, args: ["check", "--error-on-warnings", "."] },
  { name: "unused code", program: "node_modules/knip/bin/knip.js", args: [] },
  { name: "structure", program: "scripts/structure/measure.mjs", args: ["--check"] },
  { name: "words", program: "scripts/words.mjs", args: [] },
  { name: "types", program: TSC, args: ["--noEmit", ...ONE_CHECKER, "-p", "tsconfig.json"] },
  { name: "documentation", program: "scripts/docs-build.mjs", args: [] },
  { name: "dashboard types", program: TSC, args: ["--noEmit", ...ONE_CHECKER, "-p", "ui/tsconfig.json"] },
];

await runScript(async () => {
  checkNode();
  await ensureDependencies();
  const chosen = process.argv.slice(2);
  process.exitCode = chosen.length > 0 ? await runTests(chosen) : (await checkSources()) || (await runTests([]));
});

/** All read the sources only, so they share the time with the build; the first that fails gives the exit code. */
async function checkSources() {
  const [codes] = await Promise.all([Promise.all(SOURCE_CHECKS.map(check)), ensureBuild().then(reportAudit)]);
  return codes.find((code) => code !== 0) ?? 0;
}

/**
 * Reads from the build which packages it has joined. A vulnerability that became known today is no fault of the change
 * being tested, so it is reported and fails nothing.
 */
async function reportAudit() {
  console.log(auditLine(await auditDependencies(here())));
}

async function check(/** @type {Stage} */ stage) {
  const startedAtMs = Date.now();
  const { code, output } = await run(process.execPath, command(stage), { cwd: ROOT });
  report(stage.name, code, startedAtMs);
  if (code !== 0) process.stderr.write(output);
  return code;
}

async function runTests(/** @type {readonly string[]} */ chosen) {
  const startedAtMs = Date.now();
  const stage = { name: "tests", program: "node_modules/vitest/vitest.mjs", args: ["run", ...chosen] };
  const { code } = await run(process.execPath, command(stage), { cwd: ROOT, show: true });
  report(stage.name, code, startedAtMs);
  return code;
}

function command(/** @type {Stage} */ { program, args }) {
  return [join(ROOT, program), ...args];
}

function report(/** @type {string} */ name, /** @type {number} */ code, /** @type {number} */ startedAtMs) {
  console.log(`${code === 0 ? "✓" : "✗"} ${name} (${seconds(Date.now() - startedAtMs)})`);
}
