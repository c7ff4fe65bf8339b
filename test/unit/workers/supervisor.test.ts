// Replacing workers. Real processes die in test/fault/processes; these die before they serve.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { SILENT_LOG } from "../../../src/telemetry/log.ts";
import { createSupervisor } from "../../../src/workers/supervisor.ts";

test("with no worker left, one is started again at once, however often it dies as it starts", async () => {
  const folder = mkdtempSync(join(tmpdir(), "switchyard-supervisor-"));
  const program = join(folder, "dies.mjs");
  writeFileSync(program, "process.exit(1);\n");
  // A delayed start would never come.
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  let ended = 0;
  let done = (): void => undefined;
  const third = new Promise<void>((resolve) => {
    done = resolve;
  });
  const { startFirst, retire } = createSupervisor({
    ...{ count: 1, program, args: [], log: SILENT_LOG, onStart: () => undefined },
    ...{ onHung: () => undefined, onLost: () => undefined },
    onEnd() {
      ended += 1;
      if (ended === 3) done();
    },
  });
  onTestFinished(() => {
    retire();
    vi.useRealTimers();
    rmSync(folder, { recursive: true, force: true });
  });
  startFirst();
  await third;
  retire();
  expect(ended).toBe(3);
});
