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
