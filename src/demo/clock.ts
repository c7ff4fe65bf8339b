// The database as the demo's ledger sees it: with the time of the made-up requests for its own. Only here: whatever books
// real money writes the time of the database itself.

import type { Db, Statement } from "../core/db.ts";
import { clockSql } from "../store/dialect.ts";

export interface DemoClock {
  /** The database with this clock. */
  readonly db: Db;
  /** Never back: the ledger is in order. */
  advanceTo(atMs: number): void;
}

/** Begins with the newest entry of the account, where there is one. */
export async function createDemoClock(db: Db, accountId: string): Promise<DemoClock> {
  const [last] = await db.query("SELECT MAX(created_at) AS at FROM ledger_transactions WHERE account_id = $1", [
    accountId,
  ]);
  let nowMs = Number(last?.at ?? 0);
  const clock = clockSql(db.kind);
  const timed = <T extends Statement>(statement: T): T => ({
    ...statement,
    sql: statement.sql.replaceAll(clock, `CAST(${nowMs} AS BIGINT)`),
  });
  return {
    advanceTo(atMs) {
      nowMs = Math.max(nowMs, Math.floor(atMs));
    },
    db: {
      kind: db.kind,
      query: (sql, params) => db.query(timed({ sql }).sql, params),
      transaction: (work) => db.transaction(work),
      batch: (statements) => db.batch(statements.map(timed)),
      batchAtOnce: (statements) => db.batchAtOnce(statements.map(timed)),
      readThenWrite: (reads, decide) =>
        db.readThenWrite(reads, (answers) => {
          const { writes, result } = decide(answers);
          return { writes: writes.map(timed), result };
        }),
      migrate: () => db.migrate(),
      close: () => db.close(),
    },
  };
}
