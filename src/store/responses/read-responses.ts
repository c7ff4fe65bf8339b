// Reads stored responses: one, a chain through the parents, or single items by their ids.

import type { Db, SqlRow } from "../../core/db.ts";
import type {
  ChainLink,
  JsonItem,
  ResponseContent,
  ResponseStatus,
  ResponseStore,
  StoredResponse,
} from "../../core/responses/stored.ts";
import { inListSql, listValue } from "../dialect.ts";
import type { SealedContent } from "./content.ts";
import { readItems } from "./conversation-items.ts";

const COLUMNS = "r.account_id, r.id, r.parent_id, r.status, r.is_background, r.content, r.created_at";

/** Contents read and opened at once. */
const SLICE_BYTES = 4 * 1024 * 1024;

const CHAIN = `WITH RECURSIVE chain (id, parent_id, status, bytes, depth) AS (
    SELECT id, parent_id, status, bytes, 1 FROM responses WHERE account_id = $1 AND id = $2
    UNION ALL
    SELECT p.id, p.parent_id, p.status, p.bytes, c.depth + 1 FROM chain c
      JOIN responses p ON p.account_id = $1 AND p.id = c.parent_id WHERE c.depth < $3
  )
  SELECT id, parent_id, status, bytes FROM chain ORDER BY depth`;

export function createResponseReader(db: Db, sealed: SealedContent): Pick<ResponseStore, "find" | "chain" | "items"> {
  const opened = (rows: readonly SqlRow[]): Promise<readonly (StoredResponse | null)[]> =>
    Promise.all(rows.map((row) => toResponse(row, sealed)));

  function rowsOf(accountId: string, ids: readonly string[]): Promise<readonly SqlRow[]> {
    return db.query(
      `SELECT ${COLUMNS}, r.bytes FROM responses r WHERE r.account_id = $1 AND ${inListSql(db.kind, "r.id", "$2")}`,
      [accountId, listValue(db.kind, ids)],
    );
  }

  /** The response of each item. */
  async function ownersOf(accountId: string, ids: readonly string[]): Promise<ReadonlyMap<unknown, string>> {
    const rows = await db.query(
      `SELECT id, response_id FROM response_items WHERE account_id = $1 AND ${inListSql(db.kind, "id", "$2")}`,
      [accountId, listValue(db.kind, ids)],
    );
    return new Map(rows.map(({ id, response_id }) => [String(id), String(response_id)]));
  }

  return {
    async find({ accountId, id }) {
      const [row] = await rowsOf(accountId, [id]);
      return row === undefined ? null : toResponse(row, sealed);
    },
    async *chain({ accountId, id }, { max, check }) {
      const links = (await db.query(CHAIN, [accountId, id, max])).map(toLink);
      check(links);
      for (const slice of slicesOf(links.toReversed())) {
        const ids = slice.map((link) => link.id);
        const found = new Map((await opened(await rowsOf(accountId, ids))).map((response) => [response?.id, response]));
        for (const link of slice) {
          const response = found.get(link.id) ?? null;
          yield response === null ? null : itemsOf(response.content);
        }
      }
    },
    async items(accountId, ids, maxBytes) {
      const found = new Map<string, JsonItem>();
      const owners = await ownersOf(accountId, ids);
      const rows = await rowsOf(accountId, [...new Set(owners.values())]);
      if (bytesOf(rows) > maxBytes) return null;
      for (const response of await opened(rows)) {
        // Others may hold a copy, which is not there to be found once the owner is deleted.
        const items = response === null ? [] : itemsOf(response.content);
        for (const item of items) if (owners.get(item.id) === response?.id) found.set(item.id as string, item);
      }
      const missing = ids.filter((itemId) => !found.has(itemId));
      if (missing.length === 0) return found;
      const rest = await db.query(
        `SELECT conversation_id, id, content, bytes FROM conversation_items
         WHERE account_id = $1 AND ${inListSql(db.kind, "id", "$2")} ORDER BY position`,
        [accountId, listValue(db.kind, missing)],
      );
      if (bytesOf(rest) > maxBytes) return null;
      for (const item of await readItems(sealed, accountId, rest)) found.set(item.id as string, item);
      return found;
    },
  };
}

function toLink({ id, parent_id, status, bytes }: SqlRow): ChainLink {
  return {
    id: String(id),
    parentId: parent_id === null ? null : String(parent_id),
    status: status as ResponseStatus,
    bytes: Number(bytes),
  };
}

/** Each with at least one response. */
function slicesOf(links: readonly ChainLink[]): readonly (readonly ChainLink[])[] {
  const slices: ChainLink[][] = [];
  let room = 0;
  for (const link of links) {
    if (link.bytes > room) {
      slices.push([]);
      room = SLICE_BYTES;
    }
    slices.at(-1)?.push(link);
    room -= link.bytes;
  }
  return slices;
}

function bytesOf(rows: readonly SqlRow[]): number {
  return rows.reduce((sum, { bytes }) => sum + Number(bytes), 0);
}

async function toResponse(row: SqlRow, sealed: SealedContent): Promise<StoredResponse | null> {
  const name = { accountId: String(row.account_id), id: String(row.id) };
  const content = await sealed.read<ResponseContent>("responses", name, String(row.content));
  if (content === null) return null;
  return {
    ...name,
    parentId: row.parent_id === null ? null : String(row.parent_id),
    status: row.status as ResponseStatus,
    isBackground: Number(row.is_background) === 1,
    createdAtMs: Number(row.created_at),
    content,
  };
}

/** Input and output alike. */
export function itemsOf({ input, response }: ResponseContent): readonly JsonItem[] {
  const output = Array.isArray(response.output) ? (response.output as JsonItem[]) : [];
  return [...input, ...output];
}
