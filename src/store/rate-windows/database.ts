// Shared rate-limit windows in the database: one row per name, changed under its lock and timed by the database's
// clock.

import type { Db, SqlRow, Statement } from "../../core/db.ts";
import {
  type CallWindows,
  type RateRequest,
  type SecondCount,
  type Taken,
  takeFrom,
} from "../../core/processes/call-window.ts";
import {
  bulkInsert,
  clockSql,
  forUpdateSql,
  type InsertShape,
  inListSql,
  integer,
  listValue,
  text,
} from "../dialect.ts";

/** Age after which an unused row counts no calls any more. */
const FORGET_AFTER_MS = 3_600_000;
/** Interval at which old windows are deleted. */
const SWEEP_MS = 600_000;

/** Opens windows on a handle with its own connections, so that waiting for a lock delays no hold. Closes the handle too. */
export function createCallWindows(db: Db): CallWindows {
  const clock = clockSql(db.kind);
  const newWindows = bulkInsert(db.kind, NEW_WINDOWS);
  const select = `SELECT id, counts_json, ${clock} AS now FROM call_windows
    WHERE ${inListSql(db.kind, "id", "$1")} ORDER BY id${forUpdateSql(db.kind)}`;
  let sweptAtMs = 0;

  function sweep(): readonly Statement[] {
    if (Date.now() - sweptAtMs < SWEEP_MS) return [];
    sweptAtMs = Date.now();
    return [{ sql: `DELETE FROM call_windows WHERE updated_at <= ${clock} - $1`, params: [FORGET_AFTER_MS] }];
  }

  return {
    take(requests) {
      if (requests.length === 0) return Promise.resolve([]);
      const ids = requests.map(({ id }) => id).sort();
      const reads = [
        // A missing row cannot be locked.
        newWindows.statement(ids),
        { sql: select, params: [listValue(db.kind, ids)] },
      ];
      return db.readThenWrite(reads, ([, rows = []]) => {
        const result = takeEach(requests, rows);
        const writes = result.map(({ counts }, index) => ({
          sql: `UPDATE call_windows SET counts_json = $1, updated_at = ${clock} WHERE id = $2`,
          params: [JSON.stringify(counts), (requests[index] as RateRequest).id],
        }));
        return { writes: [...writes, ...sweep()], result };
      });
    },
    close: () => db.close(),
  };
}

/** Makes windows for new ids. */
const NEW_WINDOWS: InsertShape<string> = {
  table: "call_windows",
  columns: { id: text((id) => id), counts_json: text(() => "[]"), updated_at: integer(() => 0) },
  onConflict: "ON CONFLICT (id) DO NOTHING",
};

/** Reads the window of each request by the clock of the database. */
function takeEach(requests: readonly RateRequest[], rows: readonly SqlRow[]): readonly Taken[] {
  const byId = new Map(rows.map((row) => [String(row.id), row]));
  return requests.map((request) => {
    const row = byId.get(request.id);
    const counts = JSON.parse(String(row?.counts_json ?? "[]")) as readonly SecondCount[];
    return takeFrom(counts, request, Number(row?.now ?? 0));
  });
}
