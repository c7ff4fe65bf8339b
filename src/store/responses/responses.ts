// Tables of stored responses. A row holds one response with its own input; a chain is read through the parents.

import type { Db, Statement } from "../../core/db.ts";
import type { Addition, OwnedId, ResponseStore, StoredResponse } from "../../core/responses/stored.ts";
import { BatchRejected } from "../../core/store-errors.ts";
import { bulkInsert, type InsertShape, text } from "../dialect.ts";
import type { SealedContent } from "./content.ts";
import { createItemWriter } from "./conversation-items.ts";
import { createResponseReader, itemsOf } from "./read-responses.ts";

interface ItemPlace extends OwnedId {
  readonly responseId: string;
}

const ITEM_PLACES: InsertShape<ItemPlace> = {
  table: "response_items",
  columns: {
    account_id: text(({ accountId }) => accountId),
    id: text(({ id }) => id),
    response_id: text(({ responseId }) => responseId),
  },
  // An item belongs to the response that had it first: those that refer to it may go without it, and it goes with its own.
  onConflict: "ON CONFLICT (account_id, id) DO NOTHING",
};

const INSERT = `INSERT INTO responses (account_id, id, parent_id, status, is_background, owner, content, bytes, created_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`;

/** `owner` names this run of this process, and marks responses that it works on. */
export function createResponseStore(db: Db, sealed: SealedContent, owner: string): ResponseStore {
  const places = bulkInsert(db.kind, ITEM_PLACES);
  const writeItems = createItemWriter(sealed);

  function placesOf({ accountId, id, content }: StoredResponse): Statement[] {
    const ids = new Set(itemsOf(content).flatMap((item) => (typeof item.id === "string" ? [item.id] : [])));
    const found = [...ids].map((itemId) => ({ accountId, id: itemId, responseId: id }));
    return found.length === 0 ? [] : [places.statement(found)];
  }

  /** Writes a response, even if its conversation was deleted meanwhile. */
  async function write(row: Statement, response: StoredResponse, addition: Addition | null): Promise<void> {
    const rows = [row, ...placesOf(response)];
    if (addition === null) {
      await db.batch(rows);
      return;
    }
    const { accountId } = response;
    const added = await writeItems({ accountId, id: addition.conversationId }, addition.items);
    try {
      await db.batch([...rows, ...added]);
    } catch (error) {
      if (!(error instanceof BatchRejected) || error.statementIndex === 0) throw error;
      await db.batch(rows);
    }
  }

  return {
    ...createResponseReader(db, sealed),
    async insert(response, addition) {
      const { accountId, id, parentId, status, isBackground, createdAtMs, content } = response;
      const written = await sealed.write("responses", response, content);
      const holder = status === "in_progress" ? owner : null;
      const head = [accountId, id, parentId, status, isBackground ? 1 : 0, holder];
      await write({ sql: INSERT, params: [...head, written.text, written.bytes, createdAtMs] }, response, addition);
    },
    async finish(response, addition) {
      const { accountId, id, status, content } = response;
      const written = await sealed.write("responses", response, content);
      const row = {
        sql: `UPDATE responses SET status = $3, owner = NULL, content = $4, bytes = $5
          WHERE account_id = $1 AND id = $2 AND status IN ('in_progress', $6)`,
        // Items of a cancelled response are added when its call ends.
        params: [accountId, id, status, written.text, written.bytes, status === "cancelled" ? status : "in_progress"],
        expectRows: 1,
      };
      try {
        await write(row, response, addition);
        return true;
      } catch (error) {
        if (error instanceof BatchRejected) return false;
        throw error;
      }
    },
    ...createResponseEnds(db),
  };
}

function createResponseEnds(db: Db): Pick<ResponseStore, "cancel" | "remove"> {
  return {
    async cancel({ accountId, id }) {
      const sql = `UPDATE responses SET status = 'cancelled', owner = NULL
        WHERE account_id = $1 AND id = $2 AND status = 'in_progress'`;
      await db.query(sql, [accountId, id]);
    },
    async remove({ accountId, id }) {
      const answers = await db.batch([
        { sql: "DELETE FROM response_items WHERE account_id = $1 AND response_id = $2", params: [accountId, id] },
        { sql: "DELETE FROM responses WHERE account_id = $1 AND id = $2 RETURNING id", params: [accountId, id] },
      ]);
      return (answers[1]?.length ?? 0) > 0;
    },
  };
}
