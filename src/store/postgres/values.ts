// What a PostgreSQL server says, in the words of the Db port: its values as SQLite would give them, its errors by what
// they mean for the caller.

import pg from "pg";
import type { SqlValue } from "../../core/db.ts";
import { StoreUnavailable, UniqueViolation } from "../../core/store-errors.ts";

/** Classes: connection (08P01 is a mistake of ours), resources (also disk full), operator intervention, system error, authorisation; and read-only. */
const UNAVAILABLE_STATES = /^(08(?!P01)|53|57|58|28|3D|25006)/;

export function toError(error: unknown, statementIndex: number): unknown {
  if (error instanceof pg.DatabaseError) {
    const state = error.code ?? "";
    if (state === "23505") return new UniqueViolation(statementIndex, error);
    return UNAVAILABLE_STATES.test(state) ? new StoreUnavailable(error) : error;
  }
  // Whatever else fails in the driver is the connection, save for our own mistakes.
  return error instanceof TypeError || error instanceof RangeError ? error : new StoreUnavailable(error);
}

const BOOL = 16;
const INTEGERS = new Set([20, 21, 23]);
/** What SUM over BIGINT gives. */
const NUMERIC = 1700;
const FLOATS = new Set([700, 701]);

/** Only what SQLite knows too: text, integers (the rule is at SqlValue) and floating point. */
export function getTypeParser(oid: number): (text: string) => SqlValue {
  if (INTEGERS.has(oid) || oid === NUMERIC) return readNumber;
  if (FLOATS.has(oid)) return Number;
  if (oid === BOOL) return (text) => (text === "t" ? 1 : 0);
  return (text) => text;
}

function readNumber(text: string): SqlValue {
  if (!/^-?\d+$/.test(text)) return Number(text);
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : BigInt(text);
}
