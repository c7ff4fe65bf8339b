// @ts-check
// npm run docs:build: builds the documentation site into dist/docs. A dead link or a missing picture fails it.

import { endWithStarter } from "./setup/site.mjs";
import { ensureDependencies, ensureSite, runScript } from "./setup.mjs";

endWithStarter();
await runScript(async () => {
  await ensureDependencies();
  await ensureSite();
});
