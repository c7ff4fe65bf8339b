// @ts-check
// npm test: sets up what is missing, then checks style, types and behaviour. With arguments (`npm test -- routing`)
// only the tests run, and the arguments choose which.

import { join } from "node:path";
import { auditDependencies, auditLine } from "./setup/audit.mjs";
import { seconds } from "./setup/progress.mjs";
import { run } from "./setup/run.mjs";
import { here, ROOT } from "./setup/surroundings.mjs";
import { runScript, setUp } from "./setup.mjs";

/** @typedef {{ name: string, bin: string, args: readonly string[] }} Stage */

const LINT = { name: "lint", bin: "@biomejs/biome/bin/biome", args: ["check", "--error-on-warnings", "."] };
const TYPES = { name: "types", bin: "typescript/bin/tsc", args: ["--noEmit", "-p", "tsconfig.json"] };
const UI_TYPES = { name: "dashboard types", bin: "typescript/bin/tsc", args: ["--noEmit", "-p", "ui/tsconfig.json"] };

await runScript(async () => {
  await setUp({ dev: true });
  const chosen = process.argv.slice(2);
  const code = chosen.length > 0 ? await runTests(chosen) : (await checkSources()) || (await runTests([]));
  process.exitCode = code;
});

/** All read the sources only, so they share the time; the first that fails gives the exit code. */
async function checkSources() {
  const [codes] = await Promise.all([Promise.all([LINT, TYPES, UI_TYPES].map(check)), tellAudit()]);
  return codes.find((code) => code !== 0) ?? 0;
}

/** A hole that becomes known today is news, but not a fault of the change that is being tested: it is told and fails nothing. */
async function tellAudit() {
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
  const stage = { name: "tests", bin: "vitest/vitest.mjs", args: ["run", ...chosen] };
  const { code } = await run(process.execPath, command(stage), { cwd: ROOT, show: true });
  report(stage.name, code, startedAtMs);
  return code;
}

function command(/** @type {Stage} */ { bin, args }) {
  return [join(ROOT, "node_modules", bin), ...args];
}

function report(/** @type {string} */ name, /** @type {number} */ code, /** @type {number} */ startedAtMs) {
  console.log(`${code === 0 ? "✓" : "✗"} ${name} (${seconds(Date.now() - startedAtMs)})`);
}
