// Table of stored chat completions. Metadata is sealed with the completion; a list is filtered by keyed fingerprints of it.

import { createHmac, hkdfSync } from "node:crypto";
import type { Db, SqlRow } from "../../core/db.ts";
import type {
  CompletionMetadata,
  CompletionPage,
  CompletionStore,
  StoredCompletion,
} from "../../core/responses/completions.ts";
import type { JsonItem, OwnedId } from "../../core/responses/stored.ts";
import type { SealedContent } from "./content.ts";

const OF = "WHERE account_id = $1 AND id = $2";
const COLUMNS = "account_id, id, model, content, created_at";
const MARK_LENGTH = 24;
/** A page of a list ends here. */
const LISTED_BYTES_MAX = 32 * 1024 * 1024;

type CompletionContent = Pick<StoredCompletion, "metadata" | "completion">;

/** Marks a pair of an account. Nobody without the secret can tell what it is. */
type Mark = (accountId: string, pair: readonly [string, string]) => string;

export function createMark(secret: Buffer): Mark {
  const key = Buffer.from(hkdfSync("sha256", secret, "", "switchyard completion metadata", 32));
  return (accountId, pair) =>
    createHmac("sha256", key)
      .update(JSON.stringify([accountId, ...pair]))
      .digest("hex")
      .slice(0, MARK_LENGTH);
}

export function createCompletionStore(db: Db, sealed: SealedContent, mark: Mark): CompletionStore {
  const marksOf = (accountId: string, metadata: CompletionMetadata): readonly string[] =>
    Object.entries(metadata).map((pair) => mark(accountId, pair));

  async function opened(row: SqlRow): Promise<StoredCompletion | null> {
    const name = { accountId: String(row.account_id), id: String(row.id) };
    const content = await sealed.read<CompletionContent>("chat_completions", name, String(row.content));
    if (content === null) return null;
    return { ...name, ...content, model: String(row.model), createdAtMs: Number(row.created_at) };
  }

  async function find({ accountId, id }: OwnedId): Promise<StoredCompletion | null> {
    const [row] = await db.query(`SELECT ${COLUMNS} FROM chat_completions ${OF}`, [accountId, id]);
    return row === undefined ? null : opened(row);
  }

  return {
    async insert(completion, messages) {
      const { accountId, id, model, createdAtMs, metadata } = completion;
      const written = await sealed.write("chat_completions", completion, contentOf(completion));
      const said = await sealed.write("chat_completion_messages", completion, messages);
      const marks = marksOf(accountId, metadata).join(" ");
      await db.query(
        `INSERT INTO chat_completions (account_id, id, model, marks, content, messages, bytes, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
        [accountId, id, model, marks, written.text, said.text, written.bytes + said.bytes, createdAtMs],
      );
    },
    find,
    async messages(name) {
      const { accountId, id } = name;
      const [row] = await db.query(`SELECT messages FROM chat_completions ${OF}`, [accountId, id]);
      return row === undefined
        ? null
        : sealed.read<readonly JsonItem[]>("chat_completion_messages", name, String(row.messages));
    },
    async list(accountId, page) {
      const { sql, params } = listSql(accountId, page, marksOf(accountId, page.metadata));
      const found = await db.query(sql, params);
      const ids = fitting(found).slice(0, page.limit);
      const shown = await Promise.all(ids.map((id) => find({ accountId, id })));
      return { completions: shown.filter((each) => each !== null), hasMore: found.length > ids.length };
    },
    async update(name, metadata) {
      const before = await find(name);
      if (before === null) return null;
      const updated = { ...before, metadata };
      const { text } = await sealed.write("chat_completions", name, contentOf(updated));
      const rows = await db.query(
        `UPDATE chat_completions SET bytes = bytes - LENGTH(content) + $5, content = $3, marks = $4 ${OF} RETURNING id`,
        [name.accountId, name.id, text, marksOf(name.accountId, metadata).join(" "), text.length],
      );
      return rows.length === 0 ? null : updated;
    },
    async remove({ accountId, id }) {
      return (await db.query(`DELETE FROM chat_completions ${OF} RETURNING id`, [accountId, id])).length > 0;
    },
  };
}

function contentOf({ metadata, completion }: StoredCompletion): CompletionContent {
  return { metadata, completion };
}

/** The first of these rows, as far as a response can hold what they name. */
function fitting(rows: readonly SqlRow[]): readonly string[] {
  let sum = 0;
  return rows
    .filter(({ bytes }, at) => {
      sum += Number(bytes);
      return at === 0 || sum <= LISTED_BYTES_MAX;
    })
    .map(({ id }) => String(id));
}

/** Names and sizes, one more than the page has. */
function listSql(accountId: string, { model, after, isNewestFirst, limit }: CompletionPage, marks: readonly string[]) {
  const params: (string | number)[] = [accountId, limit + 1];
  const place = (value: string): string => `$${params.push(value)}`;
  const conditions = ["account_id = $1"];
  if (model !== null) conditions.push(`model = ${place(model)}`);
  if (after !== null) conditions.push(`id ${isNewestFirst ? "<" : ">"} ${place(after)}`);
  for (const mark of marks) conditions.push(`marks LIKE ${place(`%${mark}%`)}`);
  const order = isNewestFirst ? "DESC" : "ASC";
  const sql = `SELECT id, bytes FROM chat_completions WHERE ${conditions.join(" AND ")} ORDER BY id ${order} LIMIT $2`;
  return { sql, params };
}
