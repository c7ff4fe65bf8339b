// The request log of a SQLite file: rows of an earlier version move into a file of their own, exactly once however often
// the move is broken off, and a backup has both files in one.

import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, expect, test } from "vitest";
import type { Db, SqlRow } from "../../src/core/db.ts";
import type { RequestRecord } from "../../src/core/requests/records.ts";
import { backupSqlite } from "../../src/store/backup/sqlite.ts";
import { openDb, withLog } from "../../src/store/db.ts";
import { createRequestLog } from "../../src/store/requests/requests.ts";
import { createUsageLog } from "../../src/store/requests/rollups.ts";
import { createRecordStore } from "../../src/store/requests/write.ts";
import { openLogThreads } from "../../src/store/sqlite/log-file.ts";
import { LOG_TABLES } from "../../src/store/sqlite/log-tables.ts";
import { sqliteOver } from "../../src/store/sqlite/sqlite.ts";
import { NOON, variedRecord } from "../support/stores/records.ts";

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

async function leftIn(db: Db): Promise<readonly string[]> {
  const left: string[] = [];
  for (const table of LOG_TABLES) {
    if ((await db.query(`SELECT 1 AS found FROM ${table} LIMIT 1`)).length > 0) left.push(table);
  }
  return left;
}

test("rows of an earlier version move, with totals, words and feedback", async () => {
  const db = await writeOldFile(RECORDS);
  const before = await summaryOf(db);
  expect(before.found).toHaveLength(1);
  const moving: string[] = [];
  const options = { busyTimeoutMs: 5_000, onMoving: (table: string) => moving.push(table) };
  const threads = await openLogThreads(file, db, options);
  const [log, reader] = [sqliteOver(threads.log), sqliteOver(threads.reader)];
  expect(await summaryOf(log)).toEqual(before);
  expect(moving).toContain("requests");
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
  for (const each of [reader, log, db]) await each.close();
});

test("a move that is broken off between the files is ended by the next start", async () => {
  const db = await writeOldFile(RECORDS);
  const before = await summaryOf(db);
  // Copied and noted, but not deleted: as a kill leaves it.
  const kept = await withLog(url, db, async (log) => {
    const tables = await Promise.all(
      LOG_TABLES.map(async (table) => ({ table, rows: await log.query(`SELECT * FROM ${table}`) })),
    );
    await log.batch(LOG_TABLES.map((table) => ({ sql: "INSERT INTO log_moves (name) VALUES ($1)", params: [table] })));
    return tables;
  });
  for (const { table, rows } of kept) for (const row of rows) await insert(db, table, row);
  expect(await leftIn(db)).not.toEqual([]);
  await withLog(url, db, async (log) => expect(await summaryOf(log)).toEqual(before));
  expect(await leftIn(db)).toEqual([]);
  await db.close();
});

test("what an earlier version wrote in between is added", async () => {
  const db = await writeOldFile(RECORDS.slice(0, 40));
  await withLog(url, db, async () => undefined);
  await createRecordStore(db).write(RECORDS.slice(40));
  const both = await withLog(url, db, summaryOf);
  await db.close();
  url = "sqlite::memory:";
  const whole = await writeOldFile(RECORDS);
  const { sums, list, usage } = await summaryOf(whole);
  expect(both).toMatchObject({ sums, list, usage });
  await whole.close();
});

test("a backup is one file with the log in it, also of a move that was broken off", async () => {
  const db = await writeOldFile(RECORDS);
  const before = await summaryOf(db);
  const target = join(path, "copy.backup");
  const check = async (copy: Db): Promise<void> => expect(await summaryOf(copy)).toEqual(before);
  await backupSqlite(url, join(path, "old.backup"), check);
  await withLog(url, db, async () => undefined);
  const rows = await backupSqlite(url, target, check);
  expect(rows).toMatchObject({ requests: 60, request_details: 60 });
  // Rows that are in both files count once.
  const [day] = await withLog(url, db, async (log) => {
    await log.query("INSERT INTO log_moves (name) VALUES ('request_key_days')");
    return log.query("SELECT * FROM request_key_days LIMIT 1");
  });
  await insert(db, "request_key_days", day ?? {});
  await backupSqlite(url, target, check);
  await db.close();
});

test("a log file that is gone takes only the log along", async () => {
  const db = await writeOldFile(RECORDS);
  await withLog(url, db, async () => undefined);
  for (const ending of ["", "-wal", "-shm"]) rmSync(join(path, `switchyard-log.db${ending}`), { force: true });
  const { list } = await withLog(url, db, summaryOf);
  expect(list).toEqual([]);
  await db.close();
});
