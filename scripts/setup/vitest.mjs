// @ts-check
// The command that runs tests, as arguments of Node.

import { join } from "node:path";
import { ROOT } from "./files.mjs";

const TEST = join(ROOT, "test");

export const VITEST = [join(TEST, "node_modules/vitest/vitest.mjs"), "run", "--config", join(TEST, "vitest.config.ts")];
