// Readiness follows what requests see: not ready before everything a first start makes is there, and not ready while the
// database answers reads but takes no writes. It is ready again by itself. SQLite is in outage.test.ts and disk.test.ts.

import pg from "pg";
import { afterAll, describe, expect, test } from "vitest";
import { openDb } from "../../../src/store/db.ts";
import { HELLO, startGateway } from "../../support/gateway/gateway.ts";
import { freePort } from "../../support/network/ports.ts";
import { createTestDatabase, type TestDatabase } from "../../support/stores/postgres.ts";

const server = await createTestDatabase();
await server?.drop();

/** The status of a path; 0 while nobody answers. */
function statusOf(url: string): Promise<number> {
  return fetch(url).then(
    ({ status }) => status,
    () => 0,
  );
}

describe.skipIf(server === null)("PostgreSQL", () => {
  const databases: TestDatabase[] = [];
  afterAll(async () => {
    for (const database of databases) await database.drop();
  });

  async function newDatabase(): Promise<{ readonly url: string; readonly other: pg.Client }> {
    const database = (await createTestDatabase()) as TestDatabase;
    databases.push(database);
    const other = new pg.Client({ connectionString: database.url });
    await other.connect();
    return { url: database.url, other };
  }

  test.each([
    ["accounts", 0],
    ["api_keys", 503],
  ])("a first start that waits for %s is not ready", async (table, status) => {
    const { url, other } = await newDatabase();
    const db = await openDb(url);
    await db.migrate();
    await db.close();
    await other.query(`BEGIN; LOCK TABLE ${table} IN SHARE ROW EXCLUSIVE MODE`);
    const port = await freePort();
    const base = `http://127.0.0.1:${port}`;
    const starting = startGateway({ database: url, creditsUsd: null, env: { PORT: String(port) } });
    const waits = "SELECT count(*) AS count FROM pg_locks WHERE NOT granted AND relation = $1::regclass";
    const isWaiting = async (): Promise<boolean> => (await other.query(waits, [table])).rows[0].count !== "0";
    await expect.poll(isWaiting, { timeout: 300_000 }).toBe(true);
    expect(await statusOf(`${base}/readyz`)).toBe(status);
    await other.query("COMMIT");
    const gateway = await starting;
    expect(await statusOf(`${base}/readyz`)).toBe(200);
    expect((await gateway.api("GET", "/api/credits")).status).toBe(200);
    await gateway.stop();
    await other.end();
  });

  test("a read-only database answers, but nothing can be charged", async () => {
    const { url, other } = await newDatabase();
    const gateway = await startGateway({ database: url });
    const name = new URL(url).pathname.slice(1);
    const cutOff =
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1 AND pid <> pg_backend_pid()";
    const readiness = async (): Promise<string> => (await gateway.get("/readyz?verbose")).text();
    const ask = async (): Promise<number> => (await gateway.post("/v1/chat/completions", HELLO)).status;
    expect(await ask()).toBe(200);
    await other.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
    await other.query(cutOff, [name]);
    await expect.poll(ask, { timeout: 300_000 }).toBe(503);
    expect(await readiness()).toContain("[-]database failed: the database takes no writes");
    expect((await gateway.get("/readyz")).status).toBe(503);
    await other.query(`ALTER DATABASE ${name} RESET default_transaction_read_only`);
    await expect.poll(readiness, { timeout: 300_000 }).toContain("readyz check passed");
    expect(await ask()).toBe(200);
    expect(gateway.logged.filter(({ fields }) => fields.event === "database.writes_failed").length).toBeGreaterThan(0);
    await gateway.stop();
    await other.end();
  });
});
