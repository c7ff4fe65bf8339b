// Writes the words of prompts and answers, and deletes those of old requests.

import type { Db, SqlValue, Statement } from "../../core/db.ts";
import { type NewContent, recordTimeOf } from "../../core/requests/records.ts";
import { bulkInsert, type InsertShape, inSlices, text, tsvector } from "../dialect.ts";
import { firstRowAt, ROWS_PER_MS, writeWords } from "./words.ts";

/** The text of a request that was kept. */
interface KeptText extends Pick<NewContent, "prompt" | "answer"> {
  readonly id: string;
  readonly atMs: number;
}

/** Of a longer text only the beginning is searched. */
const TEXT_CHARS_MAX = 32 * 1024;

export function createWordsWriter(kind: Db["kind"]): (texts: readonly KeptText[]) => Promise<readonly Statement[]> {
  const words = bulkInsert(kind, WORDS);
  if (kind === "postgres") return async (texts) => [await words.statementInSlices(texts)];
  return async (texts) => [
    { sql: INSERT_NUMBER, rows: texts.map((kept) => [numberOf(kept), kept.id]) },
    { sql: INSERT_WORDS, rows: (await inSlices(texts, (some) => some.map(rowOf))).flat() },
  ];
}

const WORDS: InsertShape<KeptText> = {
  table: "request_words",
  columns: { id: text(({ id }) => id), words: tsvector((kept) => writeWords("postgres", textOf(kept))) },
};

/** The next free number of the millisecond. */
const OF_MILLISECOND = `FROM request_word_rows
  WHERE number >= CAST($1 AS INTEGER) AND number < CAST($1 AS INTEGER) + ${ROWS_PER_MS}`;
const INSERT_NUMBER = `INSERT INTO request_word_rows (number, id)
  SELECT COALESCE(MAX(number) + 1, CAST($1 AS INTEGER)), $2 ${OF_MILLISECOND}`;
const INSERT_WORDS = `INSERT INTO request_words (rowid, words) SELECT number, $2 ${OF_MILLISECOND} AND id = $3`;

function numberOf({ id, atMs }: KeptText): number {
  return firstRowAt(recordTimeOf(id) ?? atMs);
}

function rowOf(kept: KeptText): readonly SqlValue[] {
  return [numberOf(kept), writeWords("sqlite", textOf(kept)), kept.id];
}

function textOf({ prompt, answer }: KeptText): string {
  return `${prompt.slice(0, TEXT_CHARS_MAX)}\n${answer.slice(0, TEXT_CHARS_MAX)}`;
}

/** Of all requests up to this one. */
export function wordsDeletion(kind: Db["kind"], lastId: string): readonly Statement[] {
  if (kind === "postgres") return [{ sql: "DELETE FROM request_words WHERE id <= $1", params: [lastId] }];
  const params = [firstRowAt((recordTimeOf(lastId) ?? 0) + 1), lastId];
  return [
    { sql: `DELETE FROM request_words WHERE rowid IN (SELECT number ${UP_TO})`, params },
    { sql: `DELETE ${UP_TO}`, params },
  ];
}

const UP_TO = "FROM request_word_rows WHERE number < CAST($1 AS INTEGER) AND id <= $2";
