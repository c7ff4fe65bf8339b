// Table of prompts that clients keep, each with an end of its own.

import type { Db, SqlRow } from "../../core/db.ts";
import type { CacheStore, StoredCache } from "../../core/responses/caches.ts";
import type { JsonItem } from "../../core/responses/stored.ts";
import type { SealedContent } from "./content.ts";

const OF = "WHERE account_id = $1 AND id = $2";
const COLUMNS = "account_id, id, model, content, created_at, updated_at, expires_at";

type Shown = Pick<StoredCache, "displayName" | "tokens">;

export function createCacheStore(db: Db, sealed: SealedContent, now: () => number): CacheStore {
  async function opened(row: SqlRow): Promise<StoredCache | null> {
    const name = { accountId: String(row.account_id), id: String(row.id) };
    const shown = await sealed.read<Shown>("cached_prompts", name, String(row.content));
    if (shown === null) return null;
    return {
      ...name,
      ...shown,
      model: String(row.model),
      createdAtMs: Number(row.created_at),
      updatedAtMs: Number(row.updated_at),
      expiresAtMs: Number(row.expires_at),
    };
  }

  return {
    async insert(cache, prompt) {
      const { accountId, id, model, displayName, tokens, createdAtMs, updatedAtMs, expiresAtMs } = cache;
      const shown: Shown = { displayName, tokens };
      const written = await sealed.write("cached_prompts", cache, shown);
      const kept = await sealed.write("cached_prompt_contents", cache, prompt);
      await db.query(
        `INSERT INTO cached_prompts (${COLUMNS}, prompt, bytes) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
        [
          ...[accountId, id, model, written.text, createdAtMs, updatedAtMs, expiresAtMs],
          ...[kept.text, written.bytes + kept.bytes],
        ],
      );
    },
    async find({ accountId, id }) {
      const rows = await db.query(`SELECT ${COLUMNS} FROM cached_prompts ${OF} AND expires_at > $3`, [
        ...[accountId, id],
        now(),
      ]);
      return rows[0] === undefined ? null : opened(rows[0]);
    },
    async prompt(name) {
      const rows = await db.query(`SELECT prompt FROM cached_prompts ${OF} AND expires_at > $3`, [
        ...[name.accountId, name.id],
        now(),
      ]);
      if (rows[0] === undefined) return null;
      return sealed.read<JsonItem>("cached_prompt_contents", name, String(rows[0].prompt));
    },
    async list(accountId, { after, limit }) {
      const rows = await db.query(
        `SELECT ${COLUMNS} FROM cached_prompts WHERE account_id = $1 AND expires_at > $2
         ${after === null ? "" : "AND id > $4"} ORDER BY id LIMIT $3`,
        [accountId, now(), limit, ...(after === null ? [] : [after])],
      );
      return (await Promise.all(rows.map(opened))).filter((cache) => cache !== null);
    },
    ...createCacheEnds(db, now),
  };
}

function createCacheEnds(db: Db, now: () => number): Pick<CacheStore, "extend" | "remove" | "deleteExpired"> {
  return {
    async extend({ accountId, id }, expiresAtMs) {
      const rows = await db.query(
        `UPDATE cached_prompts SET expires_at = $3, updated_at = $4 ${OF} AND expires_at > $4 RETURNING id`,
        [accountId, id, expiresAtMs, now()],
      );
      return rows.length > 0;
    },
    async remove({ accountId, id }) {
      const rows = await db.query(`DELETE FROM cached_prompts ${OF} AND expires_at > $3 RETURNING id`, [
        ...[accountId, id],
        now(),
      ]);
      return rows.length > 0;
    },
    async deleteExpired(limit) {
      const rows = await db.query(
        `DELETE FROM cached_prompts WHERE (account_id, id) IN
         (SELECT account_id, id FROM cached_prompts WHERE expires_at <= $1 LIMIT $2) RETURNING id`,
        [now(), limit],
      );
      return rows.length;
    },
  };
}
