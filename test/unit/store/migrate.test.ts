import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { openDb } from "../../../src/store/db.ts";
import { migrate, readMigrations, splitStatements } from "../../../src/store/migrate.ts";

test("splits at semicolons that end a line, and leaves comments out", () => {
  const sql = "-- first;\nCREATE TABLE a (id TEXT);\n\n-- why; because\nINSERT INTO a VALUES ('x; y'); \n-- the end\n";
  expect(splitStatements(sql)).toEqual(["CREATE TABLE a (id TEXT)", "INSERT INTO a VALUES ('x; y')"]);
});

test.each(["sqlite", "postgres"] as const)("the migrations for %s are numbered without gaps or repeats", (store) => {
  const names = readMigrations(store).map(({ name }) => name);
  expect(names.map((name) => Number(name.slice(0, 4)))).toEqual(names.map((_, index) => index + 1));
});

// While a new version takes over, the old one goes on working on the same tables.
test("migrations add, and take nothing away that the version before them uses", () => {
  const folder = new URL("../../../src/store/migrations/", import.meta.url);
  const statements = readdirSync(folder).flatMap((name) =>
    splitStatements(readFileSync(new URL(name, folder), "utf8")),
  );
  const taking =
    /\b(DROP (TABLE|COLUMN|TRIGGER|FUNCTION)|RENAME|SET NOT NULL|ALTER COLUMN|TRUNCATE TABLE|DELETE FROM)\b/i;
  expect(statements.filter((statement) => taking.test(statement))).toEqual([]);
  const columns = statements.filter((statement) => /\bADD COLUMN\b/i.test(statement) && /NOT NULL/i.test(statement));
  expect(columns.filter((statement) => !/DEFAULT/i.test(statement))).toEqual([]);
});

const good = { name: "0001_good", sql: "CREATE TABLE good (id TEXT);" };
const bad = { name: "0002_bad", sql: "CREATE TABLE half (id TEXT);\nCREATE TABEL other (id TEXT);" };
const repaired = { ...bad, sql: "CREATE TABLE half (id TEXT);" };

test.each([
  ["on a new database, nothing is left of any", [], [], ["0001_good", "0002_bad"]],
  ["later, those before it stay", [good], ["good", "schema_migrations"], ["0002_bad"]],
])("a migration that fails leaves nothing of itself: %s", async (_, first, left, applied) => {
  const db = await openDb("sqlite::memory:");
  await migrate(db, first);
  await expect(migrate(db, [good, bad])).rejects.toThrow(/syntax/);
  const tables = await db.query("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name");
  expect(tables.map((row) => row.name)).toEqual(left);
  expect(await migrate(db, [good, repaired])).toEqual(applied);
  await db.close();
});

test("a build refuses a database with a required migration that it lacks, and serves with other newer ones", async () => {
  const db = await openDb("sqlite::memory:");
  await db.migrate();
  await db.query("INSERT INTO schema_migrations (name, applied_at) VALUES ('9998_newer', 1)");
  expect(await db.migrate()).toEqual([]);
  await db.query("INSERT INTO required_migrations (name) VALUES ('0001_accounts'), ('9999_hello')");
  await expect(db.migrate()).rejects.toMatchObject({
    advice: expect.stringMatching(/does not know \(9999_hello\).*restore a backup/),
  });
  await db.close();
});
