// Upkeep of stored responses, chat completions, prompts and conversations: removes old, excess and cancelled ones, and those of dead
// processes.

import type { Db, SqlRow } from "../../core/db.ts";
import type { OwnedId, ResponseUpkeepStore } from "../../core/responses/stored.ts";
import { inListSql, listValue } from "../dialect.ts";

/** Rows that one step deletes when an account is trimmed. */
const TRIM_STEP = 100;

/** Lists what is stored by age, and conversations by last use, oldest first, without responses in progress. */
const OLDEST = `
  SELECT 'response' AS kind, account_id, id, bytes, created_at AS at FROM responses WHERE status <> 'in_progress'
  UNION ALL SELECT 'completion' AS kind, account_id, id, bytes, created_at AS at FROM chat_completions
  UNION ALL SELECT 'cache' AS kind, account_id, id, bytes, created_at AS at FROM cached_prompts
  UNION ALL SELECT 'conversation' AS kind, account_id, id, bytes, used_at AS at FROM conversations`;
const TOTALS = `
  SELECT account_id, SUM(bytes) AS bytes FROM (
    SELECT account_id, SUM(bytes) AS bytes FROM responses GROUP BY account_id
    UNION ALL SELECT account_id, SUM(bytes) AS bytes FROM chat_completions GROUP BY account_id
    UNION ALL SELECT account_id, SUM(bytes) AS bytes FROM cached_prompts GROUP BY account_id
    UNION ALL SELECT account_id, SUM(bytes) AS bytes FROM conversations GROUP BY account_id
  ) AS parts GROUP BY account_id`;

/** `owner` names this process. The database with the processes may be another file than that of the responses. */
export function createResponseUpkeepStore(
  db: Db,
  owner: string,
  { processes = db }: { readonly processes?: Db } = {},
): ResponseUpkeepStore {
  return {
    async stopped(names) {
      const rows = await db.query(
        `SELECT account_id, id FROM responses
         WHERE owner = $1 AND status = 'in_progress' AND ${inListSql(db.kind, "id", "$2")}`,
        [owner, listValue(db.kind, [...new Set(names.map(({ id }) => id))])],
      );
      const running = new Set(rows.map(({ account_id, id }) => `${account_id} ${id}`));
      return names.filter(({ accountId, id }: OwnedId) => !running.has(`${accountId} ${id}`));
    },
    failAbandoned: () => failAbandoned(db, owner, processes),
    async deleteBefore(cutoffMs, limit) {
      const rows = await db.query(`SELECT kind, account_id, id FROM (${OLDEST}) AS kept WHERE at < $1 LIMIT $2`, [
        cutoffMs,
        limit,
      ]);
      await deleteRows(db, rows);
      return rows.length;
    },
    async trim(accountId, maxBytes) {
      const [total] = await db.query(`SELECT bytes FROM (${TOTALS}) AS totals WHERE account_id = $1`, [accountId]);
      let excess = Number(total?.bytes ?? 0) - maxBytes;
      let deleted = 0;
      while (excess > 0) {
        const oldest = await db.query(
          `SELECT kind, account_id, id, bytes FROM (${OLDEST}) AS kept WHERE account_id = $1 ORDER BY at LIMIT ${TRIM_STEP}`,
          [accountId],
        );
        if (oldest.length === 0) break;
        for (const row of oldest) {
          if (excess <= 0) break;
          await deleteRows(db, [row]);
          excess -= Number(row.bytes);
          deleted += 1;
        }
      }
      return deleted;
    },
    async oversized(maxBytes) {
      const rows = await db.query(`SELECT account_id FROM (${TOTALS}) AS totals WHERE bytes > $1`, [maxBytes]);
      return rows.map(({ account_id }) => String(account_id));
    },
  };
}

async function failAbandoned(db: Db, owner: string, processes: Db): Promise<number> {
  const running = "SELECT DISTINCT owner FROM responses WHERE status = 'in_progress' AND owner <> $1";
  const found = await db.query(running, [owner]);
  if (found.length === 0) return 0;
  // Read after their responses: a process is known before it makes one, so one that is missing here is dead.
  const alive = new Set((await processes.query("SELECT id FROM processes")).map(({ id }) => id));
  const dead = found.map((row) => String(row.owner)).filter((id) => !alive.has(id));
  const rows = await db.query(
    `UPDATE responses SET status = 'failed', owner = NULL
     WHERE status = 'in_progress' AND ${inListSql(db.kind, "owner", "$1")} RETURNING id`,
    [listValue(db.kind, dead)],
  );
  return rows.length;
}

async function deleteRows(db: Db, rows: readonly SqlRow[]): Promise<void> {
  for (const { kind, account_id, id } of rows) {
    const params = [String(account_id), String(id)];
    await db.batch((TARGETS[String(kind)] ?? []).map((target) => ({ sql: `DELETE FROM ${target}`, params })));
  }
}

/** The rows of each kind: its parts before itself. */
const TARGETS: Readonly<Record<string, readonly string[]>> = {
  response: [
    "response_items WHERE account_id = $1 AND response_id = $2",
    "responses WHERE account_id = $1 AND id = $2",
  ],
  completion: ["chat_completions WHERE account_id = $1 AND id = $2"],
  cache: ["cached_prompts WHERE account_id = $1 AND id = $2"],
  conversation: [
    "conversation_items WHERE account_id = $1 AND conversation_id = $2",
    "conversations WHERE account_id = $1 AND id = $2",
  ],
};
