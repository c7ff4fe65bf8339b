// @ts-check
// npm run train: trains the router's weights and writes them with the model card (`npm run train -- --data DIR`).

import { runEval } from "./setup/eval.mjs";

await runEval("train-main.js");
