// @ts-check
// npm run test:faults: the fault suite at length. The same tests as in `npm test`, with every variant of the matrix, more
// kills, more random exchanges and longer outages. `--seed S` repeats a run, `--scale N` makes it longer; other words
// choose files. `--simulate MINUTES` plays random histories instead, on the store that `--store` names.

import { join } from "node:path";
import { parseArgs } from "node:util";
import { compile } from "./setup/build.mjs";
import { run } from "./setup/run.mjs";
import { here, ROOT } from "./setup/surroundings.mjs";
import { runScript, setUp } from "./setup.mjs";

const DEFAULT_SCALE = "4";
/** What breaks things, wherever it stands. */
const BREAKING = ["test/fault", "test/contract/postgres-outage.test.ts", "test/unit/billing/simulator.test.ts"];
/** What else holds the product to a time: only here, where nothing runs beside it. */
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
  await setUp({ dev: true });
  const seed = values.seed ?? String(Date.now() % 2_147_483_647);
  if (values.simulate !== undefined) {
    process.exitCode = await simulate(["--simulate", values.simulate, "--store", values.store, "--seed", seed]);
    return;
  }
  console.log(`faults: scale ${values.scale}, seed ${seed} (npm run test:faults -- --seed ${seed} repeats it)`);
  const files = positionals.length > 0 ? positionals : [...BREAKING, ...TIMED];
  // One file after the other: they measure and wait, and would disturb each other.
  const args = [join(ROOT, "node_modules/vitest/vitest.mjs"), "run", "--no-file-parallelism", ...files];
  const env = { ...process.env, SEED: seed, SWITCHYARD_TEST_SCALE: values.scale };
  const { code } = await run(process.execPath, args, { cwd: ROOT, show: true, env });
  process.exitCode = code;
});

/** Compiles the simulator beside the build and runs it. */
async function simulate(/** @type {readonly string[]} */ args) {
  const surroundings = here();
  const outDir = join(ROOT, ".cache", "simulate-dist");
  await surroundings.progress.step("compiling the simulator", () =>
    compile(surroundings, { project: "test/simulate/tsconfig.json", outDir }),
  );
  const program = join(outDir, "test", "simulate", "main.js");
  const { code } = await run(process.execPath, [program, ...args], { cwd: ROOT, show: true });
  return code;
}
