// Packs the rows of one INSERT into a single value, which SQL takes apart: binding each value costs more than inserting a
// wide row. Without packing, a request took 16% more CPU with two workers, most of it in the threads of the primary
// process (quartiles 1 to 20), and 1% more in one process (-8 to 8; two shared cores, 18 November 2026).

import type { PackedRows, SqlValue, Statement } from "../../core/db.ts";

/** A table and its columns, the same for all batches. */
export interface PackedTable {
  readonly table: string;
  readonly columns: readonly string[];
  /** Further column, with the SQL of its value. */
  readonly clock: { readonly column: string; readonly sql: string } | null;
  readonly onConflict: string;
}

/** Bytes are text in UTF-8. */
export type RowValue = SqlValue | Uint8Array;
type RowList = readonly (readonly RowValue[])[];

/**
 * Encoding of a column. `same`: one value for all rows. `number`: spaces, then digits. `padded`: text, then spaces.
 * `behind`: position and length in the texts behind the rows.
 */
type PackedKind = "same" | "number" | "padded" | "behind";

interface PackedColumn {
  readonly kind: PackedKind;
  /** Bytes in each row. */
  readonly width: number;
  /** True if some rows have no value. They have spaces, and the column is not `padded`. */
  readonly hasNulls: boolean;
}

/** Column encodings only widen, so few prepared statements are needed. */
interface KnownColumn {
  isVaried: boolean;
  hasNulls: boolean;
  isBehind: boolean;
}

/** Rows as one statement. They can be read again; text that came as bytes becomes text. */
export interface PackedInsert {
  readonly statement: Statement;
  readonly rows: () => readonly (readonly SqlValue[])[];
}

/** Fewest rows to pack, because each combination of encodings prepares a statement. */
const ROWS_MIN = 8;
/** Longest padded text. Longer texts stand behind the rows, so that shorter ones need no padding. */
const PADDED_MAX = 64;
/** Digits of a position, and of a length. */
const PLACE_DIGITS = 8;
/** Largest total of texts. Packing more saves nothing. */
const BEHIND_BYTES_MAX = 8 * 1024 * 1024;

/** Makes a packer. It returns null for rows to send one by one: few or very long ones, or ones with a fraction. */
export function createPacker(table: PackedTable): (rows: RowList) => PackedInsert | null {
  const texts = new Map<string, string>();
  const known = table.columns.map((): KnownColumn => ({ isVaried: false, hasNulls: false, isBehind: false }));
  return (rows) => {
    if (rows.length < ROWS_MIN) return null;
    const columns: PackedColumn[] = [];
    for (const [index, knownColumn] of known.entries()) {
      const column = columnOf(rows, index, knownColumn);
      if (column === null) return null;
      columns.push(column);
    }
    const packed = packRows(rows, columns) ?? packRows(rows, columns.map(beyondAscii));
    if (packed === null) return null;
    const form = packed.columns.map(({ kind, hasNulls }) => `${kind[0]}${hasNulls ? "0" : ""}`).join("");
    const sql = texts.get(form) ?? insertSql(table, packed.columns);
    texts.set(form, sql);
    const { columns: written, rows: values } = packed;
    return { statement: { sql, packed: values }, rows: () => readRows(values, written) };
  };
}

/** Chooses the encoding of a column. Returns null if it cannot be packed. */
function columnOf(rows: RowList, index: number, known: KnownColumn): PackedColumn | null {
  const first = rows[0]?.[index] ?? null;
  let isSame = true;
  let hasNulls = false;
  let isPlain = true;
  let texts = 0;
  let width = 1;
  let least: number | bigint = 0;
  let most: number | bigint = 0;
  for (const row of rows) {
    const value = row[index] ?? null;
    if (value !== first) isSame = false;
    if (value === null) hasNulls = true;
    else if (typeof value === "string") {
      texts += 1;
      if (value.length > width) width = value.length;
      if (value.endsWith(" ")) isPlain = false;
    } else if (value instanceof Uint8Array) {
      texts += 1;
      isSame = false;
      isPlain = false;
    } else {
      if (value > most) most = value;
      else if (value < least) least = value;
      if (typeof value === "number" && !Number.isSafeInteger(value)) return null;
    }
  }
  if (isSame && !known.isVaried) return { kind: "same", width: 0, hasNulls: false };
  known.isVaried = true;
  known.hasNulls ||= hasNulls;
  if (texts === 0) {
    return {
      kind: "number",
      width: Math.max(String(least).length, String(most).length),
      hasNulls: known.hasNulls,
    };
  }
  if (least !== 0 || most !== 0) return null;
  known.isBehind ||= !isPlain || known.hasNulls || width > PADDED_MAX;
  return known.isBehind
    ? { kind: "behind", width: 2 * PLACE_DIGITS, hasNulls: known.hasNulls }
    : { kind: "padded", width, hasNulls: false };
}

/** Widens a padded column with text beyond ASCII, whose length in characters is not its length in bytes. */
function beyondAscii(column: PackedColumn): PackedColumn {
  return column.kind === "padded" ? { kind: "behind", width: 2 * PLACE_DIGITS, hasNulls: false } : column;
}

const ONE_BYTE = Buffer.from(" ");

