// Stored contents of a SQLite file: rows of an earlier version move into a file of their own, each once however often the
// move is broken off; a backup has them in one file; and a charge agrees with the answer that is kept for it.

import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, expect, test } from "vitest";
import type { Db, SqlRow } from "../../src/core/db.ts";
import type { StoredResponse } from "../../src/core/responses/stored.ts";
import { backupSqlite, restoreSqlite } from "../../src/store/backup/sqlite.ts";
import { createBatchStore } from "../../src/store/batches/batches.ts";
import { createFileStore } from "../../src/store/batches/files.ts";
import { openDb } from "../../src/store/db.ts";
import { createIdempotencyStore } from "../../src/store/ledger/idempotency.ts";
import { createCacheStore } from "../../src/store/responses/caches.ts";
import { createCompletionStore, createMark } from "../../src/store/responses/completions.ts";
import { createSealedContent } from "../../src/store/responses/content.ts";
import { createConversationStore } from "../../src/store/responses/conversations.ts";
import { createResponseStore } from "../../src/store/responses/responses.ts";
import { createResponseUpkeepStore } from "../../src/store/responses/upkeep.ts";
import { createSealer } from "../../src/store/secret/seal.ts";
import { openPartThreads } from "../../src/store/sqlite/part-files.ts";
import { tablesOf } from "../../src/store/sqlite/part-tables.ts";
import { sqliteOver } from "../../src/store/sqlite/sqlite.ts";
import { keptAnswersOf } from "../support/stores/idempotency.ts";

