// Tests run in forked processes; PostgreSQL is started for them on demand (test/support/stores/global-postgres.ts).

import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // Foreign programs, which `npm run test:clients` fetches and runs.
    exclude: process.env.SWITCHYARD_CLIENTS === undefined ? ["test/clients/**"] : [],
    globalSetup: ["test/support/stores/global-postgres.ts"],
    pool: "forks",
    // Many tests wait for timeouts and processes: on two cores, two at once end sooner than one by one.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    // Limits of waiting cost nothing when things work, and a slow machine needs them.
    testTimeout: 180_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
