// Replacing workers. Real processes die in test/fault/processes; these die before they serve.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { SILENT_LOG } from "../../../src/telemetry/log.ts";
import { createSupervisor } from "../../../src/workers/supervisor.ts";

/** A supervisor of one worker that runs these lines. Its timers are fake. */
function supervise(lines: string, watched: { onEnd(): void; onHung?(): void }) {
  const folder = mkdtempSync(join(tmpdir(), "switchyard-supervisor-"));
  const program = join(folder, "worker.mjs");
  writeFileSync(program, lines);
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const supervisor = createSupervisor({
    ...{ count: 1, program, args: [], log: SILENT_LOG, onStart: () => undefined },
    ...{ onHung: () => undefined, onLost: () => undefined, ...watched },
  });
  onTestFinished(() => {
    supervisor.retire();
    vi.useRealTimers();
    rmSync(folder, { recursive: true, force: true });
  });
  return supervisor;
}

test("with no worker left, one is started again at once, however often it dies as it starts", async () => {
  let ended = 0;
  let done = (): void => undefined;
  const third = new Promise<void>((resolve) => {
    done = resolve;
  });
  // A delayed start would never come.
  const { startFirst, retire } = supervise("process.exit(1);\n", {
    onEnd() {
      ended += 1;
      if (ended < 3) return;
      retire();
      done();
    },
  });
  startFirst();
  await third;
  expect(ended).toBe(3);
});

test("a worker that hangs as it starts is killed", async () => {
  const onHung = vi.fn();
  const { startFirst, retire } = supervise("setInterval(() => undefined, 1_000_000);\n", {
    onEnd: () => retire(),
    onHung,
  });
  const { ended } = startFirst();
  vi.advanceTimersByTime(5 * 60_000 - 1);
  expect(onHung).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  await ended;
  expect(onHung).toHaveBeenCalledOnce();
});
