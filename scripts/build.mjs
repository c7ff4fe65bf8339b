// @ts-check
// npm run build: builds what the npm package holds.

import { writeBom } from "./setup/bom.mjs";
import { ROOT } from "./setup/files.mjs";
import { ensureBuild, ensureSite, runScript } from "./setup.mjs";

await runScript(async () => {
  await ensureBuild();
  await ensureSite();
  writeBom(ROOT);
});
