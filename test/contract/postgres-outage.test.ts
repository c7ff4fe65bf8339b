// PostgreSQL going away must cost answers, never the process, and coming back must need no restart.

import { connect, createServer, type Server, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Db } from "../../src/core/ports.ts";
import { StoreUnavailable } from "../../src/core/store-errors.ts";
import { openDb } from "../../src/store/db.ts";
import { createTestDatabase } from "../support/postgres.ts";

const database = await createTestDatabase();

describe.skipIf(database === null)("PostgreSQL outages", () => {
  const sockets = new Set<Socket>();
  let isDown = false;
  let proxy: Server;
  let db: Db;
  const lost: Error[] = [];

  beforeAll(async () => {
    const target = new URL(database!.url);
    proxy = createServer((client) => {
      if (isDown) return void client.destroy();
      const server = connect(Number(target.port), target.hostname);
      for (const [from, to] of [
        [client, server],
        [server, client],
      ] as const) {
        sockets.add(from);
        from.pipe(to);
        from.on("error", () => to.destroy());
        from.on("close", () => to.destroy());
      }
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    const url = new URL(database!.url);
    url.port = String((proxy.address() as { port: number }).port);
    db = await openDb(url.href, { connectTimeoutMs: 1_000, onConnectionLost: (error) => lost.push(error) });
    await db.query("CREATE TABLE kept (id BIGINT)");
  });

  afterAll(async () => {
    await db.close();
    proxy.close();
    await database!.drop();
  });

  const cut = () => {
    isDown = true;
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };

  test("calls fail as unavailable while it is away and work again afterwards", async () => {
    cut();
    await expect(db.query("SELECT 1 AS one")).rejects.toBeInstanceOf(StoreUnavailable);
    await expect(db.batch([{ sql: "INSERT INTO kept VALUES (1)" }])).rejects.toBeInstanceOf(StoreUnavailable);
    await expect(db.transaction((tx) => tx.query("SELECT 1 AS one"))).rejects.toBeInstanceOf(StoreUnavailable);
    isDown = false;
    await db.batch([{ sql: "INSERT INTO kept VALUES (2)" }]);
    expect((await db.query("SELECT id FROM kept")).map((row) => row.id)).toEqual([2]);
  });

  test("a connection that breaks inside a transaction undoes it", async () => {
    const work = db.transaction(async (tx) => {
      await tx.query("INSERT INTO kept VALUES (3)");
      cut();
      await tx.query("INSERT INTO kept VALUES (4)");
    });
    await expect(work).rejects.toBeInstanceOf(StoreUnavailable);
    isDown = false;
    expect((await db.query("SELECT id FROM kept")).map((row) => row.id)).toEqual([2]);
  });

  test("idle connections that break are reported, not thrown", async () => {
    await Promise.all([db.query("SELECT 1 AS one"), db.query("SELECT 1 AS one")]);
    const before = lost.length;
    cut();
    isDown = false;
    await expect.poll(() => lost.length).toBeGreaterThan(before);
    expect((await db.query("SELECT 1 AS one"))[0]!.one).toBe(1);
  });

  test("an address where nobody listens is unavailable at once", async () => {
    await expect(openDb("postgres://nobody:x@127.0.0.1:1/none")).rejects.toBeInstanceOf(StoreUnavailable);
  });
});
