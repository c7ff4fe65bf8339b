// Calls as messages to the thread that owns a SQLite connection, which reads them with thread-messages.mjs. A message is a
// list with one more list in it: to another thread, an object costs more than what it holds.

import type { SqlValue, Statement } from "../../core/db.ts";

/** A call of the thread. */
export interface ThreadCall {
  readonly kind: "batch" | "begin" | "step" | "commit" | "rollback" | "problems" | "close";
  readonly isWrite?: boolean;
  readonly isBackground?: boolean;
  readonly transaction?: string;
  readonly statements?: readonly Statement[];
}

/** Statements one after the other; or, of another process, encoded. */
type SentStatements = readonly (SqlValue | Uint8Array)[] | Uint8Array;

/** The order is that of `callOf` in thread-messages.mjs. */
export function messageOf(
  id: number,
  call: Omit<ThreadCall, "statements">,
  statements: SentStatements,
): readonly unknown[] {
  const { kind, isWrite = false, isBackground = false, transaction = null } = call;
  return [id, kind, isWrite, isBackground, transaction, statements];
}

/** How the values of a statement are given, as thread-messages.mjs has it too. */
const [PARAMS, ROWS, PACKED] = [0, 1, 2];

/** Of each: its text, the rows it must affect, how its values are given, how many rows, and the values of each. */
export function listOf(statements: readonly Statement[] = []): readonly (SqlValue | Uint8Array)[] {
  const list: (SqlValue | Uint8Array)[] = [];
  const pushAll = (values: readonly (SqlValue | Uint8Array)[]): void => {
    list.push(values.length);
    for (const value of values) list.push(value);
  };
  for (const { sql, params = [], rows, packed, expectRows = 0 } of statements) {
    list.push(sql, expectRows);
    if (rows !== undefined) {
      list.push(ROWS, rows.length);
      for (const row of rows) pushAll(row);
    } else if (packed !== undefined) {
      list.push(PACKED, packed.count);
      pushAll(packed.values);
    } else {
      list.push(PARAMS, 1);
      pushAll(params);
    }
  }
  return list;
}
