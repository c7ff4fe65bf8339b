// Migrations: numbered SQL files, each applied once and recorded by name. A new database applies all in one transaction.
// The files hold portable SQL. Where the databases differ, a file exists twice (NAME.sqlite.sql, NAME.postgres.sql) or
// a comment is marked (/*sqlite …*/). A statement ends with a semicolon at the end of a line.
// NAME.log.sql and NAME.contents.sql change tables of the request log and of stored contents, which have files of their
// own on SQLite.

import { readdirSync, readFileSync } from "node:fs";
import type { Db, Queryable, Statement } from "../core/db.ts";
import { StoreUnusable } from "../core/store-errors.ts";

/** One file of migrations/, in the dialect of the database. */
export interface Migration {
  readonly name: string;
  readonly sql: string;
}

/** Applies missing migrations in order and returns their names. Several processes may call this at once. */
export async function migrate(
  db: Pick<Db, "kind" | "query" | "transaction">,
  migrations: readonly Migration[] = readMigrations(db.kind),
): Promise<readonly string[]> {
  const before = await appliedNames(db);
  if (before.length > 0) await requireKnown(db, migrations);
  const missing = migrations.filter(({ name }) => !before.includes(name));
  // A new database has nothing to lose, and one commit takes a tenth of the time of dozens.
  const groups = before.length === 0 && missing.length > 0 ? [missing] : missing.map((migration) => [migration]);
  const applied: string[] = [];
  for (const group of groups) {
    const names = await db.transaction(async (tx) => {
      await guard(db.kind, tx);
      return applyAll(tx, group);
    });
    applied.push(...names);
  }
  return applied;
}

/** Refuses a database that was changed in a way that this build cannot follow. Others of a newer version serve. */
async function requireKnown(db: Pick<Db, "query">, migrations: readonly Migration[]): Promise<void> {
  const required = await db.query("SELECT name FROM required_migrations ORDER BY name").catch(() => []);
  const unknown = required
    .map((row) => String(row.name))
    .filter((name) => !migrations.some((own) => own.name === name));
  if (unknown.length === 0) return;
  throw new StoreUnusable(
    `A newer version changed this database in a way that this version does not know (${unknown.join(", ")}). ` +
      "Nothing was changed. Start that version again, or restore a backup from before.",
  );
}

export interface MigrationDifference {
  /** Migrations of the program that the database lacks. */
  readonly missing: readonly string[];
  /** Migrations of a newer version, which the program does not know. */
  readonly foreign: readonly string[];
}

/** Compares migrations and changes nothing. */
export async function compareMigrations(db: Pick<Db, "kind" | "query">): Promise<MigrationDifference> {
  const known = readMigrations(db.kind).map(({ name }) => name);
  const applied = await appliedNames(db);
  return {
    missing: known.filter((name) => !applied.includes(name)),
    foreign: applied.filter((name) => !known.includes(name)),
  };
}

/** Reads the applied migrations. A new database has no such table. */
async function appliedNames(db: Pick<Db, "query">): Promise<readonly string[]> {
  const rows = await db.query("SELECT name FROM schema_migrations ORDER BY name").catch(() => []);
  return rows.map((row) => String(row.name));
}

export function splitStatements(sql: string): readonly string[] {
  return sql
    .split(/;[ \t]*$/m)
    .map((statement) => statement.replace(/^\s*--.*$/gm, "").trim())
    .filter((statement) => statement !== "");
}

export function readMigrations(kind: Db["kind"]): readonly Migration[] {
  return readParts(kind, () => true);
}

/** Reads the part of each migration that changes one part of the database, mostly nothing. */
export function readPartMigrations(kind: Db["kind"], part: "log" | "contents"): readonly Migration[] {
  return readParts(kind, (marks) => marks.includes(part));
}

/** A migration may have one file for each part and one for the rest. */
function readParts(kind: Db["kind"], isWanted: (marks: readonly string[]) => boolean): readonly Migration[] {
  const folder = new URL("./migrations/", import.meta.url);
  const other = kind === "sqlite" ? "postgres" : "sqlite";
  const migrations = new Map<string, string>();
  for (const file of readdirSync(folder).sort()) {
    const [name = "", ...marks] = file.split(".");
    if (!file.endsWith(".sql") || marks.includes(other)) continue;
    const sql = isWanted(marks) ? uncommentFor(kind, readFileSync(new URL(file, folder), "utf8")) : "";
    migrations.set(name, `${migrations.get(name) ?? ""}${sql}`);
  }
  return [...migrations].map(([name, sql]) => ({ name, sql }));
}

/** Uncomments the text that is marked for this database. */
function uncommentFor(kind: Db["kind"], sql: string): string {
  return sql.replace(/\/\*(\w+) (.*?)\*\//g, (_, store: string, words: string) => (store === kind ? words : ""));
}

/** Number of the lock by which processes that start at once take turns. */
const ADVISORY_LOCK = 7_316_548_201;

/** Locks PostgreSQL. SQLite needs no lock, because BEGIN IMMEDIATE keeps others out. */
async function guard(kind: Db["kind"], tx: Queryable): Promise<void> {
  if (kind === "postgres") await tx.query("SELECT 1 AS held FROM pg_advisory_xact_lock($1)", [ADVISORY_LOCK]);
}

/** Applies migrations that no other process has applied meanwhile, and returns their names. */
async function applyAll(tx: Queryable, migrations: readonly Migration[]): Promise<readonly string[]> {
  await tx.query(
    "CREATE TABLE IF NOT EXISTS schema_migrations (name TEXT NOT NULL PRIMARY KEY, applied_at BIGINT NOT NULL)",
  );
  const known = await tx.query("SELECT name FROM schema_migrations");
  const missing = migrations.filter(({ name }) => !known.some((row) => row.name === name));
  const statements: Statement[] = missing.flatMap(({ name, sql }) => [
    ...splitStatements(sql).map((text) => ({ sql: text })),
    { sql: "INSERT INTO schema_migrations (name, applied_at) VALUES ($1, $2)", params: [name, Date.now()] },
  ]);
  // Sends all statements without waiting, because a new database has hundreds.
  await Promise.all(statements.map(({ sql, params }) => tx.query(sql, params)));
  return missing.map(({ name }) => name);
}

/** The moment at which the database was made. */
export async function madeAtMs(db: Pick<Db, "query">): Promise<number> {
  const [row] = await db.query("SELECT MIN(applied_at) AS made_at FROM schema_migrations");
  return Number(row?.made_at ?? 0);
}
