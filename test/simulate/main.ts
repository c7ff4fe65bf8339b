// npm run test:faults -- --simulate MINUTES: a simulation on the command line. Ends with 1 when something is wrong.

import { parseArgs } from "node:util";
import type { StoreKind } from "./plan.ts";
import { type SimulationResult, simulate } from "./simulate.ts";

const PROBLEMS_SHOWN = 10;

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { simulate: { type: "string" }, seed: { type: "string" }, store: { type: "string", default: "sqlite" } },
  });
  const { simulate: minutes, seed, store } = values;
  if (!(Number(minutes) > 0) || !Number.isInteger(Number(seed)) || !isStore(store)) {
    console.log("usage: npm run test:faults -- --simulate MINUTES [--seed N] [--store sqlite|postgres]");
    return 2;
  }
  const command = `npm run test:faults -- --simulate ${minutes} --store ${store} --seed ${seed}`;
  console.log(`simulation: ${minutes} min on ${store}, seed ${seed}\nreplay: ${command}`);
  const beganMs = performance.now();
  const options = { root: process.cwd(), seed: Number(seed), store, minutes: Number(minutes) };
  const result = await simulate({ ...options, print: (line) => console.log(line) });
  summarize(result, (performance.now() - beganMs) / 1000);
  if (result.problems.length === 0) {
    console.log(`✓ nothing is wrong (seed ${seed}, ${store})`);
    return 0;
  }
  for (const problem of result.problems.slice(0, PROBLEMS_SHOWN)) console.log(`✗ ${problem}`);
  console.log(`✗ ${result.problems.length} problems (seed ${seed}, ${store}); logs and data are in ${result.folder}`);
  console.log(`replay: ${command}`);
  return 1;
}

function isStore(name: string): name is StoreKind {
  return name === "sqlite" || name === "postgres";
}

function summarize({ tally }: SimulationResult, seconds: number): void {
  const { steps, requests, providerCalls, charges } = tally;
  const list = (counts: ReadonlyMap<string, number>): string =>
    [...counts]
      .sort(([a], [b]) => a.localeCompare(b))
      .map(([name, count]) => `${name} ${count}`)
      .join(", ");
  console.log(
    `${steps} steps, ${requests} requests, ${providerCalls} provider calls, ${charges} charges in ${Math.round(seconds)} s`,
  );
  console.log(`statuses: ${list(tally.outcomes)}`);
  console.log(`provider: ${list(tally.faults)}`);
  console.log(`operations: ${list(tally.operations)}`);
}

process.exitCode = await main();