const root = mkdtempSync(join(tmpdir(), "switchyard-contents-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let folder: string;
let file: string;
let url: string;
beforeEach(() => {
  folder = mkdtempSync(join(root, "with # and %20 "));
  file = join(folder, "switchyard.db");
  url = `sqlite:${file}`;
});

const TABLES = tablesOf("contents");
const CHAT = { accountId: "ada", id: "conv_1" };

function storesOn(db: Db, owner = "me") {
  const sealed = createSealedContent(createSealer(Buffer.from("a secret for tests only"), "responses"), {
    onUnreadable: () => undefined,
  });
  return {
    responses: createResponseStore(db, sealed, owner),
    conversations: createConversationStore(db, sealed),
    caches: createCacheStore(db, sealed, () => 2),
    completions: createCompletionStore(db, sealed, createMark(Buffer.from("a secret for tests only"))),
  };
}

const COMPLETION = {
  ...{ accountId: "ada", id: "chatcmpl-1", model: "alpha", createdAtMs: 1, metadata: { a: "b" } },
  completion: { id: "chatcmpl-1" },
};
const item = (id: string) => ({ type: "message", id, role: "user", content: "text" });

function response(n: number, more: Partial<StoredResponse> = {}): StoredResponse {
  const id = `resp_${n}`;
  const content = { input: [item(`in_${n}`)], response: { id, output: [item(`out_${n}`)] }, events: null };
  const parentId = n === 0 ? null : `resp_${n - 1}`;
  return { accountId: "ada", id, parentId, status: "completed", isBackground: false, createdAtMs: n, content, ...more };
}

async function* pieces(): AsyncGenerator<Buffer> {
  yield Buffer.from("x");
}

/** As an earlier version wrote: everything in one file. More rows than one commit of the move has. */
async function writeOldFile(): Promise<Db> {
  const db = await openDb(url);
  await db.migrate();
  const { responses, conversations, completions, caches } = storesOn(db);
  for (let n = 0; n < 60; n += 1) await responses.insert(response(n), null);
  await conversations.create({ ...CHAT, metadata: {}, createdAtMs: 1 }, [item("msg_0"), item("msg_1")]);
  for (let first = 2; first < 1_202; first += 100)
    await conversations.append(
      CHAT,
      Array.from({ length: 100 }, (_, n) => item(`msg_${first + n}`)),
      1e9,
    );
  await completions.insert(COMPLETION, []);
  const cacheTimes = { createdAtMs: 1, updatedAtMs: 1, expiresAtMs: Number.MAX_SAFE_INTEGER };
  await caches.insert({ accountId: "ada", id: "sw1", model: "m", displayName: null, tokens: 1, ...cacheTimes }, {});
  await keptAnswersOf(db).keep("request", "an answer");
  const file = {
    purpose: "batch",
    name: "f",
    mimeType: null,
    bytes: 1,
    createdAtMs: 1,
    expiresAtMs: Number.MAX_SAFE_INTEGER,
  } as const;
  const files = createFileStore(db, createSealer(Buffer.from("a secret for tests only"), "files"));
  const batches = createBatchStore(db, createSealer(Buffer.from("a secret for tests only"), "batches"));
  const batch = { accountId: "ada", id: "b" };
  const content = { endpoint: "", inputFileId: null, metadata: null, errors: [] };
  const times = { createdAtMs: 1, expiresAtMs: 1, deletedAtMs: Number.MAX_SAFE_INTEGER };
  await batches.begin({ ...batch, ...times, api: "openai", keyId: "k", content, maxCost: null });
  await batches.addLines(batch, 0, [{ customId: "1", body: "{}" }]);
  await files.create({ accountId: "ada", id: "f", ...file }, pieces(), { bytes: 9, files: 9 });
  const upload = { account_id: "ada", created_at: 1, expires_at: Number.MAX_SAFE_INTEGER };
  await insert(db, "uploads", { ...upload, id: "u", file_id: "f", status: "pending", kept_ms: 1 });
  await insert(db, "upload_parts", { account_id: "ada", upload_id: "u", id: "p", place: 0, bytes: 1, is_ready: 1 });
  const native = { account_id: "ada", id: "n", batch_id: "b", provider: "lab", remote_id: "r" };
  await insert(db, "native_batches", { ...native, created_at: 1, poll_at: Number.MAX_SAFE_INTEGER });
  return db;
}

async function countsOf(db: Db): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {};
  for (const table of TABLES) {
    const [row] = await db.query(`SELECT COUNT(*) AS rows FROM ${table}`);
    counts[table] = Number(row?.rows);
  }
  return counts;
}

const COUNTS = {
  responses: 60,
  response_items: 120,
  conversations: 1,
  conversation_items: 1_202,
  chat_completions: 1,
  cached_prompts: 1,
  idempotent_answers: 1,
  files: 1,
  file_parts: 1,
  batches: 1,
  batch_lines: 1,
  native_batches: 1,
  uploads: 1,
  upload_parts: 1,
};
const NONE = Object.fromEntries(TABLES.map((table) => [table, 0]));

/** What the process that serves was told about its contents. */
interface Told {
  readonly moving: string[];
  readonly failed: string[];
  readonly aside: string[];
}

/** As the process that serves opens the contents. */
async function served<T>(db: Db, work: (contents: Db, told: Told) => Promise<T>): Promise<T> {
  const told: Told = { moving: [], failed: [], aside: [] };
  const threads = await openPartThreads(file, db, {
    onMoving: (part, table) => part === "contents" && told.moving.push(table),
    onMoveFailed: (_, table) => told.failed.push(table),
    onSetAside: (_, name) => told.aside.push(name),
  });
  const [contents, ...others] = [threads.contents, threads.reader, threads.log].map((thread) => sqliteOver(thread));
  try {
    return await work(contents as Db, told);
  } finally {
    for (const each of [...others, contents]) await each?.close();
  }
}

async function copyBack(from: Db, to: Db, table: string): Promise<void> {
  for (const row of await from.query(`SELECT * FROM ${table}`)) await insert(to, table, row);
}

async function insert(db: Db, table: string, row: SqlRow): Promise<void> {
  const places = Object.keys(row).map((_, at) => `$${at + 1}`);
  await db.query(
    `INSERT INTO ${table} (${Object.keys(row).join(", ")}) VALUES (${places.join(", ")})`,
    Object.values(row),
  );
}

async function newestItems(contents: Db, limit: number): Promise<readonly unknown[]> {
  const query = { after: null, isNewestFirst: true, limit };
  return ((await storesOn(contents).conversations.list(CHAT, query)) ?? []).map(({ id }) => id);
}

test("rows of an earlier version move, and go on in their file", async () => {
  const db = await writeOldFile();
  expect(await countsOf(db)).toEqual(COUNTS);
  await served(db, async (contents, told) => {
    expect(told).toEqual({ moving: TABLES, failed: [], aside: [] });
    expect(await countsOf(contents)).toEqual(COUNTS);
    expect(await countsOf(db)).toEqual(NONE);
    const { responses, conversations } = storesOn(contents);
    const chain = [];
    for await (const items of responses.chain(
      { accountId: "ada", id: "resp_59" },
      { max: 100, check: () => undefined },
    ))
      chain.push(items?.length);
    expect(chain).toEqual(Array.from({ length: 60 }, () => 2));
    expect(await conversations.append(CHAT, [item("new")], 1e9)).toBe("added");
    expect(await newestItems(contents, 2)).toEqual(["new", "msg_1201"]);
  });
  expect(statSync(join(folder, "switchyard-contents.db")).mode & 0o777).toBe(0o600);
  await served(db, async (contents, told) => {
    expect(told.moving).toEqual([]);
    expect(await countsOf(contents)).toMatchObject({ ...COUNTS, conversation_items: 1_203 });
  });
  await db.close();
});

test("a move that is killed between copy and deletion goes on at the next start", async () => {
  const db = await writeOldFile();
  await served(db, async (contents) => {
    for (const table of ["responses", "conversation_items", "idempotent_answers"]) await copyBack(contents, db, table);
  });
  await served(db, async (contents) => {
    expect(await countsOf(contents)).toEqual(COUNTS);
    expect(await countsOf(db)).toEqual(NONE);
  });
  await db.close();
});

test.each(["the earlier version", "this version"])(
  "after a move that was broken off, what %s wrote is kept",
  async (writer) => {
    const db = await writeOldFile();
    const running = { status: "in_progress" } as const;
    await storesOn(db).responses.insert(response(100, running), null);
    await served(db, async (contents) => {
      for (const table of ["responses", "conversations", "conversation_items"]) await copyBack(contents, db, table);
      const { responses, conversations } = storesOn(writer === "this version" ? contents : db);
      expect(await responses.finish(response(100), null)).toBe(true);
      await conversations.append(CHAT, [item("late")], 1e9);
    });
    await served(db, async (contents) => {
      expect(await countsOf(db)).toEqual(NONE);
      const { responses, conversations } = storesOn(contents);
      expect(await responses.find({ accountId: "ada", id: "resp_100" })).toMatchObject({ status: "completed" });
      expect(await conversations.append(CHAT, [item("later")], 1e9)).toBe("added");
      expect(await newestItems(contents, 3)).toEqual(["later", "late", "msg_1201"]);
    });
    await db.close();
  },
);

test("what an earlier version wrote in between is added", async () => {
  const db = await writeOldFile();
  await served(db, async () => undefined);
  await storesOn(db).responses.insert(response(60), null);
  await served(db, async (contents) => {
    expect(await countsOf(contents)).toEqual({ ...COUNTS, responses: 61, response_items: 122 });
  });
  await db.close();
});

test("a backup has the contents in it, and a restore brings them back", async () => {
  const db = await writeOldFile();
  const check = async (): Promise<void> => undefined;
  await served(db, async () => undefined);
  await storesOn(db).responses.insert(response(60), null);
  const backup = join(folder, "copy.backup");
  const counts = { ...COUNTS, responses: 61, response_items: 122 };
  expect(await backupSqlite(url, backup, check)).toMatchObject(counts);
  await expect(backupSqlite(url, join(folder, "switchyard-contents.db"), check)).rejects.toThrow("same file");
  await db.close();
  await restoreSqlite({ database: url, backup, stamp: "then", finish: check });
  expect(existsSync(join(folder, "switchyard-contents.db"))).toBe(false);
  expect(existsSync(join(folder, "switchyard-contents.db.replaced-then"))).toBe(true);
  const restored = await openDb(url);
  await served(restored, async (contents) => expect(await countsOf(contents)).toEqual(counts));
  await restored.close();
});

test("a file that is gone or damaged takes only the contents along", async () => {
  const db = await writeOldFile();
  await served(db, async () => undefined);
  const path = join(folder, "switchyard-contents.db");
  for (const ending of ["-wal", "-shm"]) rmSync(`${path}${ending}`, { force: true });
  writeFileSync(path, "no database at all".repeat(1_000));
  await expect(backupSqlite(url, join(folder, "b.backup"), async () => undefined)).rejects.toThrow(
    /file of stored contents .*switchyard-contents\.db is damaged\. Move it away/,
  );
  await served(db, async (contents, told) => {
    expect(await countsOf(contents)).toEqual(NONE);
    expect(told.aside).toHaveLength(1);
  });
  expect(readdirSync(folder).filter((name) => name.startsWith("switchyard-contents.db.replaced-"))).toHaveLength(1);
  await db.close();
});

test.each(["log", "contents"])(
  "a folder at the place of the file of the %s stops the start and is left alone",
  async (part) => {
    const db = await openDb(url);
    await db.migrate();
    const path = join(folder, `switchyard-${part}.db`);
    mkdirSync(path);
    await expect(served(db, async () => undefined)).rejects.toMatchObject({
      advice: expect.stringContaining(`${path} is not a file`),
    });
    expect(statSync(path).isDirectory()).toBe(true);
    await db.close();
  },
);

test("the log at the place of the contents is refused", async () => {
  const db = await openDb(url);
  await db.migrate();
  await served(db, async () => undefined);
  copyFileSync(join(folder, "switchyard-log.db"), join(folder, "switchyard-contents.db"));
  for (const ending of ["-wal", "-shm"]) rmSync(join(folder, `switchyard-contents.db${ending}`), { force: true });
  await expect(served(db, async () => undefined)).rejects.toMatchObject({
    advice: expect.stringContaining("another database"),
  });
  await db.close();
});

test("a running response fails when its process is in the ledger's file no more", async () => {
  const db = await openDb(url);
  await db.migrate();
  await db.query("INSERT INTO processes (id, seen_at) VALUES ('alive', 1)");
  await served(db, async (contents) => {
    const running = { status: "in_progress" } as const;
    await storesOn(contents, "alive").responses.insert(response(1, running), null);
    await storesOn(contents, "dead").responses.insert(response(2, running), null);
    expect(await createResponseUpkeepStore(contents, "me", { processes: db }).failAbandoned()).toBe(1);
    const { responses } = storesOn(contents);
    expect(await responses.find({ accountId: "ada", id: "resp_1" })).toMatchObject({ status: "in_progress" });
    expect(await responses.find({ accountId: "ada", id: "resp_2" })).toMatchObject({ status: "failed" });
  });
  await db.close();
});

test("an answer whose charge was never written is no answer: its process died in between", async () => {
  const db = await openDb(url);
  await db.migrate();
  await served(db, async (contents) => {
    const storeOf = (owner: string) => createIdempotencyStore(db, keptAnswersOf(db, contents), owner);
    const died = storeOf("died");
    expect(await died.begin("request", "body")).toEqual({ state: "new" });
    await died.keep({ idempotencyId: "request", contentType: "text/plain", text: "an answer" });
    const next = storeOf("next");
    await next.sweep(60_000, 60_000);
    expect(await next.begin("request", "body")).toEqual({ state: "new" });
    // It stays until its time is over, which nobody notices.
    await next.sweepAnswers(60_000);
    expect(await contents.query("SELECT COUNT(*) AS rows FROM idempotent_answers")).toEqual([{ rows: 1 }]);
    await next.sweepAnswers(0);
    expect(await contents.query("SELECT COUNT(*) AS rows FROM idempotent_answers")).toEqual([{ rows: 0 }]);
  });
  await db.close();
});
