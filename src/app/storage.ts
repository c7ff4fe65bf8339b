// Watches the database: reports of its opening and its connections, and its files. A file that was deleted under the
// process is logged and shown in the metrics. Until it is back, the store refuses writes.

import type { Db } from "../core/db.ts";
import type { Log } from "../core/log.ts";
import { PART_NAMES } from "../store/sqlite/part-files.ts";
import type { DbPart } from "../store/sqlite/part-tables.ts";
import type { Metrics } from "../telemetry/metrics.ts";

const WATCH_MS = 10_000;

interface StorageContext {
  readonly log: Log;
  readonly metrics: Pick<Metrics, "databaseFilesLost">;
}

/** Events of each part of a SQLite database that has a file of its own. */
const EVENTS = {
  log: { moving: "database.log_moving", failed: "database.log_move_failed", aside: "database.log_set_aside" },
  contents: {
    moving: "database.contents_moving",
    failed: "database.contents_move_failed",
    aside: "database.contents_set_aside",
  },
} as const;
/** Rows that move in a moment. */
const ROWS_SHOWN = 10_000;

/** Watches the database in the process that owns it. */
export function watchedBy(log: Log) {
  return {
    exclusive: true,
    onMoving(part: DbPart, table: string, rows: number) {
      if (rows < ROWS_SHOWN) return;
      log.info({ event: EVENTS[part].moving, table, rows }, `rows move to the ${PART_NAMES[part]}`);
    },
    onMoveFailed: (part: DbPart, table: string, err: Error) =>
      log.error({ event: EVENTS[part].failed, table, err }, `rows could not be moved to the ${PART_NAMES[part]}`),
    onSetAside: (part: DbPart, file: string, reason: string) =>
      log.error({ event: EVENTS[part].aside, file, reason }, `the ${PART_NAMES[part]} was set aside; a new one begins`),
    onAdopted: (commits: number) =>
      log.warn(
        { event: "database.adopted", commits },
        "the database came without its witness file; what it holds is taken for the truth",
      ),
    onConnectionLost: (err: Error) => log.warn({ event: "database.connection_lost", err }, "database connection lost"),
  };
}

/** Logs once when a file is lost, and once when all are back. */
export function watchStorage(
  dbs: readonly Pick<Db, "problems">[],
  { log, metrics }: StorageContext,
): { close(): void } {
  let isLost = false;
  async function look(): Promise<void> {
    const problems = (await Promise.all(dbs.map((db) => db.problems()))).flat();
    metrics.databaseFilesLost(problems.length);
    const wasLost = isLost;
    isLost = problems.length > 0;
    if (isLost && !wasLost)
      log.error({ event: "database.file_lost", problems }, "the database file is lost; nothing is written to it");
    if (wasLost && !isLost) log.info({ event: "database.file_found" }, "the database file is back");
  }
  // Readiness and every request report a database that does not answer.
  const timer = setInterval(() => void look().catch(() => undefined), WATCH_MS).unref();
  return { close: () => clearInterval(timer) };
}
