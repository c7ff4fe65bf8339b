// What control groups leave of a machine, read from folders as Linux lays them out.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir, totalmem } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { readMachine } from "../../../src/config/machine.ts";

const roots: string[] = [];
afterEach(() => {
  for (const root of roots.splice(0)) rmSync(root, { recursive: true, force: true });
});

function rootWith(files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), "switchyard-machine-"));
  roots.push(root);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), `${text}\n`);
  }
  return root;
}

const ALL = {
  cores: availableParallelism(),
  memoryBytes: Math.min(totalmem(), process.constrainedMemory() || totalmem()),
};
const MB = 1024 ** 2;
const OWN = "proc/self/cgroup";
const V2 = "sys/fs/cgroup";

test.each([
  ["no control groups", {}, ALL],
  ["no limits", { [OWN]: "0::/a", [`${V2}/a/cpu.max`]: "max 100000", [`${V2}/a/memory.max`]: "max" }, ALL],
  [
    "version 2, at the top, as in a container",
    { [OWN]: "0::/", [`${V2}/cpu.max`]: "50000 100000", [`${V2}/memory.max`]: `${64 * MB}` },
    { cores: 1, memoryBytes: 64 * MB },
  ],
  [
    "version 2, in a group of its own",
    { [OWN]: "0::/app/job", [`${V2}/app/job/cpu.max`]: "100000 100000", [`${V2}/app/job/memory.max`]: `${32 * MB}` },
    { cores: 1, memoryBytes: 32 * MB },
  ],
  [
    "version 2, in the group above",
    {
      [OWN]: "0::/app/job",
      [`${V2}/app/cpu.max`]: "90000 100000",
      [`${V2}/app/job/cpu.max`]: "max 100000",
      [`${V2}/app/memory.max`]: `${16 * MB}`,
      [`${V2}/app/job/memory.max`]: `${48 * MB}`,
    },
    { cores: 1, memoryBytes: 16 * MB },
  ],
  [
    "version 1, each controller in its own tree",
    {
      [OWN]: "4:memory:/a/b\n2:cpu,cpuacct:/c\n0::/",
      [`${V2}/memory/a/memory.limit_in_bytes`]: `${24 * MB}`,
      [`${V2}/cpu,cpuacct/c/cpu.cfs_quota_us`]: "50000",
      [`${V2}/cpu,cpuacct/c/cpu.cfs_period_us`]: "100000",
    },
    { cores: 1, memoryBytes: 24 * MB },
  ],
  [
    "version 1 in a container, which sees the path of its machine",
    {
      [OWN]: "3:memory:/docker/0123\n1:cpu:/docker/0123",
      [`${V2}/memory/memory.limit_in_bytes`]: `${40 * MB}`,
      [`${V2}/cpu/cpu.cfs_quota_us`]: "-1",
      [`${V2}/cpu/cpu.cfs_period_us`]: "100000",
    },
    { ...ALL, memoryBytes: 40 * MB },
  ],
])("%s", (_, files, expected) => {
  expect(readMachine(rootWith(files))).toEqual(expected);
});
