// @ts-check
// npm run test:clients: coding agents as their makers ship them, against the gateway. Fetches the programs into
// .cache/clients first. Words choose tests by name (`npm run test:clients -- Codex`).

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { npmCommand } from "./setup/dependencies.mjs";
import { run } from "./setup/run.mjs";
import { here, ROOT, SetupError, tail } from "./setup/surroundings.mjs";
import { runScript, setUp } from "./setup.mjs";

/** The releases that the guides name. */
const PROGRAMS = {
  "@anthropic-ai/claude-code": "2.1.197",
  "@google/gemini-cli": "0.61.0",
  "@openai/codex": "0.166.0",
  "opencode-ai": "1.18.33",
};

await runScript(async () => {
  await setUp({ dev: true });
  const folder = join(ROOT, ".cache", "clients");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, dependencies: PROGRAMS }));
  await here().progress.step("fetching the programs", () => install(folder));
  const names = process.argv.slice(2);
  const args = [join(ROOT, "node_modules/vitest/vitest.mjs"), "run", "--no-file-parallelism", "test/clients"];
  if (names.length > 0) args.push("--testNamePattern", names.join("|"));
  const env = { ...process.env, SWITCHYARD_CLIENTS: folder };
  const { code } = await run(process.execPath, args, { cwd: ROOT, show: true, env });
  process.exitCode = code;
});

async function install(/** @type {string} */ folder) {
  const npm = npmCommand();
  // Two of them put their binary in place with a script, which the settings of this repository forbid.
  const args = [...npm.args, "install", "--ignore-scripts=false", "--prefer-offline", "--no-audit", "--no-fund"];
  const { code, output } = await run(npm.command, args, { cwd: folder, shell: npm.shell });
  if (code !== 0)
    throw new SetupError(`npm could not fetch the programs (exit code ${code}). Its last lines:\n${tail(output)}`);
}
