// Makes commits durable. SQLite appends them to its log without waiting for the disk (synchronous = NORMAL), and nobody
// hears of one before the log was synced here. Plain JavaScript for the same reason as worker.mjs.

import { closeSync, fdatasync, fdatasyncSync, openSync } from "node:fs";

/** `path` is SQLite's write-ahead log, which stays the same file for as long as the database is open. */
export function createLogSync(path) {
  let file = null;
  function opened() {
    // To be written to, as Windows syncs no other.
    file ??= openSync(path, "r+");
    return file;
  }
  return {
    now: () => fdatasyncSync(opened()),
    /** On another thread, so that this one can go on. `done` gets the error, or null. */
    beside(done) {
      try {
        fdatasync(opened(), done);
      } catch (error) {
        setImmediate(done, error);
      }
    },
    close() {
      if (file !== null) closeSync(file);
      file = null;
    },
  };
}
