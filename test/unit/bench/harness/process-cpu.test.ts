// CPU time of processes is read from a folder like /proc.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openProcessCpu } from "../../../../bench/harness/process-cpu.ts";

let proc: string;

beforeEach(() => {
  proc = mkdtempSync(join(tmpdir(), "switchyard-proc-"));
});

afterEach(() => rmSync(proc, { recursive: true, force: true }));

/** Times in ticks of 10 ms; those of threads in nanoseconds. */
interface Stat {
  readonly parent?: number;
  readonly used?: number;
  readonly ofEnded?: number;
  readonly threadsNs?: Readonly<Record<string, number | null>>;
}

function writeProcess(pid: number, { parent = 1, used = 0, ofEnded = 0, threadsNs = { [pid]: null } }: Stat): void {
  const folder = join(proc, String(pid));
  rmSync(folder, { recursive: true, force: true });
  for (const [thread, ns] of Object.entries(threadsNs)) {
    mkdirSync(join(folder, "task", thread), { recursive: true });
    if (ns !== null) writeFileSync(join(folder, "task", thread, "schedstat"), `${ns} 77 5\n`);
  }
  const fields = ["S", parent, ...Array(9).fill(0), used, 0, ofEnded, 0];
  writeFileSync(join(folder, "stat"), `${pid} (a ) name) ${fields.join(" ")}\n`);
}

test("threads of the server and its children count in nanoseconds", () => {
  writeProcess(10, { used: 9, threadsNs: { 10: 5_000_000, 11: 1_000 } });
  writeProcess(20, { parent: 10, used: 9, threadsNs: { 20: 2_000_000 } });
  writeProcess(30, { used: 9, threadsNs: { 30: 4_000_000 } });
  expect(openProcessCpu("10", proc)()).toBe(7_001);
});

test("a thread that ended keeps what it had used", () => {
  writeProcess(10, { threadsNs: { 10: 5_000_000, 11: 3_000_000 } });
  const readCpuUs = openProcessCpu("10", proc);
  expect(readCpuUs()).toBe(8_000);
  writeProcess(10, { threadsNs: { 10: 6_000_000 } });
  expect(readCpuUs()).toBe(9_000);
});

test("an ended child counts once, in the entry of the server", () => {
  writeProcess(10, { threadsNs: { 10: 5_000_000 } });
  writeProcess(20, { parent: 10, threadsNs: { 20: 20_000_000 } });
  const readCpuUs = openProcessCpu("10", proc);
  expect(readCpuUs()).toBe(25_000);
  rmSync(join(proc, "20"), { recursive: true });
  writeProcess(10, { threadsNs: { 10: 5_000_000 }, ofEnded: 3 });
  expect(readCpuUs()).toBe(35_000);
});

test("ticks serve where the kernel counts no nanoseconds", () => {
  writeProcess(10, { used: 12 });
  expect(openProcessCpu("10", proc)()).toBe(120_000);
});
