// Rows of conversation items. They are appended in one transaction, so the items of one response stay together however
// many requests end at once.

import type { SqlRow, Statement } from "../../core/db.ts";
import type { JsonItem, OwnedId } from "../../core/responses/stored.ts";
import type { SealedContent } from "./content.ts";

/**
 * Makes the statements of one batch. The first one affects no row if the conversation does not exist, or has more than
 * `maxBytes`.
 */
export type ItemWriter = (
  conversation: OwnedId,
  items: readonly JsonItem[],
  maxBytes?: number,
) => Promise<readonly Statement[]>;

/** Writes items. An existing item with the same id stays unchanged. */
export function createItemWriter(sealed: SealedContent): ItemWriter {
  return async ({ accountId, id: conversationId }, items, maxBytes = Number.MAX_SAFE_INTEGER) => {
    const rows = await Promise.all(
      items.map(async (item) => {
        const id = String(item.id);
        return { id, ...(await sealed.write("conversation_items", rowName(accountId, conversationId, id), item)) };
      }),
    );
    const count = rows.length;
    const total = rows.reduce((sum, { bytes }) => sum + bytes, 0);
    const counted = {
      sql: `UPDATE conversations SET next_position = next_position + $3, bytes = bytes + $4, used_at = $5
        WHERE account_id = $1 AND id = $2 AND bytes <= $6`,
      params: [accountId, conversationId, count, total, Date.now(), maxBytes],
      expectRows: 1,
    };
    const inserts = rows.map(({ id, text, bytes }, index) => ({
      sql: `INSERT INTO conversation_items (account_id, conversation_id, position, id, content, bytes)
        SELECT account_id, id, next_position - $3, CAST($4 AS TEXT), CAST($5 AS TEXT), CAST($6 AS BIGINT)
        FROM conversations WHERE account_id = $1 AND id = $2
        ON CONFLICT (account_id, conversation_id, id) DO NOTHING`,
      params: [accountId, conversationId, count - index, id, text, bytes],
    }));
    return [counted, ...inserts];
  };
}

/** Opens rows with `conversation_id`, `id` and `content`. Leaves out rows that cannot be opened. */
export async function readItems(
  sealed: SealedContent,
  accountId: string,
  rows: readonly SqlRow[],
): Promise<readonly JsonItem[]> {
  const read = ({ conversation_id, id, content }: SqlRow): Promise<JsonItem | null> =>
    sealed.read<JsonItem>(
      "conversation_items",
      rowName(accountId, String(conversation_id), String(id)),
      String(content),
    );
  return (await Promise.all(rows.map(read))).filter((item) => item !== null);
}

/** Names an item with its conversation, because two conversations may have items with the same id. */
function rowName(accountId: string, conversationId: string, itemId: string): OwnedId {
  return { accountId, id: `${conversationId} ${itemId}` };
}
