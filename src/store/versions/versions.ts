// Versions of the run-time configuration in the database, which are only added.

import type { Db, SqlRow } from "../../core/db.ts";
import type { ConfigVersion, Overlay, VersionStore } from "../../core/overlay.ts";
import { UniqueViolation } from "../../core/store-errors.ts";

export function createVersionStore(db: Db): VersionStore {
  return {
    async newest() {
      const [row] = await db.query("SELECT MAX(number) AS number FROM config_versions");
      return Number(row?.number ?? 0);
    },
    async find(number) {
      const [row] = await db.query(`SELECT ${COLUMNS} FROM config_versions WHERE number = $1`, [number]);
      return row === undefined ? null : toVersion(row);
    },
    list: async ({ limit, before }) => (await db.query(LIST, [before, limit])).map(toVersion),
    async insert({ number, author, atMs, note, document }) {
      try {
        await db.query(INSERT, [number, author, atMs, note, JSON.stringify(document)]);
        return true;
      } catch (error) {
        if (error instanceof UniqueViolation) return false;
        throw error;
      }
    },
  };
}

const COLUMNS = "number, author, created_at, note, document_json";

const LIST = `SELECT ${COLUMNS} FROM config_versions WHERE number < $1 ORDER BY number DESC LIMIT $2`;

const INSERT = `INSERT INTO config_versions (${COLUMNS}) VALUES ($1, $2, $3, $4, $5)`;

function toVersion(row: SqlRow): ConfigVersion {
  return {
    number: Number(row.number),
    author: String(row.author),
    atMs: Number(row.created_at),
    note: String(row.note),
    document: JSON.parse(String(row.document_json)) as Overlay,
  };
}
