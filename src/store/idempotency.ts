// The answers kept for Idempotency-Key. Writing the answer is part of the ledger's batch (ledger-write.ts), so an answer is
// kept exactly when its charge is.

import type { IdempotencyStore } from "../core/idempotency.ts";
import type { Db } from "../core/ports.ts";
import { clockSql } from "./dialect.ts";

export function createIdempotencyStore(db: Db, owner: string): IdempotencyStore {
  const clock = clockSql(db.kind);
  return {
    async begin(id, bodyHash) {
      const made = await db.query(
        `INSERT INTO idempotent_requests (id, body_hash, owner, created_at) VALUES ($1, $2, $3, ${clock})
         ON CONFLICT (id) DO NOTHING RETURNING id`,
        [id, bodyHash, owner],
      );
      if (made.length > 0) return { state: "new" };
      const [row] = await db.query("SELECT * FROM idempotent_requests WHERE id = $1", [id]);
      // Forgotten in between: whoever had it failed just now.
      if (row === undefined) return this.begin(id, bodyHash);
      if (row.body_hash !== bodyHash) return { state: "other-body" };
      if (row.answer_text === null) return { state: "in-flight" };
      return { state: "answered", contentType: String(row.content_type), text: String(row.answer_text) };
    },
    async forget(id) {
      await db.query("DELETE FROM idempotent_requests WHERE id = $1 AND owner = $2 AND answer_text IS NULL", [
        id,
        owner,
      ]);
    },
    async sweep(olderThanMs, silentMs) {
      await db.query(`DELETE FROM idempotent_requests WHERE created_at <= ${clock} - $1`, [olderThanMs]);
      await db.query(
        `DELETE FROM idempotent_requests WHERE answer_text IS NULL AND owner <> $1 AND owner NOT IN
           (SELECT id FROM processes WHERE seen_at > ${clock} - $2)`,
        [owner, silentMs],
      );
    },
  };
}
