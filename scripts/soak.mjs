// @ts-check
// npm run soak: builds the gateway, compiles the soak beside it and runs it (`npm run soak -- --minutes 10`).

import { join } from "node:path";
import { compile } from "./setup/build.mjs";
import { here } from "./setup/surroundings.mjs";
import { runScript, setUp } from "./setup.mjs";

await runScript(async () => {
  const surroundings = here();
  const { root, run, progress } = surroundings;
  await setUp({ dev: true }, surroundings);
  const outDir = join(root, ".cache", "soak-dist");
  await progress.step("compiling the soak", () =>
    compile(surroundings, { project: "bench/soak/tsconfig.json", outDir }),
  );
  const program = join(outDir, "bench", "soak", "main.js");
  const { code } = await run(process.execPath, [program, ...process.argv.slice(2)], { cwd: root, show: true });
  process.exitCode = code;
});