/** Packs rows. Returns null if a padded text is not ASCII, or the texts are too long. */
function packRows(rows: RowList, columns: readonly PackedColumn[]) {
  let text = "";
  const behind: Uint8Array[] = [];
  let behindBytes = 0;
  for (const row of rows) {
    for (let index = 0; index < columns.length; index += 1) {
      const { kind, width } = columns[index] as PackedColumn;
      if (kind === "same") continue;
      const value = row[index] ?? null;
      if (value === null) text += " ".repeat(width);
      else if (kind === "number") text += String(value).padStart(width);
      else if (kind === "padded") text += (value as string).padEnd(width);
      else {
        const bytes = typeof value === "string" ? Buffer.from(value) : (value as Uint8Array);
        // SQL positions begin at one.
        text += String(behindBytes + 1).padStart(PLACE_DIGITS) + String(bytes.length).padStart(PLACE_DIGITS);
        behind.push(bytes);
        behindBytes += bytes.length;
      }
    }
    if (behindBytes > BEHIND_BYTES_MAX) return null;
  }
  const bytes = Buffer.from(text);
  if (bytes.length !== text.length) return null;
  // An empty value would be bound as null.
  return { columns, rows: toPacked(rows, columns, [bytes, Buffer.concat([...behind, ONE_BYTE])]) };
}

function toPacked(
  rows: RowList,
  columns: readonly PackedColumn[],
  [bytes, behind]: readonly [Uint8Array, Uint8Array],
): PackedRows {
  const values: (SqlValue | Uint8Array)[] = [bytes, behind, bytes.length, bytes.length / rows.length];
  let place = 1;
  columns.forEach((column, index) => {
    const bound = [column.kind === "same" ? (rows[0]?.[index] ?? null) : place, column.width];
    values.push(...bound.slice(0, placesOf(column)));
    place += column.width;
  });
  return { count: rows.length, values };
}

/** Makes the INSERT. `?1` has the rows, `?2` the texts behind them, `?3` the length of `?1`, `?4` that of one row. */
function insertSql({ table, columns, clock, onConflict }: PackedTable, packed: readonly PackedColumn[]): string {
  let last = 4;
  const values = packed.map((column) => {
    const next = last + 1;
    last += placesOf(column);
    return valueSql(column, next);
  });
  const names = [...columns, ...(clock === null ? [] : [clock.column])];
  if (clock !== null) values.push(clock.sql);
  return `WITH RECURSIVE row(start) AS (SELECT 0 UNION ALL SELECT start + ?4 FROM row WHERE start + ?4 < ?3)
    INSERT INTO ${table} (${names.join(", ")}) SELECT ${values.join(", ")} FROM row WHERE 1 = 1 ${onConflict}`;
}

/** Counts the placeholders of a column: one for its value, or two for position and width. */
function placesOf({ kind, hasNulls }: PackedColumn): number {
  return kind === "same" || (kind === "behind" && !hasNulls) ? 1 : 2;
}

function valueSql({ kind, hasNulls }: PackedColumn, place: number): string {
  if (kind === "same") return `?${place}`;
  const bytes = `substr(?1, start + ?${place}, ?${place + 1})`;
  if (kind === "padded") return `rtrim(CAST(${bytes} AS TEXT))`;
  const digits = (from: number): string => `CAST(substr(?1, start + ?${place} + ${from}, ${PLACE_DIGITS}) AS INTEGER)`;
  const value =
    kind === "number" ? `CAST(${bytes} AS INTEGER)` : `CAST(substr(?2, ${digits(0)}, ${digits(PLACE_DIGITS)}) AS TEXT)`;
  return hasNulls ? `CASE WHEN trim(CAST(${bytes} AS TEXT)) <> '' THEN ${value} END` : value;
}

/** Reads packed rows. All integers become `bigint`. */
function readRows({ count, values }: PackedRows, columns: readonly PackedColumn[]): readonly (readonly SqlValue[])[] {
  const [bytes, behind] = values as readonly [Uint8Array, Uint8Array];
  const text = Buffer.from(bytes).toString("latin1");
  const rows: SqlValue[][] = [];
  let start = 0;
  for (let row = 0; row < count; row += 1) {
    const read: SqlValue[] = [];
    let place = 4;
    for (const column of columns) {
      const written = text.slice(start, start + column.width);
      read.push(column.kind === "same" ? (values[place] as SqlValue) : readValue(column, written, behind));
      start += column.width;
      place += placesOf(column);
    }
    rows.push(read);
  }
  return rows;
}

function readValue({ kind, hasNulls }: PackedColumn, written: string, behind: Uint8Array): SqlValue {
  if (kind === "padded") return written.replace(/ +$/, "");
  if (hasNulls && written.trim() === "") return null;
  if (kind === "number") return BigInt(written.trim());
  const start = Number(written.slice(0, PLACE_DIGITS)) - 1;
  return UTF8.decode(behind.subarray(start, start + Number(written.slice(PLACE_DIGITS))));
}

export const UTF8 = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * Frees packed bytes. Otherwise they wait for a major garbage collection and cause more of them: at 3,000 records a second
 * one every 2 seconds, and none with this (17 November 2026).
 */
export function freePacked(statements: readonly Statement[]): void {
  const transfer: ArrayBuffer[] = [];
  for (const { packed } of statements) {
    for (const value of packed?.values ?? []) {
      // Small buffers share memory that is still in use.
      const isOwn = value instanceof Uint8Array && value.byteLength === value.buffer.byteLength;
      if (isOwn) transfer.push(value.buffer as ArrayBuffer);
    }
  }
  if (transfer.length > 0) structuredClone(null, { transfer });
}
