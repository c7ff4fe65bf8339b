// Interactive transactions: commit, rollback and failed statements, the same on both databases.

import type { Queryable, SqlValue } from "../core/db.ts";

/** One open transaction of a database. */
export interface TransactionSession extends Queryable {
  commit(): Promise<unknown>;
  rollback(): Promise<unknown>;
}

/**
 * Commits when `work` resolves. A failed statement undoes the transaction even if `work` caught the error, on SQLite as
 * on PostgreSQL.
 */
export async function runTransaction<T>(session: TransactionSession, work: (tx: Queryable) => Promise<T>): Promise<T> {
  let failure: { readonly error: unknown } | null = null;
  const tx: Queryable = {
    query: async (sql: string, params: readonly SqlValue[] = []) => {
      if (failure !== null) throw failure.error;
      try {
        return await session.query(sql, params);
      } catch (error) {
        failure = { error };
        throw error;
      }
    },
  };
  let result: T;
  try {
    result = await work(tx);
    const spoiled = failure as { readonly error: unknown } | null;
    if (spoiled !== null) throw spoiled.error;
  } catch (error) {
    // The first error is thrown. The owner drops a connection that cannot roll back.
    await session.rollback().catch(() => undefined);
    throw error;
  }
  await session.commit();
  return result;
}
