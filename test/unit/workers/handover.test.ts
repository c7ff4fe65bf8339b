// The end of the last worker is held back until another one listens, but not for ever.

import type { ChildProcess } from "node:child_process";
import { EventEmitter } from "node:events";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createHandover } from "../../../src/workers/handover.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** As much of a worker process as is watched, and the events that Node heard of it. */
function fakeWorker() {
  const heard: string[] = [];
  const worker = Object.assign(new EventEmitter(), { connected: true, send: () => true });
  worker.on("disconnect", () => heard.push("disconnect"));
  worker.on("exit", () => heard.push("exit"));
  return { heard, worker: worker as unknown as ChildProcess };
}

function die(worker: ChildProcess): void {
  worker.emit("disconnect");
  worker.emit("exit", null, "SIGKILL");
}

test("Node hears of the last worker's end when another one listens", () => {
  const handover = createHandover();
  const [first, second] = [fakeWorker(), fakeWorker()];
  handover.watch(first.worker);
  handover.join(first.worker);
  die(first.worker);
  expect(first.heard).toEqual([]);
  handover.watch(second.worker);
  handover.join(second.worker);
  expect(first.heard).toEqual(["disconnect", "exit"]);
});

test("connections wait for ten seconds; then the port closes", () => {
  const handover = createHandover();
  const { worker, heard } = fakeWorker();
  handover.watch(worker);
  handover.join(worker);
  die(worker);
  vi.advanceTimersByTime(9_900);
  expect(heard).toEqual([]);
  vi.advanceTimersByTime(200);
  expect(heard).toEqual(["disconnect", "exit"]);
});

test("each time all workers are dead, connections wait for ten seconds", () => {
  const handover = createHandover();
  const [first, second] = [fakeWorker(), fakeWorker()];
  for (const { worker } of [first, second]) {
    handover.watch(worker);
    handover.join(worker);
    die(worker);
    vi.advanceTimersByTime(9_000);
  }
  expect([first.heard.length, second.heard.length]).toEqual([2, 0]);
});
