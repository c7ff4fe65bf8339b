// Every row of every table of a database, as text: to look for what must not be there.

import { openDb } from "../../../src/store/db.ts";

const SQLITE_TABLES = "SELECT name FROM sqlite_master WHERE type = 'table'";
const POSTGRES_TABLES = "SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema()";

export async function everyRow(database: string): Promise<string> {
  const db = await openDb(database);
  try {
    const tables = (await db.query(db.kind === "sqlite" ? SQLITE_TABLES : POSTGRES_TABLES)).map(({ name }) => name);
    if (!tables.includes("config_versions")) throw new Error(`tables are missing: ${tables.join(", ")}`);
    const rows = [];
    for (const table of tables) rows.push(...(await db.query(`SELECT * FROM "${String(table)}"`)));
    return JSON.stringify(rows, (_, value) => (typeof value === "bigint" ? String(value) : value));
  } finally {
    await db.close();
  }
}
