// @ts-check
// npm run test:steady: runs the tests again and again, each time in another order, beside busy processes, and reports
// every failure with the seed that repeats its order. `--runs N` and `--load L` choose how often and how busy; other words
// choose tests. Exits with 1 when a run failed.

import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, loadavg } from "node:os";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import { ROOT } from "./setup/files.mjs";
import { run, SetupError } from "./setup/run.mjs";
import { VITEST } from "./setup/vitest.mjs";
import { ensureBuild, ensureInstalled, runScript } from "./setup.mjs";

/** @typedef {{ seed: number, failures: readonly string[], minutes: number, load: number }} Run */

const BUSY = "for (;;);";
const REPORTS = join(ROOT, ".cache", "steady");

await runScript(async () => {
  const { values, positionals } = parseArgs({
    options: {
      runs: { type: "string", default: "20" },
      load: { type: "string", default: "2" },
      seed: { type: "string", default: String(Date.now() % 1_000_000) },
    },
    allowPositionals: true,
  });
  const [count, load, seed] = [
    wholeOf("runs", values.runs),
    wholeOf("load", values.load),
    wholeOf("seed", values.seed),
  ];
  await ensureBuild();
  await ensureInstalled("test");
  mkdirSync(REPORTS, { recursive: true });
  const loops = Math.max(0, load - availableParallelism());
  /** @type {Run[]} */
  const runs = [];
  while (runs.length < count) {
    const done = await beside(loops, () => runOnce(seed + runs.length, positionals));
    runs.push(done);
    console.log(`${runs.length} of ${count}: ${lineOf(done)}`);
    for (const failure of done.failures) console.log(`  ${failure}`);
  }
  const failed = runs.filter(({ failures }) => failures.length > 0);
  console.log(`${runs.length - failed.length} passed, ${failed.length} failed`);
  process.exitCode = failed.length === 0 ? 0 : 1;
});

function wholeOf(/** @type {string} */ flag, /** @type {string} */ text) {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new SetupError(`--${flag} is a whole number, not '${text}'.`);
}

function lineOf(/** @type {Run} */ { seed, failures, minutes, load }) {
  const result = failures.length === 0 ? "passed" : `${failures.length} failed`;
  return `${result} (seed ${seed}, ${minutes.toFixed(1)} min, load ${load.toFixed(0)})`;
}

/**
 * @template T
 * @param {number} loops
 * @param {() => Promise<T>} work
 */
async function beside(loops, work) {
  const busy = Array.from({ length: loops }, () => spawn(process.execPath, ["-e", BUSY], { stdio: "ignore" }));
  const stop = () => busy.forEach((child) => void child.kill("SIGKILL"));
  process.once("exit", stop);
  try {
    return await work();
  } finally {
    stop();
    process.off("exit", stop);
  }
}

/**
 * @param {number} seed
 * @param {readonly string[]} chosen
 * @returns {Promise<Run>}
 */
async function runOnce(seed, chosen) {
  const startedAtMs = Date.now();
  const report = join(REPORTS, `${seed}.json`);
  rmSync(report, { force: true });
  const order = ["--sequence.shuffle.files", `--sequence.seed=${seed}`];
  const args = [...VITEST, ...order, ...chosen];
  const reporters = ["--reporter=json", `--outputFile=${report}`];
  const { code, output } = await run(process.execPath, [...args, ...reporters], { cwd: ROOT });
  const failures = existsSync(report) ? failuresOf(report) : [`no report: ${output.slice(-2_000)}`];
  const unnamed = code !== 0 && failures.length === 0 ? [`exit code ${code}: ${output.slice(-2_000)}`] : [];
  const minutes = (Date.now() - startedAtMs) / 60_000;
  return { seed, failures: [...failures, ...unnamed], minutes, load: loadavg()[1] ?? 0 };
}

function failuresOf(/** @type {string} */ report) {
  const { testResults } = JSON.parse(readFileSync(report, "utf8"));
  return testResults.flatMap((/** @type {any} */ file) => {
    const path = relative(ROOT, file.name);
    const failed = file.assertionResults.filter((/** @type {any} */ { status }) => status === "failed");
    if (failed.length === 0) return file.status === "failed" ? [`${path}: ${file.message}`] : [];
    return failed.map(
      (/** @type {any} */ { fullName, failureMessages }) => `${path} > ${fullName}: ${failureMessages[0]}`,
    );
  });
}
