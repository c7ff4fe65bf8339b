// A PostgreSQL database of one's own for a test file.

import { randomBytes } from "node:crypto";
import pg from "pg";
import { inject } from "vitest";
import type { PostgresOffer } from "./global-postgres.ts";

export interface TestDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

/** Null when no server can be had here; the reason was printed. */
export async function createTestDatabase(): Promise<TestDatabase | null> {
  const offer = (await (await fetch(inject("postgresBroker"))).json()) as PostgresOffer;
  if (!("url" in offer)) return null;
  const name = `test_${randomBytes(6).toString("hex")}`;
  await administer(offer.url, `CREATE DATABASE ${name}`);
  const url = new URL(offer.url);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => administer(offer.url, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}

async function administer(serverUrl: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
