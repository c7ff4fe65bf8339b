// Tables of conversations: metadata, and items in the order in which they were added.

import type { Db } from "../../core/db.ts";
import type { ConversationStore, JsonItem, OwnedId } from "../../core/responses/stored.ts";
import { BatchRejected } from "../../core/store-errors.ts";
import type { SealedContent } from "./content.ts";
import { createItemWriter, type ItemWriter, readItems } from "./conversation-items.ts";

const OF = "WHERE account_id = $1 AND id = $2";

export function createConversationStore(db: Db, sealed: SealedContent): ConversationStore {
  const writeItems = createItemWriter(sealed);
  return {
    ...createItemStore(db, sealed, writeItems),
    async create(conversation, items) {
      const { accountId, id, metadata, createdAtMs } = conversation;
      const { text: content } = await sealed.write("conversations", conversation, metadata);
      const row = {
        sql: `INSERT INTO conversations (account_id, id, content, bytes, next_position, created_at, used_at)
          VALUES ($1, $2, $3, $4, 0, $5, $5)`,
        params: [accountId, id, content, content.length, createdAtMs],
      };
      await db.batch([row, ...(await writeItems(conversation, items))]);
    },
    async find(name) {
      const { accountId, id } = name;
      const [row] = await db.query(`SELECT content, created_at FROM conversations ${OF}`, [accountId, id]);
      if (row === undefined) return null;
      const metadata = await sealed.read<JsonItem>("conversations", name, String(row.content));
      return metadata === null ? null : { accountId, id, metadata, createdAtMs: Number(row.created_at) };
    },
    async update(name, metadata) {
      const { accountId, id } = name;
      const { text: content } = await sealed.write("conversations", name, metadata);
      const rows = await db.query(
        `UPDATE conversations SET bytes = bytes - LENGTH(content) + $4, content = $3, used_at = $5 ${OF} RETURNING id`,
        [accountId, id, content, content.length, Date.now()],
      );
      return rows.length > 0;
    },
    async remove({ accountId, id }) {
      const answers = await db.batch([
        {
          sql: "DELETE FROM conversation_items WHERE account_id = $1 AND conversation_id = $2",
          params: [accountId, id],
        },
        { sql: `DELETE FROM conversations ${OF} RETURNING id`, params: [accountId, id] },
      ]);
      return (answers[1]?.length ?? 0) > 0;
    },
  };
}

type ItemStore = Pick<ConversationStore, "append" | "list" | "removeItem">;

function createItemStore(db: Db, sealed: SealedContent, writeItems: ItemWriter): ItemStore {
  /** Finds the position of an item. Returns null if there is no such item. */
  async function positionOf({ accountId, id }: OwnedId, itemId: string): Promise<number | null> {
    const [row] = await db.query(
      "SELECT position FROM conversation_items WHERE account_id = $1 AND conversation_id = $2 AND id = $3",
      [accountId, id, itemId],
    );
    return row === undefined ? null : Number(row.position);
  }

  async function isThere({ accountId, id }: OwnedId): Promise<boolean> {
    return (await db.query(`SELECT id FROM conversations ${OF}`, [accountId, id])).length > 0;
  }

  return {
    async append(name, items, maxBytes) {
      try {
        await db.batch(await writeItems(name, items, maxBytes));
        return "added";
      } catch (error) {
        if (!(error instanceof BatchRejected)) throw error;
        return (await isThere(name)) ? "full" : "missing";
      }
    },
    async list(name, { only, after, isNewestFirst, limit }) {
      const { accountId, id } = name;
      const position = after === null ? null : await positionOf(name, after);
      if (after !== null && position === null) return null;
      const [comparison, order] = isNewestFirst ? ["<", "DESC"] : [">", "ASC"];
      const rows = await db.query(
        `SELECT conversation_id, id, content FROM conversation_items WHERE account_id = $1 AND conversation_id = $2
         ${only === undefined ? "" : "AND id = $4"} ${position === null ? "" : `AND position ${comparison} $4`}
         ORDER BY position ${order} LIMIT $3`,
        [accountId, id, limit, ...[only ?? position].filter((value) => value !== null)],
      );
      if (rows.length === 0 && !(await isThere(name))) return null;
      return readItems(sealed, accountId, rows);
    },
    async removeItem({ accountId, id }, itemId) {
      const removed = await db.query(
        "DELETE FROM conversation_items WHERE account_id = $1 AND conversation_id = $2 AND id = $3 RETURNING bytes",
        [accountId, id, itemId],
      );
      if (removed.length === 0) return false;
      await db.query(`UPDATE conversations SET bytes = bytes - $3 ${OF}`, [accountId, id, Number(removed[0]?.bytes)]);
      return true;
    },
  };
}
