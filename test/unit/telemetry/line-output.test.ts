// Log lines on a file descriptor that takes none: they are dropped, counted and reported, and nothing waits for ever.
// The kernel itself refuses the writes: /dev/full has no space left, and a pipe that nobody reads is full.

import { spawnSync } from "node:child_process";
import { closeSync, constants, existsSync, mkdtempSync, openSync, readFileSync, readSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test, vi } from "vitest";
import { createLineOutput, type LineOutput } from "../../../src/telemetry/line-output.ts";

const hasFull = existsSync("/dev/full");
if (!hasFull) console.info("a full disk is skipped: there is no /dev/full here");
const folder = mkdtempSync(join(tmpdir(), "switchyard-lines-"));
const fifo = join(folder, "pipe");
const hasPipe = spawnSync("mkfifo", [fifo]).status === 0;
if (!hasPipe) console.info("a full pipe is skipped: there is no mkfifo here");
afterAll(() => rmSync(folder, { recursive: true }));

const reportLoss = (droppedLines: number): string => `lost ${droppedLines}\n`;

function numbered(output: LineOutput, count: number): void {
  for (let at = 0; at < count; at += 1) output.write(`${at} ${"x".repeat(1_000)}\n`);
}

test("a file gets every line in order", async () => {
  const path = join(folder, "log");
  const fd = openSync(path, "w");
  const output = createLineOutput({ fd, reportLoss });
  numbered(output, 1_000);
  await output.flush();
  closeSync(fd);
  const numbers = readFileSync(path, "utf8").trimEnd().split("\n").map(Number.parseFloat);
  expect(numbers).toEqual(Array.from({ length: 1_000 }, (_, at) => at));
  expect([output.droppedLines(), output.problem()]).toEqual([0, null]);
});

test("no timer runs while nothing is logged, and what is logged goes out by itself", async () => {
  const path = join(folder, "quiet");
  const fd = openSync(path, "w");
  const timers = holdTimers(100);
  try {
    const output = createLineOutput({ fd, reportLoss });
    for (const line of ["one\n", "two\n"]) {
      expect(timers).toHaveLength(0);
      output.write(line);
      output.write(line);
      expect(timers).toHaveLength(1);
      await vi.waitFor(() => {
        timers.shift()?.();
        expect(readFileSync(path, "utf8")).toContain(line + line);
      }, 120_000);
    }
    expect(timers).toHaveLength(0);
  } finally {
    vi.unstubAllGlobals();
    closeSync(fd);
  }
});

/** Timers of this length wait until they are called here. Other files of this process may set theirs meanwhile. */
function holdTimers(heldMs: number): (() => void)[] {
  const held: (() => void)[] = [];
  const set = setTimeout;
  vi.stubGlobal("setTimeout", (call: () => void, ms?: number, ...rest: []) => {
    if (ms !== heldMs) return set(call, ms, ...rest);
    held.push(call);
    return { unref: () => undefined };
  });
  return held;
}

test.skipIf(!hasFull)("a full disk drops every line, counts it and names the reason", async () => {
  const fd = openSync("/dev/full", "w");
  const output = createLineOutput({ fd, reportLoss });
  output.write("one\ntwo\n");
  await output.flush();
  expect([output.droppedLines(), output.problem()]).toEqual([2, "ENOSPC"]);
  output.write("three\n");
  await output.flush();
  expect([output.droppedLines(), output.problem()]).toEqual([3, "ENOSPC"]);
  // Left open: the report is tried again and again, and must not reach the next file that gets this number.
});

describe.skipIf(!hasPipe)("a pipe that nobody reads", () => {
  const LINES = 6_000;

  test("holds a bounded number of lines, and reports the dropped ones to a later reader", async () => {
    const fd = openSync(fifo, constants.O_RDWR | constants.O_NONBLOCK);
    const output = createLineOutput({ fd, reportLoss });
    numbered(output, LINES);
    await output.flush();
    const dropped = output.droppedLines();
    expect(dropped).toBeGreaterThan(LINES / 10);
    expect(dropped).toBeLessThan(LINES);
    expect(output.problem()).toBe("too slow");

    let text = "";
    const lineCount = (): number => {
      text += readAvailable(fd);
      return text.split("\n").length - 1;
    };
    await expect.poll(lineCount, { interval: 5, timeout: 120_000 }).toBe(LINES - dropped + 1);
    const lines = text.trimEnd().split("\n");
    expect(lines).toContain(`lost ${dropped}`);
    const kept = lines.filter((line) => !line.startsWith("lost")).map(Number.parseFloat);
    expect(kept).toEqual(Array.from({ length: LINES - dropped }, (_, at) => at));
    await output.flush();
    expect(output.problem()).toBeNull();
    closeSync(fd);
  });
});

/** What is in the pipe now; empty when there is nothing. */
function readAvailable(fd: number): string {
  const bytes = Buffer.alloc(64 * 1024);
  try {
    return bytes.toString("utf8", 0, readSync(fd, bytes));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EAGAIN") return "";
    throw error;
  }
}
