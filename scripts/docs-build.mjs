// @ts-check
// npm run docs:build: builds the documentation site into dist/docs. A dead link or a missing picture fails it. npm start runs
// it in the background, and then it ends with the process that started it.

import { ensureSite, runScript } from "./setup.mjs";

process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));
process.channel?.unref();
await runScript(ensureSite);
