// Several writes as one PostgreSQL statement, which is a transaction by itself. It takes one round trip, and no row stays
// locked while messages travel. A write of too few rows makes the whole statement fail.

import type { SqlValue, Statement } from "../../core/db.ts";
import { BatchRejected } from "../../core/store-errors.ts";

/** One statement for the server. */
export interface AtOnce {
  /** Equal for equal statements, so that the server prepares them once. */
  readonly name: string;
  readonly text: string;
  readonly values: SqlValue[];
}

/** Remembers combined texts, so that each is made and prepared once. */
export function createAtOnce(): (statements: readonly Statement[]) => AtOnce {
  const texts = new Map<string, Combined>();
  let textCount = 0;
  const textFor = (statements: readonly Statement[]): Combined => {
    const key = statements.map(({ sql, expectRows = 0 }) => `${sql};${expectRows > 0}`).join();
    const known = texts.get(key);
    if (known !== undefined) return known;
    textCount += 1;
    const made = { name: `switchyard_at_once_${textCount}`, text: combine(statements) };
    if (texts.size >= TEXTS_MAX) texts.clear();
    texts.set(key, made);
    return made;
  };
  /** Combines statements. None may read what another one writes. */
  return (statements) => {
    const values: SqlValue[] = [];
    for (const { params = [] } of statements) values.push(...params);
    for (const { expectRows = 0 } of statements) if (expectRows > 0) values.push(expectRows);
    return { ...textFor(statements), values };
  };
}

type Combined = Pick<AtOnce, "name" | "text">;

/** Remembered texts. Batches mix statements in few ways, and this bounds the memory if they do not. */
const TEXTS_MAX = 200;

/** Reads from the failure of such a statement that it affected too few rows; null for any other failure. */
export function rejectionOf(
  error: { readonly message: string },
  statements: readonly Statement[],
): BatchRejected | null {
  const match = REJECTED.exec(error.message);
  if (match === null) return null;
  const statementIndex = Number(match[1]);
  const expectedRows = statements[statementIndex]?.expectRows ?? 0;
  return new BatchRejected({ statementIndex, expectedRows, affectedRows: Number(match[2]) });
}

/** Matches the failure of the statement below: the part, and the number of affected rows. */
const REJECTED = /rejected (\d+) (\d+)/;

/** Makes each write a CTE, and counts the rows of those that must affect some. */
function combine(statements: readonly Statement[]): string {
  let place = 0;
  const counted = statements.flatMap(({ expectRows = 0 }, index) => (expectRows > 0 ? [index] : []));
  const parts = statements.map(({ sql, params = [] }, index) => {
    const first = place;
    place += params.length;
    const own = sql.replace(/\$(\d+)/g, (_, number) => `$${first + Number(number)}`);
    return `s${index} AS (${own}${counted.includes(index) ? " RETURNING 1" : ""})`;
  });
  const counts = counted.map((index) => `(SELECT COUNT(*) FROM s${index}) AS c${index}`);
  // PostgreSQL has no function that fails. Casting text to a number does, and the text names the statement.
  const checks = counted.map(
    (index, own) =>
      `WHEN c${index} < CAST($${place + own + 1} AS BIGINT) THEN CAST('rejected ${index} ' || c${index} AS BIGINT)`,
  );
  const all = `WITH ${parts.join(", ")}`;
  if (counted.length === 0) return `${all} SELECT 0 AS rejected`;
  return `${all} SELECT CASE ${checks.join(" ")} ELSE 0 END AS rejected FROM (SELECT ${counts.join(", ")}) AS counts`;
}
