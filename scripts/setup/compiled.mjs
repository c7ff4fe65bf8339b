// @ts-check
// Transpiles the programs of a folder (bench, eval, the soak, the simulator) beside a copy of the sources and runs one of them.

import { rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { ensureBuild, ensureInstalled } from "../setup.mjs";
import { copyAssets, transpile } from "./build.mjs";
import { ROOT } from "./files.mjs";
import { run, step } from "./run.mjs";

/**
 * @param {string} program
 * @param {readonly string[]} args
 */
export async function runCompiled(program, args) {
  await ensureBuild();
  await ensureInstalled("test");
  const [folder = ""] = program.split("/");
  const outDir = join(ROOT, ".cache", `${folder}-dist`);
  await step(`building ${folder}`, async () => {
    await transpile(ROOT, [...new Set(["src", "test", folder])], outDir);
    copyAssets(ROOT, join(outDir, "src"));
  });
  // Files of test/ find their packages as they do in place.
  const modules = join(outDir, "test", "node_modules");
  rmSync(modules, { force: true });
  symlinkSync(join(ROOT, "test", "node_modules"), modules, "junction");
  const file = join(outDir, `${program}.js`);
  const { code } = await run(process.execPath, [...process.execArgv, file, ...args], { cwd: ROOT, show: true });
  process.exitCode = code;
}
