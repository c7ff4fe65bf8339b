// The few words of SQL that the two stores do not share.

import type { Db } from "../core/ports.ts";

/** The database's own clock, in milliseconds. */
export function clockSql(kind: Db["kind"]): string {
  return kind === "sqlite"
    ? "CAST(unixepoch('subsec') * 1000 AS INTEGER)"
    : "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)";
}

/** Locks the rows that are read until the transaction ends; on SQLite the whole database is locked anyway. */
export function forUpdateSql(kind: Db["kind"]): string {
  return kind === "sqlite" ? "" : " FOR UPDATE";
}

export interface Column {
  readonly name: string;
  readonly type: "TEXT" | "BIGINT";
}

/**
 * `INSERT … SELECT` of rows given as one JSON text ($1), an array of arrays in the order of the columns. One value however
 * many rows: binding each would cost the event loop several times as much. An ON CONFLICT may follow.
 */
export function insertFromJsonSql(kind: Db["kind"], table: string, columns: readonly Column[]): string {
  const head = `INSERT INTO ${table} (${columns.map(({ name }) => name).join(", ")}) SELECT`;
  const values = columns.map(({ type }, index) =>
    kind === "sqlite" ? `CAST(json_extract(value, '$[${index}]') AS ${type})` : `CAST(value ->> ${index} AS ${type})`,
  );
  const source = kind === "sqlite" ? "json_each($1)" : "jsonb_array_elements(CAST($1 AS jsonb)) AS given(value)";
  return `${head} ${values.join(", ")} FROM ${source} WHERE 1 = 1`;
}
