// @ts-check
// npm run build: installs what is missing and builds what is stale.

import { runScript, setUp } from "./setup.mjs";

await runScript(() => setUp({ dev: true }));
