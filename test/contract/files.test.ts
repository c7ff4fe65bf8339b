// Files on every store: what is kept, for whom, for how long, and that it is sealed.

import { afterAll, beforeAll, expect, test } from "vitest";
import type { FileStore, StoredFile } from "../../src/core/batches/files.ts";
import type { Db } from "../../src/core/db.ts";
import { createFileStore } from "../../src/store/batches/files.ts";
import { openDb } from "../../src/store/db.ts";
import { createSealer } from "../../src/store/secret/seal.ts";
import { describeStores } from "../support/stores/stores.ts";

const SECRET = Buffer.from("a secret for tests only");
const ROOM = { bytes: 2 * 1024 * 1024, files: 3 };
const FAR = Date.now() + 10 * 365 * 86_400_000;

function file(accountId: string, id: string, bytes: Buffer, more: Partial<StoredFile> = {}): StoredFile {
  const fields = {
    purpose: "batch",
    name: `${id}.jsonl`,
    mimeType: null,
    createdAtMs: 1_000,
    expiresAtMs: FAR,
  } as const;
  return { accountId, id, bytes: bytes.length, ...fields, ...more };
}

async function* pieces(bytes: Buffer, size = 100_001): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const BYTES = Buffer.from(Array.from({ length: 700_000 }, (_, at) => (at * 7) % 256));

await describeStores("files", ({ url }) => {
  let db: Db;
  let files: FileStore;
  beforeAll(async () => {
    db = await openDb(url);
    await db.migrate();
    files = createFileStore(db, createSealer(SECRET, "files"));
  });
  afterAll(() => db.close());

  const read = async (accountId: string, id: string): Promise<Buffer> => {
    const parts: Buffer[] = [];
    for await (const part of files.read({ accountId, id })) parts.push(part);
    return Buffer.concat(parts);
  };

  test("every byte comes back, and none of it lies there in plain", async () => {
    const stored = file("ada", "a1", BYTES, { name: "caf\u00e9 \ud800.jsonl" });
    expect(await files.create(stored, pieces(BYTES), ROOM)).toBe("stored");
    expect((await read("ada", "a1")).equals(BYTES)).toBe(true);
    expect(await files.find({ accountId: "ada", id: "a1" })).toEqual({ ...stored, name: "caf\u00e9 \ufffd.jsonl" });
    const rows = await db.query("SELECT content FROM files WHERE id = 'a1'");
    expect(JSON.stringify(rows)).not.toContain("caf");
  });

  test("an empty file has no bytes", async () => {
    expect(await files.create(file("eve", "e0", Buffer.alloc(0)), pieces(Buffer.alloc(0)), ROOM)).toBe("stored");
    expect(await read("eve", "e0")).toHaveLength(0);
  });

  test("a file that is deleted while or before it is read is no shorter one", async () => {
    await files.create(file("eve", "e1", BYTES), pieces(BYTES), ROOM);
    const reading = files.read({ accountId: "eve", id: "e1" })[Symbol.asyncIterator]();
    expect((await reading.next()).done).toBe(false);
    await files.remove({ accountId: "eve", id: "e1" });
    await expect(reading.next()).rejects.toThrow("deleted");
    await expect(read("eve", "e1")).rejects.toThrow("deleted");
  });

  test("another account finds, lists and deletes nothing", async () => {
    const other = { accountId: "bob", id: "a1" };
    expect(await files.find(other)).toBeNull();
    expect(await files.list("bob", { purpose: null, after: null, isNewestFirst: true, limit: 9 })).toEqual([]);
    expect(await files.list("bob", { purpose: null, after: "a1", isNewestFirst: true, limit: 9 })).toBeNull();
    expect(await files.remove(other)).toBe(false);
    await expect(read("bob", "a1")).rejects.toThrow("deleted");
    expect(await files.find({ ...other, accountId: "ada" })).not.toBeNull();
  });

  test("pages follow one another in both orders, of one purpose or all", async () => {
    const tiny = Buffer.from("x");
    await files.create(file("pam", "p1", tiny, { createdAtMs: 1 }), pieces(tiny), ROOM);
    await files.create(file("pam", "p2", tiny, { createdAtMs: 2, purpose: "user_data" }), pieces(tiny), ROOM);
    await files.create(file("pam", "p3", tiny, { createdAtMs: 2 }), pieces(tiny), ROOM);
    const ids = async (page: object) =>
      (await files.list("pam", { purpose: null, after: null, isNewestFirst: true, limit: 9, ...page }))?.map(
        ({ id }) => id,
      );
    expect(await ids({})).toEqual(["p3", "p2", "p1"]);
    expect(await ids({ limit: 1, after: "p3" })).toEqual(["p2"]);
    expect(await ids({ isNewestFirst: false, after: "p1" })).toEqual(["p2", "p3"]);
    expect(await ids({ purpose: "batch" })).toEqual(["p3", "p1"]);
    expect(await ids({ purpose: "batch", after: "p3" })).toEqual(["p1"]);
  });

  test("an account that is full gets no more, and nothing of it stays", async () => {
    const before = await db.query("SELECT COUNT(*) AS n FROM file_parts");
    expect(await files.create(file("pam", "p4", BYTES), pieces(BYTES), ROOM)).toBe("full");
    const small = { bytes: BYTES.length - 1, files: 9 };
    expect(await files.create(file("zoe", "z1", BYTES), pieces(BYTES), small)).toBe("full");
    expect(await files.find({ accountId: "zoe", id: "z1" })).toBeNull();
    expect(await db.query("SELECT COUNT(*) AS n FROM file_parts")).toEqual(before);
    expect(await files.create(file("zoe", "z1", BYTES), pieces(BYTES), ROOM)).toBe("stored");
  });

  test("an upload that breaks off leaves nothing", async () => {
    async function* broken() {
      yield BYTES;
      throw new Error("gone");
    }
    await expect(files.create(file("tom", "t1", BYTES), broken(), ROOM)).rejects.toThrow("gone");
    expect(await db.query("SELECT id FROM files WHERE account_id = 'tom'")).toEqual([]);
    expect(await db.query("SELECT position FROM file_parts WHERE account_id = 'tom'")).toEqual([]);
  });

  test("what has expired is hidden at once and deleted later, and so is what a dead process left", async () => {
    const over = file("max", "m1", BYTES, { expiresAtMs: 5_000 });
    await files.create(over, pieces(BYTES), ROOM);
    await db.query(
      `INSERT INTO files (account_id, id, purpose, state, content, bytes, created_at, expires_at)
       VALUES ('max', 'm2', 'batch', 'writing', '', 1, 1000, $1)`,
      [FAR],
    );
    expect(await files.find(over)).toBeNull();
    expect(await files.list("max", { purpose: null, after: null, isNewestFirst: true, limit: 9 })).toEqual([]);
    expect(await files.deleteExpired(Date.now(), 100)).toBe(2);
    expect(await db.query("SELECT id FROM files WHERE account_id = 'max'")).toEqual([]);
    expect(await db.query("SELECT position FROM file_parts WHERE account_id = 'max'")).toEqual([]);
    expect(await files.find({ accountId: "ada", id: "a1" })).not.toBeNull();
  });
});
