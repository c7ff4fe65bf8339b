// @ts-check
// npm run bench: builds the gateway, compiles the benchmarks beside a copy of the sources and runs them.

import { join } from "node:path";
import { compile, copyAssets } from "./setup/build.mjs";
import { here } from "./setup/surroundings.mjs";
import { runScript, setUp } from "./setup.mjs";

/** As `npm start` gives them. */
const NODE_FLAGS = ["--max-semi-space-size=32"];

await runScript(async () => {
  const surroundings = here();
  const { root, run, progress } = surroundings;
  await setUp({ dev: true }, surroundings);
  const outDir = join(root, ".cache", "bench-dist");
  await progress.step("compiling the benchmarks", async () => {
    await compile(surroundings, { project: "bench/tsconfig.json", outDir });
    copyAssets(root, join(outDir, "src"));
  });
  const program = join(outDir, "bench", "main.js");
  const { code } = await run(process.execPath, [...NODE_FLAGS, program, ...process.argv.slice(2)], {
    cwd: root,
    show: true,
  });
  process.exitCode = code;
});
