// @ts-check
// npm test: sets up what is missing, then checks style, types and behaviour. With arguments (`npm test -- routing`)
// only the tests run, and the arguments choose which. Tests that need the build make it themselves.

import { join } from "node:path";
import { auditLine, auditPackages } from "./setup/audit.mjs";
import { ROOT } from "./setup/files.mjs";
import { run, seconds } from "./setup/run.mjs";
import { runVitest } from "./setup/vitest.mjs";
import { ensureBuild, ensureInstalled, runScript } from "./setup.mjs";

/**
 * One check: a program, by its path in the repository, and its arguments.
 * @typedef {{ name: string, program: string, args: readonly string[] }} Stage
 */

const BIOME = "test/node_modules/@biomejs/biome/bin/biome";
const TSC = "test/node_modules/typescript/bin/tsc";
/**
 * Each of several checkers works out for itself the types that files share: four take 1.4 to 2.4 times the processor time
 * of one, and are done sooner only where cores are idle.
 */
const ONE_CHECKER = ["--checkers", "1"];

/** @type {readonly Stage[]} */
const SOURCE_CHECKS = [
  { name: "lint", program: BIOME, args: ["check", "--error-on-warnings", "."] },
  { name: "unused code", program: "test/node_modules/knip/bin/knip.js", args: [] },
  { name: "structure", program: "scripts/structure/measure.mjs", args: ["--check"] },
  { name: "words", program: "scripts/words.mjs", args: [] },
  { name: "types", program: TSC, args: typeCheckOf("tsconfig.json") },
  { name: "documentation", program: "scripts/docs-build.mjs", args: [] },
  { name: "dashboard types", program: TSC, args: typeCheckOf("ui/tsconfig.json") },
];

await runScript(async () => {
  await ensureInstalled(".");
  await ensureInstalled("test");
  const chosen = process.argv.slice(2);
  process.exitCode = chosen.length > 0 ? await runTests(chosen) : (await checkSources()) || (await testAll());
});

/** The compiler keeps what it found, and the next run checks only what a change can reach. */
function typeCheckOf(/** @type {string} */ project) {
  const found = join(".cache", "types", `${project.replaceAll("/", "-")}.tsbuildinfo`);
  return ["--noEmit", ...ONE_CHECKER, "-p", project, "--incremental", "--tsBuildInfoFile", found];
}

/** All read the sources only, so they share the time with the build; the first that fails gives the exit code. */
async function checkSources() {
  // The type check reads the documentation's packages too.
  await ensureInstalled("docs");
  const [codes] = await Promise.all([Promise.all(SOURCE_CHECKS.map(check)), ensureBuild()]);
  const failed = SOURCE_CHECKS.filter((_stage, index) => codes[index] !== 0);
  if (failed.length > 0) console.log("\nFailed, each with the command that repeats it:");
  for (const { name, program, args } of failed) console.log(`  ${name}\n    ${["node", program, ...args].join(" ")}`);
  return codes.find((code) => code !== 0) ?? 0;
}

/** A vulnerability that became known today is no fault of the change being tested, so it is reported and fails nothing. */
async function testAll() {
  const audit = auditPackages(ROOT);
  const code = await runTests([]);
  console.log(auditLine(await audit));
  return code;
}

async function check(/** @type {Stage} */ stage) {
  const startedAtMs = Date.now();
  const { code, output } = await run(process.execPath, [join(ROOT, stage.program), ...stage.args], { cwd: ROOT });
  report(stage.name, code, startedAtMs);
  if (code !== 0) process.stderr.write(output);
  return code;
}

async function runTests(/** @type {readonly string[]} */ chosen) {
  const startedAtMs = Date.now();
  // Vitest writes colours into files too, unless it is told that there is no terminal.
  const env = process.stdout.isTTY ? process.env : { ...process.env, FORCE_TTY: "false" };
  const code = await runVitest(chosen, env);
  report("tests", code, startedAtMs);
  return code;
}

function report(/** @type {string} */ name, /** @type {number} */ code, /** @type {number} */ startedAtMs) {
  console.log(`${code === 0 ? "✓" : "✗"} ${name} (${seconds(Date.now() - startedAtMs)})`);
}
