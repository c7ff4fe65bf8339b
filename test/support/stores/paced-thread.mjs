// The thread of a SQLite file, whose syncs end when a test says so. `pace` is memory that both share: how many pauses were
// reached, how many may end, and whether the sync beside the thread may end. With `isFailing` that sync fails. With
// `pausesAtWitness` the thread also stops before it writes to its witness.

import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { workerData } from "node:worker_threads";

const [REACHED, RELEASED, MAY_END] = [0, 1, 2];
const { pace, isFailing, pausesAtWitness } = workerData;
const { fdatasync, fdatasyncSync, writeSync } = fs;

/** Stops the thread, so that what is sent meanwhile waits unread. */
function pause() {
  const number = Atomics.add(pace, REACHED, 1) + 1;
  for (let past = Atomics.load(pace, RELEASED); past < number; past = Atomics.load(pace, RELEASED)) {
    Atomics.wait(pace, RELEASED, past);
  }
}

let hasPaused = false;
fs.fdatasyncSync = (file) => {
  if (!hasPaused) pause();
  hasPaused = true;
  fdatasyncSync(file);
};

if (pausesAtWitness) {
  fs.writeSync = (...args) => {
    pause();
    return writeSync(...args);
  };
}

function endBeside(file, done) {
  if (Atomics.load(pace, MAY_END) === 0) setTimeout(endBeside, 1, file, done);
  // The thread's own next turn comes first. After it nothing is left to do.
  else setImmediate(end, done);
}

function end(done) {
  fs.fdatasync = fdatasync;
  syncBuiltinESMExports();
  pause();
  done(isFailing ? Object.assign(new Error("EIO: i/o error, fdatasync"), { code: "EIO" }) : null);
}
fs.fdatasync = endBeside;
syncBuiltinESMExports();

await import("../../../src/store/sqlite/worker.mjs");
