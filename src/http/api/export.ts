// Files that /api sends whole, however long: one page after the other, as fast as the client reads.

import { Readable } from "node:stream";
import type { FastifyReply } from "fastify";
import type { Page } from "../../core/accounts.ts";

/** Large enough that a page costs one query and no noticeable pause. */
const PAGE_ROWS = 500;

/** The next page is read when the client has taken the one before. */
export function sendFile(
  reply: FastifyReply,
  { name, type }: { readonly name: string; readonly type: string },
  pages: AsyncGenerator<string, void, void>,
): FastifyReply {
  return reply
    .type(type)
    .header("content-disposition", `attachment; filename="${name}"`)
    .send(Readable.from(pages, { highWaterMark: 1 }));
}

interface FileSubject {
  readonly accountId: string;
  readonly fromMs?: number;
  readonly toMs?: number;
  readonly nowMs: number;
}

/** Says whose it is, which days it covers (UTC), and when it was made where it has no end. */
export function fileName(what: string, { accountId, fromMs, toMs, nowMs }: FileSubject): string {
  const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
  const from = fromMs === undefined ? "" : `${dayOf(fromMs)}-to-`;
  return `${what}-${accountId}-${from}${dayOf(Math.min(toMs ?? nowMs, nowMs))}`;
}

/** Every row of a list as text, a page at a time, with an opening line where there is one. */
export async function* textPages<Row>(
  read: (page: Page) => Promise<readonly Row[]>,
  { idOf, write, opening }: { idOf: (row: Row) => string; write: (row: Row) => string; opening?: string },
): AsyncGenerator<string, void, void> {
  if (opening !== undefined) yield opening;
  let after: string | null = null;
  do {
    const rows: readonly Row[] = await read({ limit: PAGE_ROWS, after });
    if (rows.length > 0) yield rows.map(write).join("");
    const last = rows.at(-1);
    after = last === undefined || rows.length < PAGE_ROWS ? null : idOf(last);
  } while (after !== null);
}

/** Lines end as RFC 4180 says. */
export function csvRow(cells: readonly unknown[]): string {
  return `${cells.map(csvCell).join(",")}\r\n`;
}

/**
 * Text that a spreadsheet would run as a formula gets an apostrophe before it; numbers stay numbers. Some spreadsheets
 * split rows at semicolons or tabs, so cells with those are quoted too.
 */
function csvCell(value: unknown): string {
  if (value === null || value === undefined) return "";
  const text = String(value);
  const isNumber = /^-?\d+(\.\d+)?$/.test(text);
  const safe = !isNumber && opensFormula(text) ? `'${text}` : text;
  return /[",;\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Spreadsheets skip spaces and invisible characters before a formula, and take full-width signs for plain ones. */
function opensFormula(text: string): boolean {
  const [first = ""] = text.replace(/^[\s\p{Cc}\p{Cf}]+/u, "");
  return /^[\t\r\n]/.test(text) || /^[=+\-@]/.test(first.normalize("NFKC"));
}
