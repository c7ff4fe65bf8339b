// Opens the database that an address names.

import { type Db, sqlitePathOf } from "../core/db.ts";
import { withLogAt } from "./sqlite/part-files.ts";
import { openSqlite } from "./sqlite/sqlite.ts";

/** Options with defaults for commands; the serving process sets its own. */
export interface OpenOptions {
  /** Fail with `StoreInUse` if another process serves from the same SQLite file. */
  readonly exclusive?: boolean;
  /** Open a SQLite file that lost commits, and accept its content from now on. */
  readonly acceptsLoss?: boolean;
  /** Write nothing to a SQLite file or beside it. */
  readonly isReadOnly?: boolean;
  /** Called with the number of commits of a SQLite file that has no witness. */
  readonly onAdopted?: (commits: number) => void;
  /** Time that SQLite waits for another process's write. */
  readonly busyTimeoutMs?: number;
  /** PostgreSQL connections of this process. */
  readonly poolMax?: number;
  /** Time that one PostgreSQL statement, and getting a connection, may take. */
  readonly queryTimeoutMs?: number;
  readonly connectTimeoutMs?: number;
  /** Called when an idle connection breaks; the pool replaces it. */
  readonly onConnectionLost?: (error: Error) => void;
}

/** `sqlite:/absolute/path`, `sqlite::memory:` or `postgres://…`. */
export async function openDb(url: string, options: OpenOptions = {}): Promise<Db> {
  const path = sqlitePathOf(url);
  if (path !== null) {
    return openSqlite(path, {
      exclusive: options.exclusive ?? false,
      busyTimeoutMs: options.busyTimeoutMs ?? 5_000,
      acceptsLoss: options.acceptsLoss ?? false,
      isReadOnly: options.isReadOnly ?? false,
      onAdopted: options.onAdopted ?? (() => undefined),
    });
  }
  if (/^postgres(ql)?:\/\//.test(url)) {
    // Loaded only if configured: the client takes a tenth of a second at every start.
    const { openPostgres } = await import("./postgres/postgres.ts");
    return openPostgres(url, {
      poolMax: options.poolMax ?? 10,
      queryTimeoutMs: options.queryTimeoutMs ?? 30_000,
      connectTimeoutMs: options.connectTimeoutMs ?? 5_000,
      onConnectionLost: options.onConnectionLost ?? (() => undefined),
    });
  }
  throw new Error("A database address starts with sqlite: or postgres://.");
}

/** Path of a SQLite file. Null for a database in memory or on a server, which contains all its parts. */
export function fileOf(url: string): string | null {
  const path = sqlitePathOf(url);
  return path === ":memory:" ? null : path;
}

/** Runs `work` with the request log of a database that is open and migrated. */
export function withLog<T>(url: string, db: Db, work: (log: Db) => Promise<T>): Promise<T> {
  const path = fileOf(url);
  return path === null ? work(db) : withLogAt(path, db, work);
}
