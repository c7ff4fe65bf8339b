// The thread of a SQLite file, whose syncs and witness writes end when a test says so. `pace` is memory that both share: how
// many pauses were reached, and how many may end. The thread pauses at its first sync, with `isFailing` at one more that then
// fails, and with `pausesAtWitness` before each write to its witness.

import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { workerData } from "node:worker_threads";

const [REACHED, RELEASED] = [0, 1];
const { pace, isFailing, pausesAtWitness } = workerData;
const { fdatasyncSync, writeSync } = fs;

/** Stops the thread, so that what is sent meanwhile waits unread. */
function pause() {
  const number = Atomics.add(pace, REACHED, 1) + 1;
  for (let past = Atomics.load(pace, RELEASED); past < number; past = Atomics.load(pace, RELEASED)) {
    Atomics.wait(pace, RELEASED, past);
  }
}

let pausesLeft = isFailing ? 2 : 1;
fs.fdatasyncSync = (file) => {
  if (pausesLeft > 0) {
    pausesLeft -= 1;
    pause();
    if (isFailing && pausesLeft === 0) throw Object.assign(new Error("EIO: i/o error, fdatasync"), { code: "EIO" });
  }
  fdatasyncSync(file);
};

if (pausesAtWitness) {
  fs.writeSync = (...args) => {
    pause();
    return writeSync(...args);
  };
}
syncBuiltinESMExports();

await import("../../../src/store/sqlite/worker.mjs");
