// Connections wait for workers that start, and the end of the last worker is held back until another one listens or the
// gateway stops.

import type { ChildProcess } from "node:child_process";
import { EventEmitter } from "node:events";
import { beforeEach, expect, test, vi } from "vitest";
import { createHandover } from "../../../src/workers/handover.ts";

beforeEach(() => void vi.useFakeTimers());

/** As much of a worker process as is watched, and the events that Node heard of it. */
function fakeWorker() {
  const heard: string[] = [];
  const sent: number[] = [];
  const send = ({ seq }: { seq: number }): boolean => sent.push(seq) > 0;
  const worker = Object.assign(new EventEmitter(), { connected: true, send });
  worker.on("disconnect", () => heard.push("disconnect"));
  worker.on("exit", () => heard.push("exit"));
  return { heard, sent, worker: worker as unknown as ChildProcess };
}

type FakeWorker = ReturnType<typeof fakeWorker>;

/** The workers of a gateway that has started. */
function openWith(count: number): readonly FakeWorker[] {
  const handover = createHandover();
  const workers = Array.from({ length: count }, fakeWorker);
  for (const { worker } of workers) {
    handover.watch(worker);
    handover.join(worker);
  }
  handover.begin();
  return workers;
}

/** As Node does it. */
function hand(worker: ChildProcess, seq: number) {
  const connection = { close: vi.fn() };
  (worker.send as (message: object, connection: object) => boolean)({ act: "newconn", seq }, connection);
  return connection;
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

test("the port stays open until another worker listens, however long that takes", () => {
  const handover = createHandover();
  const [first, second] = [fakeWorker(), fakeWorker()];
  for (const { worker } of [first, second]) {
    handover.watch(worker);
    handover.join(worker);
    die(worker);
    vi.advanceTimersByTime(3_600_000);
  }
  expect([first.heard, second.heard]).toEqual([["disconnect", "exit"], []]);
});

/** Three workers at the start, of which the first listens: it was handed six connections. */
function startWith() {
  const handover = createHandover();
  const [first, second, third] = [fakeWorker(), fakeWorker(), fakeWorker()];
  handover.watch(first.worker);
  handover.join(first.worker);
  for (const seq of [1, 2, 3, 4, 5, 6]) hand(first.worker, seq);
  // Nobody could stop the gateway cleanly yet.
  expect(first.sent).toEqual([]);
  for (const { worker } of [second, third]) handover.watch(worker);
  handover.begin();
  return { handover, first, second, third };
}

test("at the start, four connections are handed over at once, and the others when all workers listen", () => {
  const { handover, first, second, third } = startWith();
  vi.advanceTimersByTime(1_000);
  expect(first.sent).toEqual([1, 2, 3, 4]);
  handover.join(second.worker);
  hand(second.worker, 7);
  expect([first.sent, second.sent]).toEqual([[1, 2, 3, 4], []]);
  handover.join(third.worker);
  hand(third.worker, 8);
  expect([first.sent, second.sent, third.sent]).toEqual([[1, 2, 3, 4, 5], [7], [8]]);
});

test("at the start, a worker that dies and its replacement do not stand for another", () => {
  const { handover, first, second } = startWith();
  die(second.worker);
  const replacement = fakeWorker();
  handover.watch(replacement.worker);
  handover.join(replacement.worker);
  hand(replacement.worker, 7);
  expect([first.sent, replacement.sent]).toEqual([[1, 2, 3, 4], []]);
});

test("at the start, connections wait for no worker that has failed", () => {
  const { first, second, third } = startWith();
  die(second.worker);
  expect(first.sent).toHaveLength(4);
  die(third.worker);
  expect(first.sent).toHaveLength(6);
});

test("at the start, connections wait for ten seconds at most", () => {
  const { first } = startWith();
  vi.advanceTimersByTime(9_900);
  expect(first.sent).toHaveLength(4);
  vi.advanceTimersByTime(200);
  expect(first.sent).toHaveLength(6);
});

test("a connection that was not taken by a worker that dies goes to another", () => {
  const [first, second] = openWith(2) as [FakeWorker, FakeWorker];
  const connection = hand(first.worker, 1);
  die(first.worker);
  expect([first.sent, second.sent]).toEqual([[1], [-1]]);
  expect(connection.close).not.toHaveBeenCalled();
});

test("connections that wait while all workers are dead are closed with the gateway", () => {
  const handover = createHandover();
  const { worker } = fakeWorker();
  handover.watch(worker);
  handover.join(worker);
  handover.begin();
  const connections = [hand(worker, 1), hand(worker, 2)];
  die(worker);
  connections.push(hand(worker, 3));
  handover.retire();
  for (const { close } of connections) expect(close).toHaveBeenCalledOnce();
});

test("a stop at the start hands over what waits", () => {
  const { handover, first } = startWith();
  handover.retire();
  expect(first.sent).toHaveLength(6);
});
