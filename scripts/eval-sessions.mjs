// @ts-check
// npm run eval:sessions: what conversations cost under four ways to route them.

import { runEval } from "./setup/eval.mjs";

await runEval("sessions-main.js");
