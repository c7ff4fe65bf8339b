// @ts-check
// npm run test:clients: coding agents as their makers ship them, against the gateway. Fetches the programs into
// .cache/clients first. Words choose tests by name (`npm run test:clients -- Codex`). With --newest it takes the releases of
// the day, and not those that the guides name.

import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./setup/files.mjs";
import { runNpm } from "./setup/install.mjs";
import { step } from "./setup/run.mjs";
import { runVitest } from "./setup/vitest.mjs";
import { ensureBuild, ensureInstalled, runScript } from "./setup.mjs";

/** The releases that the guides name. */
const PROGRAMS = {
  "@anthropic-ai/claude-code": "2.1.328",
  "@google/gemini-cli": "0.61.0",
  "@openai/codex": "0.169.0",
  "opencode-ai": "1.18.33",
};

await runScript(async () => {
  await ensureBuild();
  await ensureInstalled("test");
  const folder = join(ROOT, ".cache", "clients");
  mkdirSync(folder, { recursive: true });
  const isNewest = process.argv.includes("--newest");
  const newest = Object.fromEntries(Object.keys(PROGRAMS).map((name) => [name, "latest"]));
  const dependencies = isNewest ? newest : PROGRAMS;
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, dependencies }));
  // A lock of the last run would keep the releases of its day.
  if (isNewest) rmSync(join(folder, "package-lock.json"), { force: true });
  // Two of them put their binary in place with a script, which the settings of this repository forbid.
  const args = ["install", "--ignore-scripts=false"];
  await step("fetching the programs", () => runNpm(folder, args, "npm could not fetch the programs"));
  const names = process.argv.slice(2).filter((word) => word !== "--newest");
  const tests = ["--no-file-parallelism", "test/clients"];
  if (names.length > 0) tests.push("--testNamePattern", names.join("|"));
  process.exitCode = await runVitest(tests, { ...process.env, SWITCHYARD_CLIENTS: folder });
});
