// Watches whether the database accepts writes. A full or read-only database still answers reads, so readiness asks here.
// The watch begins with a failed write and ends with a successful trial write.

import { randomBytes } from "node:crypto";
import type { Db } from "../core/db.ts";
import type { Log } from "../core/log.ts";

export interface WriteWatch {
  /** Notes a failed write. */
  failed(): void;
  isFailing(): boolean;
  close(): void;
}

const TRIAL_MS = 1_000;
/** Larger than a hold with its settlement, so that a trial fails where they would. Random, so that it does not compress. */
const TRIAL_BYTES = 32 * 1024;

export function createWriteWatch(db: Db, log: Log): WriteWatch {
  let timer: NodeJS.Timeout | null = null;
  let isTrying = false;
  const end = (): void => {
    if (timer !== null) clearInterval(timer);
    timer = null;
  };
  const tryAgain = async (): Promise<void> => {
    if (isTrying) return;
    isTrying = true;
    const isWritten = await tryWrite(db).then(
      () => true,
      () => false,
    );
    isTrying = false;
    if (!isWritten || timer === null) return;
    end();
    log.info({ event: "database.writes_recovered" }, "the database takes writes again");
  };
  return {
    failed() {
      if (timer !== null) return;
      log.error({ event: "database.writes_failed" }, "the database takes no writes: not ready until it does");
      timer = setInterval(() => void tryAgain(), TRIAL_MS).unref();
    },
    isFailing: () => timer !== null,
    close: end,
  };
}

/** Commits a row and then deletes all trial rows: only a commit shows a full disk. */
async function tryWrite(db: Db): Promise<void> {
  const filler = randomBytes(TRIAL_BYTES / 2).toString("hex");
  await db.batch([{ sql: INSERT, params: [randomBytes(8).toString("hex"), filler] }]);
  await db.batch([{ sql: "DELETE FROM write_trials" }]);
}

const INSERT = "INSERT INTO write_trials (id, filler) VALUES ($1, $2)";
