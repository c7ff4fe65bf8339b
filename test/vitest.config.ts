// Tests run in forked processes; PostgreSQL is started for them on demand (test/support/stores/global-postgres.ts).

import { availableParallelism } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { ProgressReporter } from "./support/run/progress.ts";

/** Limits of waiting cost nothing when things work, and a slow machine needs them. */
const WAITING = { testTimeout: 600_000, hookTimeout: 600_000, expect: { poll: { timeout: 120_000 } } };
const OPTIONS = {
  pool: "forks",
  setupFiles: join(import.meta.dirname, "support/run/leave-clean.ts"),
  ...WAITING,
} as const;

/** Foreign programs, which `npm run test:clients` fetches and runs. */
const CLIENTS = process.env.SWITCHYARD_CLIENTS === undefined ? [] : ["test/clients/**/*.test.ts"];

const ALONE = [
  // They put something else in a module's place, which the other files of a process must not get.
  ...["test/fault/store/sqlite-faults.test.ts", "test/fault/store/outage.test.ts"],
  // They measure the heap, which other files of a process would fill.
  "test/fault/streams/stream-stress.test.ts",
  ...["test/unit/gateway/sessions/sessions.test.ts", "test/unit/http/overload/admission.test.ts"],
];

export default defineConfig({
  root: join(import.meta.dirname, ".."),
  test: {
    reporters: [new ProgressReporter()],
    globalSetup: ["test/support/run/temporary-folder.ts", "test/support/stores/global-postgres.ts"],
    // Files that did not change since the last run are not compiled again.
    experimental: { fsModuleCache: true, fsModuleCachePath: join(import.meta.dirname, "../.cache/vitest") },
    // Many tests wait for timeouts and processes: on two cores, four at once end sooner than two.
    maxWorkers: Math.max(4, availableParallelism() - 1),
    projects: [
      {
        test: {
          name: "shared",
          include: ["test/{unit,api,contract,e2e,fault,simulate,browser}/**/*.test.ts", ...CLIENTS],
          exclude: ALONE,
          // These files share a process and its loaded modules: loading them for each file took half the time.
          isolate: false,
          ...OPTIONS,
        },
      },
      {
        test: {
          name: "alone",
          include: ALONE,
          ...OPTIONS,
        },
      },
    ],
  },
});
