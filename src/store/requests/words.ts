// Words of prompts and answers for the search of the log: splits texts, makes queries, and writes and deletes the words of
// requests. Both databases get the same words. Languages without spaces are split into pairs of characters, so that every
// part of a sentence is found.

import type { Db, SqlValue, Statement } from "../../core/db.ts";
import { type NewContent, recordTimeOf } from "../../core/requests/records.ts";
import { bulkInsert, type InsertShape, inSlices, text, tsvector } from "../dialect.ts";

/** Scripts without spaces between words. */
const UNSPACED =
  "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}ー\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}";
const RUNS = new RegExp(`[${UNSPACED}]+|(?:(?![${UNSPACED}])[\\p{L}\\p{M}\\p{N}])+`, "gu");
const IS_UNSPACED = new RegExp(`^[${UNSPACED}]`, "u");
/** Longest word. Longer ones are encoded data. */
const WORD_CHARS_MAX = 64;
/** Positions that PostgreSQL can store. */
const PLACES_MAX = 16_383;
const PLACES_PER_WORD_MAX = 256;

/** Splits a text into words in lower case, without accents. */
function wordsOf(text: string): readonly string[] {
  const plain = text
    .normalize("NFKD")
    .replace(/[\u0300-\u036f]/g, "")
    .normalize("NFC")
    .toLowerCase();
  const words: string[] = [];
  for (const [run] of plain.matchAll(RUNS)) {
    // One character may become twenty, so only as many are taken as fit.
    const room = PLACES_MAX - words.length;
    if (IS_UNSPACED.test(run)) words.push(...pairsOf([...run.slice(0, 2 * room + 2)]).slice(0, room));
    else words.push(run.slice(0, WORD_CHARS_MAX));
    if (words.length >= PLACES_MAX) break;
  }
  return words;
}

/** Makes pairs. The last character stands alone, so that a search for it matches as the beginning of a pair. */
function pairsOf(characters: readonly string[]): readonly string[] {
  return characters.map((character, at) => character + (characters[at + 1] ?? ""));
}

/** Writes a text for its index: SQLite takes words, PostgreSQL a tsvector with their positions. */
export function writeWords(kind: Db["kind"], text: string): string {
  const words = wordsOf(text);
  if (kind === "sqlite") return words.join(" ");
  const places = new Map<string, number[]>();
  for (const [index, word] of words.entries()) {
    const known = places.get(word);
    if (known === undefined) places.set(word, [index + 1]);
    else if (known.length < PLACES_PER_WORD_MAX) known.push(index + 1);
  }
  return [...places].map(([word, at]) => `${word}:${at.join(",")}`).join(" ");
}

/**
 * Writes a query for texts with every term. A term stands between spaces or in quotes. Its words follow each other, and
 * the last word may be a beginning. Returns null if the query has no word.
 */
export function writeQuery(kind: Db["kind"], query: string): string | null {
  const terms = [...query.matchAll(/"([^"]+)"|\S+/g)].map(([whole, quoted]) => queryWords(quoted ?? whole));
  const written = terms.filter((words) => words.length > 0).map((words) => TERMS[kind](words));
  return written.length === 0 ? null : written.join(kind === "sqlite" ? " AND " : " & ");
}

/** Shortest beginning to search for. Shorter ones match too many words. */
const BEGINNING_CHARS_MIN = 3;

const TERMS: Readonly<Record<Db["kind"], (words: readonly string[]) => string>> = {
  sqlite: (words) => `"${words.join(" ")}"${mayGoOn(words) ? " *" : ""}`,
  postgres: (words) => `(${words.join(" <-> ")}${mayGoOn(words) ? ":*" : ""})`,
};

function mayGoOn(words: readonly string[]): boolean {
  const last = words.at(-1) ?? "";
  return last.length >= BEGINNING_CHARS_MIN || IS_UNSPACED.test(last);
}

/** Splits a term. Drops its last single character, because the text may continue there and have a pair. */
function queryWords(term: string): readonly string[] {
  const words = wordsOf(term);
  const last = words.at(-1) ?? "";
  const isEndOfPair =
    words.length > 1 && [...last].length === 1 && IS_UNSPACED.test(last) && words.at(-2)?.endsWith(last);
  return isEndOfPair ? words.slice(0, -1) : words;
}

/** Row numbers per millisecond, more than one database writes. */
export const ROWS_PER_MS = 256;

/** Returns the first possible row of request_words at a time, on SQLite only. */
export function firstRowAt(atMs: number): number {
  return Math.floor(atMs) * ROWS_PER_MS;
}

/** Kept text of a request. */
interface KeptText extends Pick<NewContent, "prompt" | "answer"> {
  readonly id: string;
  readonly atMs: number;
}

/** Characters that are indexed. Only the beginning of a longer text is found. */
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

/** Rows of the millisecond, for the next free number. */
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

/** Deletes the words of all requests up to this one. */
export function wordsDeletion(kind: Db["kind"], lastId: string): readonly Statement[] {
  if (kind === "postgres") return [{ sql: "DELETE FROM request_words WHERE id <= $1", params: [lastId] }];
  const params = [firstRowAt((recordTimeOf(lastId) ?? 0) + 1), lastId];
  return [
    { sql: `DELETE FROM request_words WHERE rowid IN (SELECT number ${UP_TO})`, params },
    { sql: `DELETE ${UP_TO}`, params },
  ];
}

const UP_TO = "FROM request_word_rows WHERE number < CAST($1 AS INTEGER) AND id <= $2";
