// What is particular to SQLite: one serving process per file, group commit, durability settings, unusable files.

import { type ChildProcess, spawn } from "node:child_process";
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { StoreInUse, StoreUnavailable, StoreUnusable } from "../../src/core/store-errors.ts";
import { openDb } from "../../src/store/db.ts";

const folder = mkdtempSync(join(tmpdir(), "switchyard-sqlite-"));
const worker = fileURLToPath(new URL("../../src/store/sqlite/worker.mjs", import.meta.url));

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Another process that opens the file as a server would; resolves with what its store said. */
function openElsewhere(path: string): Promise<{ child: ChildProcess; answer: string }> {
  const script = `
    const { Worker } = require("node:worker_threads");
    const workerData = { path: ${JSON.stringify(path)}, lockPath: ${JSON.stringify(`${path}.lock`)}, busyTimeoutMs: 1000 };
    new Worker(${JSON.stringify(worker)}, { workerData }).on("message", (m) => console.log(JSON.stringify(m[0])));`;
  const child = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "inherit"] });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.stdout.once("data", (chunk: Buffer) => resolve({ child, answer: chunk.toString() }));
  });
}

function end(child: ChildProcess): Promise<unknown> {
  const ended = new Promise((resolve) => child.once("exit", resolve));
  if (child.exitCode !== null || !child.kill("SIGKILL")) return Promise.resolve();
  return ended;
}

test("a lock file that an earlier version left readable is closed to others", async () => {
  const path = join(folder, "readable.db");
  writeFileSync(`${path}.lock`, "", { mode: 0o644 });
  const db = await openDb(`sqlite:${path}`, { exclusive: true });
  expect(statSync(`${path}.lock`).mode & 0o777).toBe(0o600);
  await db.close();
});

test("a new file and those beside it are for nobody else's eyes, in a folder that others may read", async () => {
  const open = join(folder, "open");
  mkdirSync(open, { mode: 0o755 });
  const db = await openDb(`sqlite:${join(open, "own.db")}`, { exclusive: true });
  await db.migrate();
  const modes = () => readdirSync(open).map((name) => [name, statSync(join(open, name)).mode & 0o777]);
  // The witness is written after the answer to the commit.
  await expect.poll(modes).toEqual([
    ["own.db", 0o600],
    ["own.db-shm", 0o600],
    ["own.db-wal", 0o600],
    ["own.db.lock", 0o600],
    ["own.db.lock-journal", 0o600],
    ["own.db.witness", 0o600],
  ]);
  await db.close();
});

describe("one serving process per file", () => {
  test("a second process is refused while this one serves, and let in afterwards", async () => {
    const path = join(folder, "mine.db");
    const db = await openDb(`sqlite:${path}`, { exclusive: true });
    const refused = await openElsewhere(path);
    expect(refused.answer).toContain('"isInUse":true');
    await end(refused.child);
    await db.close();
    const served = await openElsewhere(path);
    expect(JSON.parse(served.answer)).toEqual({ id: 0 });
    await end(served.child);
  });

  test("this process is refused while another serves; commands still read and write; the lock dies with its owner", async () => {
    const path = join(folder, "theirs.db");
    const { child, answer } = await openElsewhere(path);
    expect(JSON.parse(answer)).toEqual({ id: 0 });
    await expect(openDb(`sqlite:${path}`, { exclusive: true })).rejects.toBeInstanceOf(StoreInUse);
    await expect(openDb(`sqlite:${path}`, { exclusive: true })).rejects.toThrow(path);
    const command = await openDb(`sqlite:${path}`);
    await command.migrate();
    expect(await command.query("SELECT value FROM revisions")).toHaveLength(1);
    await command.close();
    await end(child);
    const db = await openDb(`sqlite:${path}`, { exclusive: true });
    await db.close();
  });

  test("a symbolic link leads to the same lock and the same log", async () => {
    const path = join(folder, "real.db");
    const link = join(folder, "links", "elsewhere.db");
    mkdirSync(join(folder, "links"));
    symlinkSync(path, link);
    const { child, answer } = await openElsewhere(path);
    expect(JSON.parse(answer)).toEqual({ id: 0 });
    await expect(openDb(`sqlite:${link}`, { exclusive: true })).rejects.toBeInstanceOf(StoreInUse);
    const command = await openDb(`sqlite:${link}`);
    await command.migrate();
    await command.close();
    await end(child);
    const db = await openDb(`sqlite:${link}`, { exclusive: true });
    expect(await db.query("SELECT value FROM revisions")).toHaveLength(1);
    await db.close();
    expect(readdirSync(join(folder, "links"))).toEqual(["elsewhere.db"]);
  });

  test("a file with a second name is refused under both, by servers and commands", async () => {
    const path = join(folder, "one-name.db");
    const other = join(folder, "other-name.db");
    const serving = await openDb(`sqlite:${path}`, { exclusive: true });
    linkSync(path, other);
    for (const [name, exclusive] of [
      [other, true],
      [other, false],
      [path, false],
    ] as const) {
      const refused = await openDb(`sqlite:${name}`, { exclusive }).catch((error: Error) => error);
      expect(refused).toBeInstanceOf(StoreUnusable);
      expect((refused as StoreUnusable).advice).toContain(`${name} has 2 names (hard links)`);
    }
    rmSync(other);
    const command = await openDb(`sqlite:${path}`);
    await Promise.all([command.close(), serving.close()]);
    expect(readdirSync(folder).filter((name) => name.startsWith("other-name"))).toEqual([]);
  });

  test("the lock holds within one process too", async () => {
    const url = `sqlite:${join(folder, "twice.db")}`;
    const db = await openDb(url, { exclusive: true });
    await expect(openDb(url, { exclusive: true })).rejects.toBeInstanceOf(StoreInUse);
    await db.close();
  });
});

