// A short simulation with a fixed seed, as part of the usual tests. `npm run test:faults -- --simulate` plays long ones.

import { join } from "node:path";
import { expect, test } from "vitest";
import { ensureBuild } from "../../scripts/setup.mjs";
import { simulate } from "./simulate.ts";

const SEED = 20_261_115;

test(`ten seconds on SQLite, seed ${SEED}`, async () => {
  await ensureBuild();
  const root = join(import.meta.dirname, "../..");
  const print = (line: string): void => console.info(line);
  const { problems, tally } = await simulate({ root, seed: SEED, store: "sqlite", minutes: 1 / 6, print });
  expect(problems).toEqual([]);
  expect(tally.charges).toBeGreaterThan(0);
});
