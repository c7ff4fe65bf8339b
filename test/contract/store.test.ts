// What every store must do behind the Db port.

import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Db } from "../../src/core/db.ts";
import { BatchRejected, UniqueViolation } from "../../src/core/store-errors.ts";
import { openDb } from "../../src/store/db.ts";
import { migrate } from "../../src/store/migrate.ts";
import { fc } from "../support/property.ts";
import { describeStores } from "../support/stores/stores.ts";

await describeStores("store", ({ url, isShared }) => {
  let db: Db;

  beforeAll(async () => {
    db = await openDb(url);
    await db.query(
      "CREATE TABLE things (id TEXT NOT NULL PRIMARY KEY, amount BIGINT, note TEXT, ratio DOUBLE PRECISION)",
    );
  });
  beforeEach(() => db.query("DELETE FROM things"));
  afterAll(() => db.close());

  const put = (id: string, amount: number | bigint) => ({
    sql: "INSERT INTO things (id, amount) VALUES ($1, $2)",
    params: [id, amount],
  });
  const ids = async () => (await db.query("SELECT id FROM things ORDER BY id")).map((row) => row.id);

  test("migrating twice applies everything once", async () => {
    const applied = await db.migrate();
    expect(applied).toContain("0001_accounts");
    expect(await db.migrate()).toEqual([]);
  });

  test.runIf(isShared)("handles that migrate at the same time apply each file once", async () => {
    const files = ["0001_race", "0002_race"].map((name) => ({ name, sql: `CREATE TABLE t${name} (id TEXT);` }));
    const others = await Promise.all([openDb(url), openDb(url), openDb(url)]);
    const applied = await Promise.all(others.map((other) => migrate(other, files)));
    expect(applied.flat().sort()).toEqual(["0001_race", "0002_race"]);
    await Promise.all(others.map((other) => other.close()));
  });

  test("rows come back with text, integers, floating point and null as they went in", async () => {
    await db.query("INSERT INTO things (id, amount, note, ratio) VALUES ($1, $2, $3, $4)", ["a", 7, null, 0.25]);
    expect({ ...(await db.query("SELECT * FROM things"))[0] }).toEqual({ id: "a", amount: 7, note: null, ratio: 0.25 });
  });

  test("placeholders may be used twice and in any order", async () => {
    await db.query("INSERT INTO things (id, amount, note) VALUES ($2, $1, $2)", [3, "b"]);
    expect({ ...(await db.query("SELECT id, amount, note FROM things"))[0] }).toEqual({
      id: "b",
      amount: 3,
      note: "b",
    });
  });

  test("integers beyond the safe range come as bigint, those inside as number", async () => {
    const cases = [0n, -1n, 2n ** 53n - 1n, -(2n ** 53n - 1n), 2n ** 53n, -(2n ** 53n), 2n ** 63n - 1n, -(2n ** 63n)];
    await db.batch(cases.map((value, index) => put(String(index), value)));
    const rows = await db.query("SELECT amount FROM things ORDER BY id");
    expect(rows.map((row) => row.amount)).toEqual(
      cases.map((value) => (Number.isSafeInteger(Number(value)) ? Number(value) : value)),
    );
  });

  test("any 64-bit integer survives storing, adding and summing exactly", async () => {
    const amount = fc.bigInt({ min: -(2n ** 61n), max: 2n ** 61n });
    await fc.assert(
      fc.asyncProperty(amount, fc.maxSafeInteger(), async (start, step) => {
        await db.query("DELETE FROM things");
        await db.batch([put("x", start), put("y", 1)]);
        await db.query("UPDATE things SET amount = amount + $1 WHERE id = 'x'", [step]);
        const [row] = await db.query("SELECT SUM(amount) AS total FROM things");
        expect(BigInt(row!.total as number | bigint)).toBe(start + BigInt(step) + 1n);
      }),
      { numRuns: 25 },
    );
  });

  test("RETURNING gives the rows that were written", async () => {
    const rows = await db.query("INSERT INTO things (id, amount) VALUES ($1, $2) RETURNING id, amount", ["r", 5]);
    expect(rows.map((row) => ({ ...row }))).toEqual([{ id: "r", amount: 5 }]);
  });

  test("text with quotes, placeholders and line breaks is only text", async () => {
    const note = "'; DROP TABLE things; -- $1 \u0007\n\u{1F682}";
    await db.query("INSERT INTO things (id, note) VALUES ($1, $2)", ["t", note]);
    expect((await db.query("SELECT note FROM things WHERE note = $1", [note]))[0]!.note).toBe(note);
  });

  test("a transaction commits when its work resolves", async () => {
    const result = await db.transaction(async (tx) => {
      await tx.query("INSERT INTO things (id) VALUES ($1)", ["in"]);
      return (await tx.query("SELECT id FROM things")).length;
    });
    expect(result).toBe(1);
    expect(await ids()).toEqual(["in"]);
  });

  test("a transaction whose work throws leaves nothing", async () => {
    const work = db.transaction(async (tx) => {
      await tx.query("INSERT INTO things (id) VALUES ($1)", ["gone"]);
      throw new Error("changed my mind");
    });
    await expect(work).rejects.toThrow("changed my mind");
    expect(await ids()).toEqual([]);
  });

  test("a failed statement spoils its transaction even when the work goes on", async () => {
    await db.batch([put("taken", 1)]);
    const work = db.transaction(async (tx) => {
      await tx.query("INSERT INTO things (id) VALUES ('new')");
      await tx.query("INSERT INTO things (id) VALUES ('taken')").catch(() => undefined);
    });
    await expect(work).rejects.toBeInstanceOf(UniqueViolation);
    expect(await ids()).toEqual(["taken"]);
  });

  test("transactions at the same time do not lose an update", async () => {
    await db.batch([put("counter", 0)]);
    const add = () =>
      db.transaction(async (tx) => {
        await tx.query("UPDATE things SET amount = amount + 1 WHERE id = 'counter'");
        await tx.query("SELECT amount FROM things WHERE id = 'counter'");
      });
    await Promise.all(Array.from({ length: 20 }, add));
    expect((await db.query("SELECT amount FROM things"))[0]!.amount).toBe(20);
  });

  test("calls made while a transaction is open are not part of it", async () => {
    let outside: Promise<unknown> = Promise.resolve();
    const work = db.transaction(async (tx) => {
      await tx.query("INSERT INTO things (id) VALUES ('inside')");
      outside = db.batch([put("outside", 1)]);
      await tx.query("SELECT id FROM things");
      throw new Error("undo");
    });
    await expect(work).rejects.toThrow("undo");
    await outside;
    expect(await ids()).toEqual(["outside"]);
  });

  test("a batch answers with the rows of each statement", async () => {
    const answers = await db.batch([
      put("a", 1),
      { sql: "SELECT id, amount FROM things" },
      { sql: "UPDATE things SET amount = 9 RETURNING amount" },
    ]);
    expect(answers.map((rows) => rows.map((row) => ({ ...row })))).toEqual([
      [],
      [{ id: "a", amount: 1 }],
      [{ amount: 9 }],
    ]);
    expect(await db.batch([])).toEqual([]);
  });

  test("a batch with a failing statement leaves nothing and names it", async () => {
    const error = await db.batch([put("a", 1), put("b", 1), put("a", 2)]).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(UniqueViolation);
    expect((error as UniqueViolation).statementIndex).toBe(2);
    expect(await ids()).toEqual([]);
  });

  test("a batch that nobody waits for is as whole as any other", async () => {
    await db.batch([put("a", 1), put("b", 1)], { isBackground: true });
    const failing = db.batch([put("c", 1), put("a", 2)], { isBackground: true });
    await expect(failing).rejects.toBeInstanceOf(UniqueViolation);
    await db.batch([put("d", 1)]);
    expect(await ids()).toEqual(["a", "b", "d"]);
  });

  test.each([
    { what: "an update", sql: "UPDATE things SET amount = 0 WHERE id = 'missing'" },
    { what: "a delete", sql: "DELETE FROM things WHERE id = 'missing'" },
    { what: "a returning update", sql: "UPDATE things SET amount = 0 WHERE id = 'missing' RETURNING id" },
    { what: "a select", sql: "SELECT id FROM things WHERE id = 'missing'" },
    { what: "a skipped insert", sql: "INSERT INTO things (id) VALUES ('a') ON CONFLICT DO NOTHING" },
  ])("$what of too few rows undoes the batch", async ({ sql }) => {
    const error = await db.batch([put("a", 1), { sql, expectRows: 1 }]).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(BatchRejected);
    expect(error).toMatchObject({ statementIndex: 1, expectedRows: 1, affectedRows: 0 });
    expect(await ids()).toEqual([]);
  });

  test("what is written at once is written whole, or not at all", async () => {
    await db.batchAtOnce([put("a", 1), put("b", 2), put("c", 3)]);
    const change = { sql: "UPDATE things SET amount = amount + $2 WHERE id = $1", params: ["a", 5], expectRows: 1 };
    await db.batchAtOnce([change, put("d", 4), { ...change, params: ["b", 6] }]);
    expect(await db.query("SELECT id, amount FROM things ORDER BY id")).toMatchObject([
      { id: "a", amount: 6 },
      { id: "b", amount: 8 },
      { id: "c", amount: 3 },
      { id: "d", amount: 4 },
    ]);
    const missing = { ...change, params: ["missing", 1] };
    const refused = await db.batchAtOnce([put("e", 5), change, missing]).catch((reason: unknown) => reason);
    expect(refused).toBeInstanceOf(BatchRejected);
    expect(refused).toMatchObject({ statementIndex: 2, expectedRows: 1, affectedRows: 0 });
    const doubled = await db.batchAtOnce([put("e", 5), put("a", 1)]).catch((reason: unknown) => reason);
    expect(doubled).toBeInstanceOf(UniqueViolation);
    expect(await ids()).toEqual(["a", "b", "c", "d"]);
    expect((await db.query("SELECT SUM(amount) AS total FROM things"))[0]!.total).toBe(21);
  });

  test("what is sent together to be written at once is written in that order", async () => {
    await db.batchAtOnce([put("a", 0)]);
    const countTo = (amount: number) => ({
      sql: "UPDATE things SET amount = $1 WHERE id = 'a' AND amount = $2",
      params: [amount, amount - 1],
      expectRows: 1,
    });
    await Promise.all(Array.from({ length: 40 }, (_, index) => db.batchAtOnce([countTo(index + 1)])));
    // One that fails takes along those that follow from it, and no others.
    const ends = await Promise.allSettled([41, 43, 44, 42].map((amount) => db.batchAtOnce([countTo(amount)])));
    expect(ends.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected", "fulfilled"]);
    expect(await db.query("SELECT amount FROM things")).toMatchObject([{ amount: 42 }]);
  });

  test("enough rows satisfy expectRows", async () => {
    await db.batch([put("a", 1), put("b", 1)]);
    await db.batch([{ sql: "UPDATE things SET amount = 2", expectRows: 2 }]);
    expect((await db.query("SELECT SUM(amount) AS total FROM things"))[0]!.total).toBe(4);
  });

  test("of many batches at once each stands or falls by itself", async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 60 }, (_, index) =>
        db.batch([
          put(`n${index}`, index),
          index % 3 === 0 ? put(`n${index}`, index) : { sql: "SELECT 1 AS one", expectRows: index % 3 === 1 ? 1 : 2 },
        ]),
      ),
    );
    expect(outcomes.filter((outcome) => outcome.status === "fulfilled")).toHaveLength(20);
    expect(await ids()).toEqual(
      Array.from({ length: 60 }, (_, index) => index)
        .filter((index) => index % 3 === 1)
        .map((index) => `n${index}`)
        .sort(),
    );
  });

  test("a guarded draw-down never goes below zero under concurrency", async () => {
    await db.batch([put("wallet", 10)]);
    const draw = () =>
      db.batch([{ sql: "UPDATE things SET amount = amount - 1 WHERE id = 'wallet' AND amount >= 1", expectRows: 1 }]);
    const outcomes = await Promise.allSettled(Array.from({ length: 40 }, draw));
    expect(outcomes.filter((outcome) => outcome.status === "fulfilled")).toHaveLength(10);
    expect((await db.query("SELECT amount FROM things"))[0]!.amount).toBe(0);
  });

  test("a mistake in the SQL is an error of its own and does no harm", async () => {
    await expect(db.query("SELEC 1")).rejects.toThrow(/syntax/i);
    await expect(db.query("SELECT id FROM things WHERE id = $1", [])).rejects.toThrow();
    await db.batch([put("fine", 1)]);
    expect(await ids()).toEqual(["fine"]);
  });

  test("a closed store says that it is unavailable, and closing twice is fine", async () => {
    const other = await openDb(url);
    await other.close();
    await other.close();
    await expect(other.query("SELECT 1 AS one")).rejects.toMatchObject({ kind: "unavailable", status: 503 });
    await expect(other.batch([put("z", 1)])).rejects.toMatchObject({ kind: "unavailable" });
    await expect(other.transaction(async () => 1)).rejects.toMatchObject({ kind: "unavailable" });
  });
});
