// @ts-check
// Runs tests.

import { join } from "node:path";
import { ROOT } from "./files.mjs";
import { run } from "./run.mjs";

const TEST = join(ROOT, "test");

/** Arguments of Node. */
export const VITEST = [join(TEST, "node_modules/vitest/vitest.mjs"), "run", "--config", join(TEST, "vitest.config.ts")];

/** Runs tests with further arguments and shows their output. Returns the exit code. */
export async function runVitest(/** @type {readonly string[]} */ args, env = process.env) {
  const { code } = await run(process.execPath, [...VITEST, ...args], { cwd: ROOT, show: true, env });
  return code;
}
