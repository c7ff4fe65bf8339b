// Requests with an Idempotency-Key. An answer is noted in the batch of the ledger (write.ts), so it is kept exactly when its
// charge is.

import { randomBytes } from "node:crypto";
import type { Db } from "../../core/db.ts";
import type { Begun, IdempotencyStore } from "../../core/requests/idempotency.ts";
import { clockSql } from "../dialect.ts";
import { ANSWER, type KeptAnswers } from "./kept-answers.ts";

/** Token of a finished request, which needs none to know its row. */
const ANY_TOKEN = "";

/** `owner` names this process. Requests of dead processes are no longer in flight. */
export function createIdempotencyStore(db: Db, answers: KeptAnswers, owner: string): IdempotencyStore {
  const clock = clockSql(db.kind);
  /** Ids of rows that could not be deleted because the store was away, with their tokens. The next request replaces them. */
  const leftOver = new Map<string, string>();

  async function begin(id: string, bodyHash: string): Promise<Begun> {
    await removeLeftOver(id);
    const token = randomBytes(8).toString("hex");
    const made = await db
      .query(
        `INSERT INTO idempotent_requests (id, body_hash, owner, token, created_at) VALUES ($1, $2, $3, $4, ${clock})
         ON CONFLICT (id) DO NOTHING RETURNING id`,
        [id, bodyHash, owner, token],
      )
      .catch((error) => {
        leftOver.set(id, token);
        throw error;
      });
    if (made.length > 0) return { state: "new" };
    const sql = `SELECT body_hash, content_type, ${ANSWER} AS answer FROM idempotent_requests WHERE id = $1`;
    const [row] = await db.query(sql, [id]);
    // The row was deleted in between, because its request failed just now.
    if (row === undefined) return begin(id, bodyHash);
    if (row.body_hash !== bodyHash) return { state: "other-body" };
    if (row.answer === null) return { state: "in-flight" };
    const text = await answers.open(id, String(row.answer));
    return text === null ? { state: "lost" } : { state: "answered", contentType: String(row.content_type), text };
  }

  async function removeLeftOver(id: string): Promise<void> {
    const token = leftOver.get(id);
    if (token === undefined) return;
    const sql = `DELETE FROM idempotent_requests WHERE id = $1 AND owner = $2 AND ${ANSWER} IS NULL`;
    if (token === ANY_TOKEN) await db.query(sql, [id, owner]);
    else await db.query(`${sql} AND token = $3`, [id, owner, token]);
    leftOver.delete(id);
  }

  return {
    begin,
    keep: async ({ text, ...answer }) => ({ ...answer, text: await answers.keep(answer.idempotencyId, text) }),
    async forget(id) {
      leftOver.set(id, ANY_TOKEN);
      // The next request with this key deletes the row, or the sweep does.
      await removeLeftOver(id).catch(() => undefined);
    },
    async sweep(olderThanMs, silentMs) {
      for (const id of [...leftOver.keys()]) await removeLeftOver(id);
      await db.query(`DELETE FROM idempotent_requests WHERE created_at <= ${clock} - $1`, [olderThanMs]);
      await db.query(
        `DELETE FROM idempotent_requests WHERE ${ANSWER} IS NULL AND owner <> $1 AND owner NOT IN
           (SELECT id FROM processes WHERE $2 > 0 AND seen_at > ${clock} - $2)`,
        [owner, silentMs],
      );
    },
    sweepAnswers: (olderThanMs) => answers.sweep(olderThanMs).then(answers.settle),
  };
}
