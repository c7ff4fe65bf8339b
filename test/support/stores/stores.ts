// The stores that a contract suite runs on: SQLite in memory and in a file, and PostgreSQL.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe } from "vitest";
import { sqlitePathOf } from "../../../src/core/db.ts";
import { partPathOf } from "../../../src/store/sqlite/part-files.ts";
import { createTestDatabase } from "./postgres.ts";

export interface StoreUnderTest {
  readonly url: string;
  /** Whether a second handle opened on the same address sees the same data. */
  readonly isShared: boolean;
}

/** The file of stored contents beside a SQLite database. */
export function contentsUrlOf(database: string): string {
  return `sqlite:${partPathOf(sqlitePathOf(database) as string, "contents")}`;
}

/** Runs the suite once for each store. Each run has an empty database of its own. */
export async function describeStores(name: string, suite: (store: StoreUnderTest) => void): Promise<void> {
  const database = await createTestDatabase();
  const folder = mkdtempSync(join(tmpdir(), "switchyard-store-"));
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true });
    await database?.drop();
  });
  describe(`${name} on SQLite in memory`, () => suite({ url: "sqlite::memory:", isShared: false }));
  describe(`${name} on a SQLite file`, () => suite({ url: `sqlite:${join(folder, "test.db")}`, isShared: true }));
  describe.skipIf(database === null)(`${name} on PostgreSQL`, () =>
    suite({ url: database?.url ?? "postgres://none", isShared: true }),
  );
}
