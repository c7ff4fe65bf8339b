// The transaction in two messages: what is read decides what is written, all of it or nothing.

import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Db } from "../../src/core/db.ts";
import { BatchRejected, UniqueViolation } from "../../src/core/store-errors.ts";
import { openDb } from "../../src/store/db.ts";
import {
  bulkInsert,
  freeText,
  type InsertShape,
  inListSql,
  integer,
  listValue,
  text,
} from "../../src/store/dialect.ts";
import { describeStores } from "../support/stores/stores.ts";

await describeStores("read then write", ({ url }) => {
  let db: Db;

  beforeAll(async () => {
    db = await openDb(url);
    await db.query("CREATE TABLE purses (id TEXT NOT NULL PRIMARY KEY, amount BIGINT, seen_at BIGINT)");
  });
  beforeEach(() => db.query("DELETE FROM purses"));
  afterAll(() => db.close());

  const READ = { sql: "SELECT amount FROM purses WHERE id = $1", params: ["p"] };
  const ADD = { sql: "INSERT INTO purses (id, amount) VALUES ($1, $2)", params: ["p", 1] };
  const SET = "UPDATE purses SET amount = $2 WHERE id = $1";
  const amounts = async () => (await db.query("SELECT amount FROM purses ORDER BY id")).map(({ amount }) => amount);

  test("the writes follow from the reads, and the result from both", async () => {
    await db.batch([ADD]);
    const result = await db.readThenWrite([READ, { sql: "SELECT 7 AS seven" }], ([purse, other]) => ({
      writes: [{ sql: SET, params: ["p", Number(purse?.[0]?.amount) + Number(other?.[0]?.seven)], expectRows: 1 }],
      result: "done",
    }));
    expect([result, await amounts()]).toEqual(["done", [8]]);
  });

  test("many at once each see what the one before has written", async () => {
    await db.batch([ADD]);
    const lock = db.kind === "postgres" ? " FOR UPDATE" : "";
    await Promise.all(
      Array.from({ length: 20 }, () =>
        db.readThenWrite([{ ...READ, sql: READ.sql + lock }], ([rows]) => ({
          writes: [{ sql: SET, params: ["p", Number(rows?.[0]?.amount) + 1] }],
          result: null,
        })),
      ),
    );
    expect(await amounts()).toEqual([21]);
  });

  test("nothing is kept when the decision throws, a write fails, or a row is not affected; the next one is served", async () => {
    const writing = (writes: readonly { sql: string; params: readonly (string | number)[]; expectRows?: number }[]) =>
      db.readThenWrite([READ], () => ({ writes, result: null }));
    const thrown = new Error("no");
    const throwing = db.readThenWrite([{ ...ADD }], () => {
      throw thrown;
    });
    await expect(throwing).rejects.toBe(thrown);
    await expect(writing([ADD, ADD])).rejects.toBeInstanceOf(UniqueViolation);
    await expect(writing([ADD, { sql: SET, params: ["q", 1], expectRows: 1 }])).rejects.toEqual(
      new BatchRejected({ statementIndex: 1, expectedRows: 1, affectedRows: 0 }),
    );
    await expect(db.readThenWrite([{ sql: "SELECT nonsense" }], () => ({ writes: [], result: 1 }))).rejects.toThrow();
    expect(await amounts()).toEqual([]);
    await writing([ADD]);
    expect(await amounts()).toEqual([1]);
  });

  test("lists of any length have one text, and any text in them survives", async () => {
    const shape: InsertShape<readonly [string, bigint | null]> = {
      table: "purses",
      columns: { id: text(([id]) => id), amount: integer(([, amount]) => amount) },
      clockColumn: "seen_at",
    };
    const purses = bulkInsert(db.kind, shape);
    const odd = ["plain", 'with "quotes"', "back\\slash", "a,b", "{c}", "NULL", "", "two\nlines", "é🙂", "'"];
    const rows = odd.map((id, index): readonly [string, bigint | null] => [
      id,
      index === 0 ? null : 2n ** 62n + BigInt(index),
    ]);
    const before = Date.now() - 60_000;
    await db.readThenWrite([], () => ({ writes: [purses.statement(rows)], result: null }));
    const find = { sql: `SELECT id, amount, seen_at FROM purses WHERE ${inListSql(db.kind, "id", "$1")}` };
    const found = await db.readThenWrite([{ ...find, params: [listValue(db.kind, odd)] }], ([all]) => ({
      writes: [],
      result: all ?? [],
    }));
    const byId = new Map(found.map(({ id, amount }) => [id, amount]));
    expect(odd.map((id) => [id, byId.get(id) ?? null])).toEqual(rows);
    expect(found.every(({ seen_at: seenAt }) => Number(seenAt) > before)).toBe(true);
    const few = await db.readThenWrite([{ ...find, params: [listValue(db.kind, ["", "none"])] }], ([some]) => ({
      writes: [],
      result: some?.map(({ id }) => id),
    }));
    expect(few).toEqual([""]);
  });

  test("half of a surrogate pair is stored as the replacement character, a whole pair as it is", async () => {
    const shape: InsertShape<string> = {
      table: "purses",
      columns: { id: freeText((id) => id), amount: integer(() => 1) },
      clockColumn: "seen_at",
    };
    const odd = ["half \ud83d", "whole \ud83d\ude00", "\\ud83d spelt out", "\\\udc00"];
    await db.batch([await bulkInsert(db.kind, shape).statementInSlices(odd)]);
    const stored = (await db.query("SELECT id FROM purses")).map(({ id }) => id);
    expect(stored).toEqual(
      expect.arrayContaining(["half \ufffd", "whole \ud83d\ude00", "\\ud83d spelt out", "\\\ufffd"]),
    );
  });
});
