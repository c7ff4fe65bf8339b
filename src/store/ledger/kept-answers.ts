// Answers kept for Idempotency-Key: sealed, and beside the stored responses. The row of the request in the ledger gets only
// a name, in the batch of the charge, so an answer is given again exactly when it was charged.

import { randomBytes } from "node:crypto";
import type { Db } from "../../core/db.ts";
import { clockSql } from "../dialect.ts";
import { isSealed, type Sealer } from "../secret/seal.ts";

export interface KeptAnswers {
  /** Seals an answer and returns what its request notes: the name of the answer, or the sealed answer if it has no row. */
  keep(requestId: string, text: string): Promise<string>;
  /** Opens what a request notes. Returns null if the answer is lost or the secret has changed. */
  open(requestId: string, noted: string): Promise<string | null>;
  /** Seals answers of earlier versions, and moves out those that the ledger had to take. */
  settle(): Promise<void>;
  /** Deletes answers that are older than this. */
  sweep(olderThanMs: number): Promise<void>;
}

/** SQL of what a request notes. Version 0.1.0 noted the answer itself, in the other column. */
export const ANSWER = "COALESCE(kept, answer_text)";

const NAME = "kept:";
/** Answers read at once. */
const PART_ROWS = 100;

/** `contents` is the file of stored contents, or the database itself where that has them. */
export function createKeptAnswers(db: Db, contents: Db, sealer: Sealer): KeptAnswers {
  const clock = clockSql(contents.kind);
  const about = (requestId: string): string => JSON.stringify(["idempotent_answers", requestId]);

  async function insert(sealed: string): Promise<string> {
    const id = randomBytes(16).toString("hex");
    await contents.query(`INSERT INTO idempotent_answers (id, content, created_at) VALUES ($1, $2, ${clock})`, [
      id,
      sealed,
    ]);
    return `${NAME}${id}`;
  }

  async function find(name: string): Promise<string | null> {
    const id = name.slice(NAME.length);
    const [row] = await contents.query("SELECT content FROM idempotent_answers WHERE id = $1", [id]);
    return row === undefined ? null : String(row.content);
  }

  async function settlePart(): Promise<number> {
    const rows = await db.query(
      `SELECT id, ${ANSWER} AS answer FROM idempotent_requests
       WHERE ${ANSWER} IS NOT NULL AND ${ANSWER} NOT LIKE '${NAME}%' LIMIT ${PART_ROWS}`,
    );
    for (const row of rows) {
      const [id, text] = [String(row.id), String(row.answer)];
      const name = await insert(isSealed(text) ? text : await sealer.seal(text, about(id)));
      await db.query(`UPDATE idempotent_requests SET kept = $2, answer_text = NULL WHERE id = $1 AND ${ANSWER} = $3`, [
        id,
        name,
        text,
      ]);
    }
    return rows.length;
  }

  return {
    async keep(requestId, text) {
      const sealed = await sealer.seal(text, about(requestId));
      // The ledger, or its outbox, takes the sealed text: a charge without its answer would be made twice.
      return insert(sealed).catch(() => sealed);
    },
    async open(requestId, noted) {
      const text = noted.startsWith(NAME) ? await find(noted) : noted;
      if (text === null || !isSealed(text)) return text;
      return sealer.open(text, about(requestId)).catch(() => null);
    },
    async settle() {
      while ((await settlePart()) === PART_ROWS);
    },
    async sweep(olderThanMs) {
      await contents.query(`DELETE FROM idempotent_answers WHERE created_at <= ${clock} - $1`, [olderThanMs]);
    },
  };
}
