// @ts-check
// npm run test:clients: coding agents as their makers ship them, against the gateway. Fetches the programs into
// .cache/clients first. Words choose tests by name (`npm run test:clients -- Codex`).

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./setup/files.mjs";
import { npmCommand } from "./setup/install.mjs";
import { run, SetupError, step } from "./setup/run.mjs";
import { VITEST } from "./setup/vitest.mjs";
import { ensureBuild, ensureInstalled, runScript } from "./setup.mjs";

/** The releases that the guides name. */
const PROGRAMS = {
  "@anthropic-ai/claude-code": "2.1.197",
  "@google/gemini-cli": "0.61.0",
  "@openai/codex": "0.166.0",
  "opencode-ai": "1.18.33",
};

await runScript(async () => {
  await ensureBuild();
  await ensureInstalled("test");
  const folder = join(ROOT, ".cache", "clients");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, dependencies: PROGRAMS }));
  await step("fetching the programs", () => install(folder));
  const names = process.argv.slice(2);
  const args = [...VITEST, "--no-file-parallelism", "test/clients"];
  if (names.length > 0) args.push("--testNamePattern", names.join("|"));
  const env = { ...process.env, SWITCHYARD_CLIENTS: folder };
  const { code } = await run(process.execPath, args, { cwd: ROOT, show: true, env });
  process.exitCode = code;
});

async function install(/** @type {string} */ folder) {
  const npm = npmCommand();
  // Two of them put their binary in place with a script, which the settings of this repository forbid.
  const args = [...npm.args, "install", "--ignore-scripts=false", "--prefer-offline", "--no-audit", "--no-fund"];
  const { code } = await run(npm.command, args, { cwd: folder, show: "stderr", shell: npm.shell });
  if (code !== 0) throw new SetupError(`npm could not fetch the programs (exit code ${code}); it said why above.`);
}
