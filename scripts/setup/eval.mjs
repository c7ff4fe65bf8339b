// @ts-check
// Compiles the evaluation and training programs beside a copy of the sources and runs one of them.

import { join } from "node:path";
import { runScript, setUp } from "../setup.mjs";
import { compile, copyAssets } from "./build.mjs";
import { here } from "./surroundings.mjs";

export async function runEval(/** @type {string} */ program) {
  await runScript(async () => {
    const surroundings = here();
    const { root, run, progress } = surroundings;
    await setUp({ dev: true }, surroundings);
    const outDir = join(root, ".cache", "eval-dist");
    await progress.step("compiling the evaluation", async () => {
      await compile(surroundings, { project: "eval/tsconfig.json", outDir });
      copyAssets(root, join(outDir, "src"));
    });
    const file = join(outDir, "eval", program);
    const { code } = await run(process.execPath, [file, ...process.argv.slice(2)], { cwd: root, show: true });
    process.exitCode = code;
  });
}