/** The locks that the kernel knows of a file. */
function locksOn(path: string): readonly string[] {
  const inode = new RegExp(`:${statSync(path).ino} `);
  return readFileSync("/proc/locks", "utf8")
    .split("\n")
    .filter((line) => inode.test(line));
}

describe("durability", () => {
  // Without it another program that closes the file would take itself for the last one, and delete the log.
  test.skipIf(!existsSync("/proc/locks"))("SQLite's own lock survives a second connection", async () => {
    const path = join(folder, "beside.db");
    const db = await openDb(`sqlite:${path}`, { exclusive: true });
    await db.query("CREATE TABLE kept (id BIGINT)");
    expect(locksOn(path)).toHaveLength(1);
    const reader = await openDb(`sqlite:${path}`);
    expect(locksOn(path)).toHaveLength(1);
    await expect(openDb(`sqlite:${path}`, { exclusive: true })).rejects.toBeInstanceOf(StoreInUse);
    expect([locksOn(path).length, locksOn(`${path}.lock`).length]).toEqual([1, 1]);
    await Promise.all([reader.close(), db.close()]);
  });

  test("the file is in WAL mode, synced by us, with foreign keys enforced", async () => {
    const db = await openDb(`sqlite:${join(folder, "settings.db")}`);
    const read = async (name: string) => Object.values((await db.query(`PRAGMA ${name}`))[0]!)[0];
    expect(await read("journal_mode")).toBe("wal");
    // The log is synced before anybody hears of a commit: test/fault/store/log-sync.test.ts.
    expect(await read("synchronous")).toBe(1);
    expect(await read("foreign_keys")).toBe(1);
    await db.close();
  });

  test("what was committed is there after opening again", async () => {
    const url = `sqlite:${join(folder, "deep", "er", "kept.db")}`;
    const first = await openDb(url);
    await first.query("CREATE TABLE kept (id BIGINT)");
    await Promise.all(Array.from({ length: 200 }, (_, id) => first.query("INSERT INTO kept VALUES ($1)", [id])));
    await first.close();
    const second = await openDb(url);
    expect((await second.query("SELECT COUNT(*) AS n FROM kept"))[0]!.n).toBe(200);
    await second.close();
  });

  test("batches that wait together share commits", async () => {
    const db = await openDb(`sqlite:${join(folder, "group.db")}`);
    const watcher = await openDb(`sqlite:${join(folder, "group.db")}`);
    await db.query("CREATE TABLE kept (id BIGINT)");
    const dataVersion = async () => Number((await watcher.query("PRAGMA data_version"))[0]!.data_version);
    const before = await dataVersion();
    let commitsSeen = 0;
    let isDone = false;
    const writes = Promise.all(
      Array.from({ length: 2_000 }, (_, id) => db.batch([{ sql: "INSERT INTO kept VALUES ($1)", params: [id] }])),
    ).then(() => {
      isDone = true;
    });
    for (let last = before; !isDone; ) {
      const version = await dataVersion();
      if (version !== last) commitsSeen += 1;
      last = version;
    }
    await writes;
    expect(commitsSeen).toBeLessThan(500);
    expect((await db.query("SELECT COUNT(*) AS n FROM kept"))[0]!.n).toBe(2_000);
    await Promise.all([db.close(), watcher.close()]);
  });
});

describe("files that cannot serve", () => {
  test("a file that is no database, and a folder that cannot be made, are unavailable", async () => {
    const path = join(folder, "text.db");
    writeFileSync(path, "this is a letter, not a database, and it is long enough to have a header\n".repeat(20));
    await expect(openDb(`sqlite:${path}`)).rejects.toBeInstanceOf(StoreUnavailable);
    const below = openDb(`sqlite:${join(path, "below", "x.db")}`);
    await expect(below).rejects.toBeInstanceOf(StoreUnavailable);
    await expect(below).rejects.toHaveProperty("advice", expect.stringMatching(/text\.db.*set SWITCHYARD_DATA/));
  });

  test("a writer that waits too long for another is told so", async () => {
    const url = `sqlite:${join(folder, "busy.db")}`;
    const holder = await openDb(url);
    const waiter = await openDb(url, { busyTimeoutMs: 50 });
    await holder.query("CREATE TABLE kept (id BIGINT)");
    await holder.transaction(async (tx) => {
      await tx.query("INSERT INTO kept VALUES (1)");
      await expect(waiter.query("INSERT INTO kept VALUES (2)")).rejects.toBeInstanceOf(StoreUnavailable);
    });
    await waiter.query("INSERT INTO kept VALUES (3)");
    await Promise.all([holder.close(), waiter.close()]);
  });

  test("an address of no known kind is refused", async () => {
    await expect(openDb("mysql://localhost/x")).rejects.toThrow(/sqlite: or postgres:/);
  });
});

test("closing takes back a transaction that nobody ends any more", async () => {
  const path = `sqlite:${join(folder, "left-open.db")}`;
  const db = await openDb(path);
  await db.query("CREATE TABLE notes (text TEXT)");
  let goOn = (): void => {};
  const closed = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  let left: Promise<void> = Promise.resolve();
  await new Promise<void>((begun) => {
    left = db.transaction(async (tx) => {
      await tx.query("INSERT INTO notes (text) VALUES ('never kept')");
      begun();
      await closed;
    });
  });
  await db.close();
  goOn();
  await expect(left).rejects.toBeInstanceOf(StoreUnavailable);
  const again = await openDb(path);
  expect(await again.query("SELECT text FROM notes")).toEqual([]);
  await again.close();
});
