// @ts-check
// npm run test:faults: the fault suite at length. The same tests as in `npm test`, with every variant of the matrix, more
// kills, more random exchanges and longer outages. `--seed S` repeats a run, `--scale N` makes it longer; other words
// choose files. `--simulate MINUTES` plays random histories instead, on the store that `--store` names.

import { parseArgs } from "node:util";
import { runCompiled } from "./setup/compiled.mjs";
import { runVitest } from "./setup/vitest.mjs";
import { ensureBuild, ensureInstalled, runScript } from "./setup.mjs";

const DEFAULT_SCALE = "4";
/** Tests that break things, in whatever folder. */
const BREAKING = ["test/fault", "test/contract/postgres-outage.test.ts", "test/unit/billing/simulator.test.ts"];
/** Tests that hold the product to a time. Only here nothing runs beside them. */
const TIMED = [
  ...[
    "test/api/chat/bodies.test.ts",
    "test/api/messages/messages.fallback.test.ts",
    "test/e2e/cli.test.ts",
    "test/e2e/openai.test.ts",
  ],
  ...["test/unit/formats/scan/scan.test.ts", "test/unit/routing/classifier/weights.test.ts"],
];

await runScript(async () => {
  const { values, positionals } = parseArgs({
    options: {
      seed: { type: "string" },
      scale: { type: "string", default: DEFAULT_SCALE },
      simulate: { type: "string" },
      store: { type: "string", default: "sqlite" },
    },
    allowPositionals: true,
  });
  const seed = values.seed ?? String(Date.now() % 2_147_483_647);
  if (values.simulate !== undefined) {
    const args = ["--simulate", values.simulate, "--store", values.store, "--seed", seed];
    await runCompiled("test/simulate/main", args);
    return;
  }
  await ensureBuild();
  await ensureInstalled("test");
  console.log(`faults: scale ${values.scale}, seed ${seed} (npm run test:faults -- --seed ${seed} repeats it)`);
  const files = positionals.length > 0 ? positionals : [...BREAKING, ...TIMED];
  // One file after the other: they measure and wait, and would disturb each other.
  const env = { ...process.env, SEED: seed, SWITCHYARD_TEST_SCALE: values.scale };
  process.exitCode = await runVitest(["--no-file-parallelism", ...files], env);
});
