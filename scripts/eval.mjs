// @ts-check
// npm run eval: measures the router on our own corpus, or on labelled rows elsewhere (`npm run eval -- --data DIR`).

import { runEval } from "./setup/eval.mjs";

await runEval("main.js");
