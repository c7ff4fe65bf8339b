// Loaded into a process before anything else: the sync of SQLite's log is slow, or fails, as long as a file says so. What a
// file of the folder SYNC_FAULTS is called is what happens: `slow` delays a sync, `broken` makes it fail.

import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";

const SLOW_MS = 400;
const { fdatasyncSync } = fs;
const has = (name) => fs.existsSync(join(process.env.SYNC_FAULTS ?? "", name));
const broken = () => Object.assign(new Error("EIO: i/o error, fdatasync"), { code: "EIO" });

fs.fdatasyncSync = (file) => {
  if (has("broken")) throw broken();
  if (has("slow")) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, SLOW_MS);
  fdatasyncSync(file);
};
syncBuiltinESMExports();
