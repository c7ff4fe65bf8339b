// Words of prompts and answers for the search of the log: how a text is split for the index, and a query written for it.
// Both databases get the same words. A language without spaces is split into pairs of characters, so that every part of
// a sentence from one character on is found.

import type { Db } from "../../core/db.ts";

/** Written without spaces between words. */
const UNSPACED =
  "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}ー\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}";
const RUNS = new RegExp(`[${UNSPACED}]+|(?:(?![${UNSPACED}])[\\p{L}\\p{M}\\p{N}])+`, "gu");
const IS_UNSPACED = new RegExp(`^[${UNSPACED}]`, "u");
/** Longer ones are no words but encoded data. */
const WORD_CHARS_MAX = 64;
/** As many as PostgreSQL can place. */
const PLACES_MAX = 16_383;
const PLACES_PER_WORD_MAX = 256;

/** The words of a text in their order: lower case, without accents. */
function wordsOf(text: string): readonly string[] {
  const plain = text
    .normalize("NFKD")
    .replace(/[\u0300-\u036f]/g, "")
    .normalize("NFC")
    .toLowerCase();
  const words: string[] = [];
  for (const [run] of plain.matchAll(RUNS)) {
    // A character may stand for twenty, so only as many are taken as there is room for.
    const room = PLACES_MAX - words.length;
    if (IS_UNSPACED.test(run)) words.push(...pairsOf([...run.slice(0, 2 * room + 2)]).slice(0, room));
    else words.push(run.slice(0, WORD_CHARS_MAX));
    if (words.length >= PLACES_MAX) break;
  }
  return words;
}

/** The last character stands alone, so that it is found as the beginning of a pair. */
function pairsOf(characters: readonly string[]): readonly string[] {
  return characters.map((character, at) => character + (characters[at + 1] ?? ""));
}

/** What is stored of a text: SQLite takes words, PostgreSQL a tsvector with their places. */
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
 * Texts in which every term of the query occurs. What stands between spaces, or in quotes, is one term: its words follow
 * each other, and the last may go on. Null when the query has no word.
 */
export function writeQuery(kind: Db["kind"], query: string): string | null {
  const terms = [...query.matchAll(/"([^"]+)"|\S+/g)].map(([whole, quoted]) => queryWords(quoted ?? whole));
  const written = terms.filter((words) => words.length > 0).map((words) => TERMS[kind](words));
  return written.length === 0 ? null : written.join(kind === "sqlite" ? " AND " : " & ");
}

/** Shorter beginnings are those of too many words. */
const BEGINNING_CHARS_MIN = 3;

const TERMS: Readonly<Record<Db["kind"], (words: readonly string[]) => string>> = {
  sqlite: (words) => `"${words.join(" ")}"${mayGoOn(words) ? " *" : ""}`,
  postgres: (words) => `(${words.join(" <-> ")}${mayGoOn(words) ? ":*" : ""})`,
};

function mayGoOn(words: readonly string[]): boolean {
  const last = words.at(-1) ?? "";
  return last.length >= BEGINNING_CHARS_MIN || IS_UNSPACED.test(last);
}

/** A term may end in the middle of a sentence, where the text has a pair: its last character is only the end of one. */
function queryWords(term: string): readonly string[] {
  const words = wordsOf(term);
  const last = words.at(-1) ?? "";
  const isEndOfPair =
    words.length > 1 && [...last].length === 1 && IS_UNSPACED.test(last) && words.at(-2)?.endsWith(last);
  return isEndOfPair ? words.slice(0, -1) : words;
}

/** More than one database writes in a millisecond. */
export const ROWS_PER_MS = 256;

/** SQLite only: where the rows of request_words of that time begin. */
export function firstRowAt(atMs: number): number {
  return Math.floor(atMs) * ROWS_PER_MS;
}
