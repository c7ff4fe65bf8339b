// Replacing workers, and ending those that nobody needs. Real processes die in test/fault/processes; these serve nothing.

import cluster from "node:cluster";
import { EventEmitter, once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { SILENT_LOG } from "../../../src/telemetry/log.ts";
import { createSupervisor, type SupervisorOptions } from "../../../src/workers/supervisor.ts";

/** A supervisor of one worker, unless the options say more, that runs these lines. Its timers are fake. */
function supervise(lines: string, given: Partial<SupervisorOptions>) {
  const folder = mkdtempSync(join(tmpdir(), "switchyard-supervisor-"));
  const program = join(folder, "worker.mjs");
  writeFileSync(program, lines);
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const supervisor = createSupervisor({
    ...{ crew: { least: 1, most: 1 }, program, args: [], log: SILENT_LOG, onStart: () => undefined },
    ...{ onHung: () => undefined, onLost: () => undefined, onSpare: () => undefined, onEnd: () => undefined, ...given },
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

test("a spare worker is ended and not replaced, until the load needs it again", async () => {
  let nowMs = 0;
  vi.spyOn(performance, "now").mockImplementation(() => nowMs);
  onTestFinished(() => void vi.restoreAllMocks());
  const events = new EventEmitter();
  const server = `(await import("node:net")).createServer().listen({ host: "127.0.0.1", port: 0 });\n`;
  const { startFirst, startOthers, report, running } = supervise(server, {
    ...{ crew: { least: 1, most: 2 }, spareMs: 100 },
    onEnd: () => events.emit("end"),
    onSpare: ({ pid }) => process.kill(pid as number),
  });
  const startOne = async (start: () => void): Promise<void> => {
    const listening = once(cluster, "listening");
    start();
    await listening;
  };
  await startOne(startFirst);
  startOthers();
  const [first] = running();
  if (first === undefined) throw new Error("no worker");
  // One report alone says little.
  const tell = (load: number): void => {
    for (let times = 0; times < 10; times += 1) report(first, { load, connections: 4 });
  };
  await startOne(() => tell(1));
  expect(running()).toHaveLength(2);
  tell(0.1);
  const ended = once(events, "end");
  nowMs = 200;
  await ended;
  vi.advanceTimersByTime(60_000);
  expect(running()).toEqual([first]);
  await startOne(() => tell(1));
  expect(running().map(({ index }) => index)).toEqual([0, 1]);
});
