// PostgreSQL going away must cost answers, never the process, and coming back must need no restart.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Db } from "../../src/core/db.ts";
import { StoreUnavailable } from "../../src/core/store-errors.ts";
import { openDb } from "../../src/store/db.ts";
import { startTcpProxy, type TcpProxy } from "../support/network/tcp-proxy.ts";
import { createTestDatabase } from "../support/stores/postgres.ts";

const database = await createTestDatabase();

describe.skipIf(database === null)("PostgreSQL outages", () => {
  let proxy: TcpProxy;
  let db: Db;
  const lost: Error[] = [];

  beforeAll(async () => {
    proxy = await startTcpProxy(database!.url);
    db = await openDb(proxy.url, { connectTimeoutMs: 1_000, onConnectionLost: (error) => lost.push(error) });
    await db.query("CREATE TABLE kept (id BIGINT)");
  });

  afterAll(async () => {
    await db.close();
    await proxy.close();
    await database!.drop();
  });

  test("calls fail as unavailable while it is away and work again afterwards", async () => {
    await proxy.goAway();
    await expect(db.query("SELECT 1 AS one")).rejects.toBeInstanceOf(StoreUnavailable);
    await expect(db.batch([{ sql: "INSERT INTO kept VALUES (1)" }])).rejects.toBeInstanceOf(StoreUnavailable);
    await expect(db.transaction((tx) => tx.query("SELECT 1 AS one"))).rejects.toBeInstanceOf(StoreUnavailable);
    await expect(db.batchAtOnce([{ sql: "INSERT INTO kept VALUES (1)" }])).rejects.toMatchObject({ isUnsent: true });
    await proxy.comeBack();
    await db.batch([{ sql: "INSERT INTO kept VALUES (2)" }]);
    expect((await db.query("SELECT id FROM kept")).map((row) => row.id)).toEqual([2]);
  });

  test("a connection that breaks inside a transaction undoes it", async () => {
    const work = db.transaction(async (tx) => {
      await tx.query("INSERT INTO kept VALUES (3)");
      await proxy.goAway();
      await tx.query("INSERT INTO kept VALUES (4)");
    });
    await expect(work).rejects.toBeInstanceOf(StoreUnavailable);
    await proxy.comeBack();
    expect((await db.query("SELECT id FROM kept")).map((row) => row.id)).toEqual([2]);
  });

  test("writes that share a connection fail together when it breaks, and the next ones get another", async () => {
    const writes = [4, 5, 6].map((id) =>
      db.batchAtOnce([{ sql: "INSERT INTO kept SELECT $1::bigint FROM pg_sleep(5)", params: [id] }]),
    );
    await expect
      .poll(() =>
        db.query(
          "SELECT 1 AS one FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%pg_sleep(5)%' AND pid <> pg_backend_pid()",
        ),
      )
      .toHaveLength(1);
    proxy.cut();
    for (const write of await Promise.allSettled(writes)) {
      expect(write).toMatchObject({ status: "rejected", reason: expect.any(StoreUnavailable) });
      expect(write).toMatchObject({ reason: { isUnsent: false } });
    }
    await Promise.all([7, 8].map((id) => db.batchAtOnce([{ sql: "INSERT INTO kept VALUES ($1)", params: [id] }])));
    expect((await db.query("SELECT id FROM kept ORDER BY id")).map((row) => row.id)).toEqual([2, 7, 8]);
  });

  test("idle connections that break are reported, not thrown", async () => {
    await Promise.all([db.query("SELECT 1 AS one"), db.query("SELECT 1 AS one")]);
    const before = lost.length;
    proxy.cut();
    await expect.poll(() => lost.length).toBeGreaterThan(before);
    expect((await db.query("SELECT 1 AS one"))[0]!.one).toBe(1);
  });

  test("a lock that the server does not wait for any longer is unavailable, not a mistake in the statement", async () => {
    const url = new URL(database!.url);
    url.searchParams.set("options", "-c lock_timeout=20");
    const impatient = await openDb(url.href);
    const write = { sql: "UPDATE kept SET id = id", expectRows: 1 };
    const writes = await db.transaction(async (tx) => {
      await tx.query("SELECT 1 AS one FROM kept FOR UPDATE");
      return Promise.allSettled([impatient.batchAtOnce([write]), impatient.batch([write])]);
    });
    for (const end of writes) {
      expect(end).toMatchObject({ status: "rejected", reason: expect.any(StoreUnavailable) });
    }
    await impatient.batchAtOnce([write]);
    await impatient.close();
  });

  test("an address where nobody listens is unavailable at once", async () => {
    await expect(openDb("postgres://nobody:x@127.0.0.1:1/none")).rejects.toBeInstanceOf(StoreUnavailable);
  });
});
