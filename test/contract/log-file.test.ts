// The request log of a SQLite file: rows of an earlier version move into a file of their own, exactly once however often
// the move is broken off, and a backup has both files in one.

import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, expect, test } from "vitest";
import type { Db, SqlRow } from "../../src/core/db.ts";
import type { RequestRecord } from "../../src/core/requests/records.ts";
import { backupSqlite } from "../../src/store/backup/sqlite.ts";
import { openDb, withLog } from "../../src/store/db.ts";
import { migrate, readMigrations, readPartMigrations, splitStatements } from "../../src/store/migrate.ts";
import { createRequestLog } from "../../src/store/requests/requests.ts";
import { createUsageLog } from "../../src/store/requests/rollups.ts";
import { copyPartInto, movesOf, openPartThreads } from "../../src/store/sqlite/part-files.ts";
import { takenFrom } from "../../src/store/sqlite/part-move.ts";
import { PARTS, tablesOf } from "../../src/store/sqlite/part-tables.ts";
import { sqliteOver } from "../../src/store/sqlite/sqlite.ts";
import { createRecordStore, NOON, variedRecord } from "../support/stores/records.ts";

const LOG_TABLES = tablesOf("log");
const root = mkdtempSync(join(tmpdir(), "switchyard-log-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let path: string;
let file: string;
let url: string;
beforeEach(() => {
  path = mkdtempSync(join(root, "with # and %20 "));
  file = join(path, "switchyard.db");
  url = `sqlite:${file}`;
});

const DAY_MS = 24 * 60 * 60 * 1000;
const RECORDS = Array.from({ length: 60 }, (_, n) => withText(variedRecord(n), n));

function withText(record: RequestRecord, n: number): RequestRecord {
  const content = { preview: "", request: "{}", prompt: `lorem${n} shared`, answer: "ipsum" };
  return { ...record, accountId: "default", content: { ...content, isRequestCut: false, isAnswerCut: false } };
}

const ALL_TIME = { fromMs: NOON - 90 * DAY_MS, toMs: NOON + 90 * DAY_MS, step: "day", group: "model" } as const;

/** As an earlier version wrote: everything in one file. */
async function writeOldFile(records: readonly RequestRecord[]): Promise<Db> {
  const db = await openDb(url);
  await db.migrate();
  await createRecordStore(db).write(records);
  const [marked] = records;
  await createRequestLog(db).mark("default", marked?.id ?? "", { tier: "COMPLEX", note: "n", atMs: 1 });
  return db;
}

/** Rows by table, and what the parts of the log say. */
async function summaryOf(log: Db) {
  const requests = createRequestLog(log);
  const counts: Record<string, number> = {};
  for (const table of LOG_TABLES) {
    const [row] = await log.query(`SELECT COUNT(*) AS rows FROM ${table}`);
    counts[table] = Number(row?.rows);
  }
  const filter = { accountId: "default" };
  return {
    counts,
    sums: await requests.sums(filter),
    list: await requests.list(filter, { limit: 100, after: null }),
    found: (await requests.list({ ...filter, words: "lorem7" }, { limit: 100, after: null })).map(({ id }) => id),
    marks: await requests.marks({ limit: 5, after: null }),
    usage: await createUsageLog(log).read({ ...filter, ...ALL_TIME }),
  };
}

async function insert(db: Db, table: string, row: SqlRow): Promise<void> {
  const places = Object.keys(row).map((_, at) => `$${at + 1}`);
  await db.query(
    `INSERT INTO ${table} (${Object.keys(row).join(", ")}) VALUES (${places.join(", ")})`,
    Object.values(row),
  );
}

async function rowsOf(db: Db, table: string): Promise<readonly SqlRow[]> {
  return db.query(`SELECT * FROM ${table}`);
}

/** What the log says where it never moved. */
async function inOneFile(records: readonly RequestRecord[]) {
  url = "sqlite::memory:";
  const db = await writeOldFile(records);
  const summary = await summaryOf(db);
  await db.close();
  return summary;
}

async function leftIn(db: Db): Promise<readonly string[]> {
  const left: string[] = [];
  for (const table of LOG_TABLES) {
    if ((await db.query(`SELECT 1 AS found FROM ${table} LIMIT 1`)).length > 0) left.push(table);
  }
  return left;
}

/** What the process that serves was told. */
interface Told {
  readonly moving: string[];
  readonly failed: string[];
  readonly aside: string[];
}

/** As the process that serves opens the log. */
async function served<T>(db: Db, work: (log: Db, reader: Db) => Promise<T>): Promise<T & { readonly told: Told }> {
  const told: Told = { moving: [], failed: [], aside: [] };
  const threads = await openPartThreads(file, db, {
    onMoving: (_, table) => told.moving.push(table),
    onMoveFailed: (_, table) => told.failed.push(table),
    onSetAside: (_, name) => told.aside.push(name),
  });
  const [log, reader, contents] = [threads.log, threads.reader, threads.contents].map((thread) =>
    sqliteOver(thread),
  ) as [Db, Db, Db];
  try {
    return { ...(await work(log, reader)), told };
  } finally {
    for (const each of [reader, log, contents]) await each.close();
  }
}

function withoutTold<T extends { readonly told: Told }>({ told, ...rest }: T): Omit<T, "told"> {
  return rest;
}

test("rows of an earlier version move, with totals, words and feedback", async () => {
  const db = await writeOldFile(RECORDS);
  const before = await summaryOf(db);
  expect(before.found).toHaveLength(1);
  const { told } = await served(db, async (log, reader) => {
    expect(await summaryOf(log)).toEqual(before);
    expect(await leftIn(db)).toEqual([]);
    expect(existsSync(join(path, "switchyard-log.db"))).toBe(true);
    // The reader finds the tables of both files, and the log goes on.
    await db.query("INSERT INTO accounts (id, name, created_at) VALUES ('a', 'A', 1)");
    await createRecordStore(log).write([withText(variedRecord(61), 61)]);
    expect(await reader.query("SELECT COUNT(*) AS n FROM requests JOIN accounts ON accounts.id = 'a'")).toEqual([
      { n: 61 },
    ]);
    const words = { accountId: "default", words: "shared" };
    expect(await createRequestLog(reader).list(words, { limit: 100, after: null })).toHaveLength(61);
    return {};
  });
  expect(told.moving).toContain("requests");
  expect([...told.failed, ...told.aside]).toEqual([]);
  await db.close();
});

test("an earlier version that runs in the middle of a move loses nothing", async () => {
  const db = await writeOldFile(RECORDS.slice(0, 40));
  const table = "request_key_days";
  // Killed after its totals were taken out of the table; then the earlier version went on.
  await db.batch([
    { sql: `CREATE TABLE ${takenFrom(table)} AS SELECT * FROM ${table}` },
    { sql: `DELETE FROM ${table}` },
  ]);
  await createRecordStore(db).write(RECORDS.slice(40));
  const both = await served(db, summaryOf);
  expect(await leftIn(db)).toEqual([]);
  expect(await db.query("SELECT name FROM sqlite_master WHERE name LIKE 'moving%'")).toEqual([]);
  await db.close();
  const { sums, list, usage, counts } = await inOneFile(RECORDS);
  expect(both).toMatchObject({ sums, list, usage });
  expect(both.counts[table]).toBe(counts[table]);
});

test("totals that were copied before a kill are not added again", async () => {
  const db = await writeOldFile(RECORDS);
  const before = await summaryOf(db);
  const table = "request_key_days";
  const rows = await rowsOf(db, table);
  await served(db, async (log) => {
    await log.query("INSERT INTO log_moves (name) VALUES ($1)", [table]);
    return {};
  });
  await db.query(`CREATE TABLE ${takenFrom(table)} AS SELECT * FROM ${table}`);
  for (const row of rows) await insert(db, takenFrom(table), row);
  expect(withoutTold(await served(db, summaryOf))).toEqual(before);
  expect(await rowsOf(db, table)).toEqual([]);
  await db.close();
});

test("records that were copied before a kill count once", async () => {
  const db = await writeOldFile(RECORDS);
  const before = await summaryOf(db);
  const rows = await rowsOf(db, "requests");
  await served(db, async () => ({}));
  for (const row of rows) await insert(db, "requests", row);
  expect(withoutTold(await served(db, summaryOf))).toEqual(before);
  await db.close();
});

test("what an earlier version wrote in between is added", async () => {
  const db = await writeOldFile(RECORDS.slice(0, 40));
  await served(db, async () => ({}));
  await createRecordStore(db).write(RECORDS.slice(40));
  const both = await served(db, summaryOf);
  await db.close();
  const { sums, list, usage } = await inOneFile(RECORDS);
  expect(both).toMatchObject({ sums, list, usage });
});

test("a command moves nothing: a gateway of an earlier version may be writing", async () => {
  const db = await writeOldFile(RECORDS);
  const before = await summaryOf(db);
  expect(await withLog(url, db, summaryOf)).toEqual(before);
  expect(await leftIn(db)).toContain("requests");
  await db.close();
});

test("an older database that has its own log takes the place of the log", async () => {
  const old = await writeOldFile(RECORDS);
  const before = await summaryOf(old);
  await old.close();
  copyFileSync(file, join(path, "kept.db"));
  const db = await openDb(url);
  await served(db, async () => ({}));
  await db.close();
  for (const ending of ["-wal", "-shm", ".witness"]) rmSync(`${file}${ending}`, { force: true });
  copyFileSync(join(path, "kept.db"), file);
  const back = await openDb(url);
  const { told, ...after } = await served(back, summaryOf);
  expect(after).toEqual(before);
  expect(told.aside).toHaveLength(1);
  await back.close();
});

test("a backup is one file with the log in it, also of a move that was broken off", async () => {
  const db = await writeOldFile(RECORDS);
  const before = await summaryOf(db);
  const target = join(path, "copy.backup");
  const check = async (copy: Db): Promise<void> => expect(await summaryOf(copy)).toEqual(before);
  await backupSqlite(url, join(path, "old.backup"), check);
  await served(db, async () => ({}));
  const rows = await backupSqlite(url, target, check);
  expect(rows).toMatchObject({ requests: 60, request_details: 60 });
  // Totals that are in both files count once.
  const table = "request_key_days";
  await withLog(url, db, (log) => log.query("INSERT INTO log_moves (name) VALUES ($1)", [table]));
  await db.query(`CREATE TABLE ${takenFrom(table)} AS SELECT * FROM ${table}`);
  await insert(db, takenFrom(table), { account_id: "default" });
  expect(await backupSqlite(url, target, check)).not.toHaveProperty(takenFrom(table));
  await expect(backupSqlite(url, join(path, "switchyard-log.db"), check)).rejects.toThrow("same file");
  await db.close();
});

test("a backup beside a gateway that moves its log is refused", async () => {
  const db = await writeOldFile(RECORDS);
  const log = join(path, "switchyard-log.db");
  const moves = await movesOf(log);
  const copy = join(path, "copy.db");
  await db.query("VACUUM INTO $1", [copy]);
  await served(db, async () => ({}));
  await expect(copyPartInto(copy, { path: log, part: "log", moves })).rejects.toThrow("Try again");
  await db.close();
});

test("a log file that is gone takes only the log along", async () => {
  const db = await writeOldFile(RECORDS);
  await served(db, async () => ({}));
  for (const ending of ["", "-wal", "-shm"]) rmSync(join(path, `switchyard-log.db${ending}`), { force: true });
  const { list } = await served(db, summaryOf);
  expect(list).toEqual([]);
  await db.close();
});

test("a log file that is damaged is set aside, and a backup names it", async () => {
  const db = await writeOldFile(RECORDS.slice(0, 1));
  await served(db, async () => ({}));
  const log = join(path, "switchyard-log.db");
  for (const ending of ["-wal", "-shm"]) rmSync(`${log}${ending}`, { force: true });
  writeFileSync(log, "no database at all".repeat(1_000));
  await expect(backupSqlite(url, join(path, "b.backup"), async () => undefined)).rejects.toThrow(
    /request log .*switchyard-log\.db is damaged\. Move it away/,
  );
  const { told, list } = await served(db, summaryOf);
  expect(list).toEqual([]);
  expect(readdirSync(path).filter((name) => name.startsWith("switchyard-log.db.replaced-"))).toHaveLength(1);
  expect(told.aside).toHaveLength(1);
  await db.close();
});

test("a table of the database that cannot be read stays, and the others move", async () => {
  const db = await writeOldFile(RECORDS);
  const [page] = await db.query("SELECT rootpage FROM sqlite_master WHERE name = 'request_details'");
  const [size] = await db.query("PRAGMA page_size");
  await db.query("PRAGMA wal_checkpoint(TRUNCATE)");
  await db.close();
  const bytes = Number(size?.page_size);
  const handle = openSync(file, "r+");
  writeSync(handle, Buffer.alloc(bytes, 0xee), 0, bytes, (Number(page?.rootpage) - 1) * bytes);
  closeSync(handle);
  const again = await openDb(url);
  const { told } = await served(again, async (log) => {
    expect(await log.query("SELECT COUNT(*) AS rows FROM requests")).toEqual([{ rows: 60 }]);
    return {};
  });
  expect(told.failed).toEqual(["request_details"]);
  await again.close();
});

test("a file of another kind at the place of the log is refused", async () => {
  const db = await writeOldFile([]);
  await db.close();
  copyFileSync(file, join(path, "switchyard-log.db"));
  const again = await openDb(url);
  await expect(served(again, async () => ({}))).rejects.toMatchObject({
    advice: expect.stringMatching("is another database"),
  });
  await again.close();
});

test.each(PARTS)("the file of the %s has its tables and no other", async (part) => {
  const db = await openDb("sqlite::memory:");
  await migrate(db, readPartMigrations("sqlite", part));
  const tables = await db.query("SELECT name FROM sqlite_master WHERE type = 'table'");
  const own = tables
    .map(({ name }) => String(name))
    .filter((name) => !/^(schema_migrations$|request_words)/.test(name));
  expect(own.sort()).toEqual([...tablesOf(part)].sort());
  await db.close();
});

test.each(PARTS)("a statement about a table of the %s is in its own file", (part) => {
  const kept = new Set(readPartMigrations("sqlite", part).flatMap(({ sql }) => splitStatements(sql)));
  const names = part === "log" ? [...tablesOf(part), "request_words"] : tablesOf(part);
  const tables = new RegExp(`\\b(${names.join("|")})\\b`);
  const others = readMigrations("sqlite").flatMap(({ sql }) => splitStatements(sql).filter((each) => !kept.has(each)));
  expect(others.length).toBeGreaterThan(0);
  expect(others.filter((statement) => tables.test(statement))).toEqual([]);
});
