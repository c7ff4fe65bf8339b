// Many rows of one INSERT on SQLite: what comes back is what went in, whatever form the batch has.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Db, SqlValue } from "../../../src/core/db.ts";
import { UniqueViolation } from "../../../src/core/store-errors.ts";
import { openDb } from "../../../src/store/db.ts";
import { bulkInsert, encodedText, integer, text } from "../../../src/store/dialect.ts";
import { fc } from "../../support/property.ts";

interface Packed {
  readonly id: number;
  readonly label: string | null;
  readonly amount: bigint | number | null;
}

const INSERT = bulkInsert<Packed>("sqlite", {
  table: "packed",
  columns: { id: integer((row) => row.id), label: text((row) => row.label), amount: integer((row) => row.amount) },
  clockColumn: "made_at",
});

let db: Db;
beforeAll(async () => {
  db = await openDb("sqlite::memory:");
  await db.query("CREATE TABLE packed (id BIGINT PRIMARY KEY, label TEXT, amount BIGINT, made_at BIGINT NOT NULL)");
});
afterAll(() => db.close());

/** As the store gives them back. */
async function writeAndRead(rows: readonly Packed[]): Promise<readonly (readonly SqlValue[])[]> {
  await db.query("DELETE FROM packed");
  await db.batch([INSERT.statement(rows)]);
  const read = await db.query("SELECT id, label, amount FROM packed WHERE made_at > 0 ORDER BY id");
  return read.map(({ id, label, amount }) => [id ?? null, label ?? null, amount === null ? null : BigInt(amount ?? 0)]);
}

function asRead(rows: readonly Packed[]): readonly (readonly SqlValue[])[] {
  return rows.map(({ id, label, amount }) => [id, label, amount === null ? null : BigInt(amount)]);
}

/** Numbers alike, whichever kind they are. */
function whole(row: readonly SqlValue[]): readonly SqlValue[] {
  return row.map((value) => (typeof value === "number" ? BigInt(value) : value));
}

/** Ten rows, so that they are packed. */
function tenOf(row: (id: number) => Omit<Packed, "id">): readonly Packed[] {
  return Array.from({ length: 10 }, (_, id) => ({ id, ...row(id) }));
}

const LARGEST = 9_223_372_036_854_775_807n;

describe("a batch of many rows", () => {
  test.each<[string, (id: number) => Omit<Packed, "id">]>([
    ["values that are the same in all", () => ({ label: "same", amount: 7n })],
    ["nothing at all", () => ({ label: null, amount: null })],
    ["texts of different lengths, and empty ones", (id) => ({ label: "x".repeat(id), amount: id })],
    ["texts that begin and end with spaces", (id) => ({ label: `  ${id}  `, amount: -id })],
    ["long texts", (id) => ({ label: `${id}`.repeat(1000), amount: id })],
    ["texts that are not ASCII", (id) => ({ label: id % 2 === 0 ? `größer ${id} 🜚` : "plain", amount: id })],
    ["texts and nothing in turn", (id) => ({ label: id % 3 === 0 ? null : `${id}`, amount: id % 2 === 0 ? null : id })],
    ["empty texts and nothing in turn", (id) => ({ label: id % 2 === 0 ? null : "", amount: 0 })],
    ["the largest and the smallest number", (id) => ({ label: "", amount: id % 2 === 0 ? LARGEST : -LARGEST - 1n })],
  ])("keeps %s", async (_, row) => {
    const rows = tenOf(row);
    const packed = INSERT.pack(rows);
    expect(packed.statement).toHaveProperty("packed");
    expect(packed.rows().map(whole)).toEqual(asRead(rows).map(whole));
    expect(await writeAndRead(rows)).toEqual(asRead(rows));
  });

  test.each([10, 3])("keeps texts that came as bytes (%i rows)", async (count) => {
    const encoded = bulkInsert<Packed>("sqlite", {
      table: "packed",
      columns: { id: integer((row) => row.id), label: encodedText((row) => Buffer.from(row.label ?? "")) },
      clockColumn: "made_at",
    });
    const rows = tenOf((id) => ({ label: id === 0 ? "" : `\ufeffgrößer ${id} `, amount: null })).slice(0, count);
    await db.query("DELETE FROM packed");
    await db.batch([encoded.statement(rows)]);
    const read = await db.query("SELECT id, label, typeof(label) AS type FROM packed ORDER BY id");
    expect(read).toEqual(rows.map(({ id, label }) => ({ id, label, type: "text" })));
  });

  test("keeps texts apart where one ends and the next begins with half a character", async () => {
    const rows = tenOf((id) => ({ label: id % 2 === 0 ? `${id}\ud83d` : `\ude00${id}`, amount: id }));
    const whole = rows.map((row) => ({ ...row, label: row.label?.toWellFormed() ?? null }));
    expect(await writeAndRead(rows)).toEqual(asRead(whole));
  });

  test("keeps any values", async () => {
    const label = fc.option(fc.string({ unit: "grapheme", maxLength: 80 }));
    const amount = fc.option(fc.oneof(fc.bigInt({ min: -LARGEST, max: LARGEST }), fc.maxSafeInteger()));
    const rows = fc.array(fc.record({ label, amount }), { minLength: 1, maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(rows, async (given) => {
        const written = given.map((row, id) => ({ id, ...row }));
        const packed = INSERT.pack(written);
        expect(packed.rows().map(whole)).toEqual(asRead(written).map(whole));
        expect(await writeAndRead(written)).toEqual(asRead(written));
      }),
    );
  });

  test("sends few rows, very long texts and numbers that are not whole one by one", async () => {
    const few = tenOf((id) => ({ label: "a", amount: id })).slice(0, 3);
    const long = tenOf((id) => ({ label: `${id}`.repeat(1024 * 1024), amount: id }));
    const uneven = tenOf((id) => ({ label: "a", amount: id + 0.5 }));
    for (const rows of [few, long, uneven]) expect(INSERT.statement(rows)).not.toHaveProperty("packed");
    expect(await writeAndRead(few)).toEqual(asRead(few));
    expect(await writeAndRead(long)).toEqual(asRead(long));
  });

  test("keeps its form where a later one is simpler, so that few statements are prepared", async () => {
    const insert = bulkInsert<Packed>("sqlite", {
      table: "packed",
      columns: { id: integer((row) => row.id), label: text((row) => row.label), amount: integer((row) => row.amount) },
    });
    const sqlOf = (row: (id: number) => Omit<Packed, "id">) => insert.statement(tenOf(row)).sql;
    const simple = sqlOf(() => ({ label: "same", amount: 1 }));
    const varied = sqlOf((id) => ({ label: "x".repeat(70 * id), amount: id === 1 ? null : id }));
    expect(varied).not.toBe(simple);
    expect(sqlOf(() => ({ label: "same", amount: 1 }))).toBe(varied);
    expect(sqlOf((id) => ({ label: `${id}`, amount: id }))).toBe(varied);
  });

  test("fails as a whole where one row is there already", async () => {
    const rows = tenOf((id) => ({ label: "a", amount: id }));
    await writeAndRead(rows.slice(5, 6));
    await expect(db.batch([INSERT.statement(rows)])).rejects.toThrow(UniqueViolation);
    expect(await db.query("SELECT id FROM packed")).toEqual([{ id: 5 }]);
  });
});
