// @ts-check
// npm run build: installs what is missing and builds what is stale.

import { ensureSite, runScript, setUp } from "./setup.mjs";

await runScript(async () => {
  await setUp({ dev: true });
  await ensureSite();
});
