// Statements on one SQLite connection: prepared once, bound by position, with integers kept exact. Used by worker.mjs,
// and plain JavaScript for the same reason.

const STATEMENTS_MAX = 500;
const SAFE_MAX = BigInt(Number.MAX_SAFE_INTEGER);

/** Runs a batch and answers with the rows of each statement. An error names the statement it came from. */
export function createStatements(db) {
  const prepared = new Map();

  function prepare(sql) {
    const known = prepared.get(sql);
    if (known !== undefined) return known;
    // Bound by place: SQLite looks a name such as $17 up by comparing all, which for long inserts is most of their cost.
    const order = [...sql.matchAll(/\$(\d+)/g)].map((match) => Number(match[1]) - 1);
    const text = sql.replace(/\$\d+/g, "?");
    const statement = db.prepare(text);
    statement.setReadBigInts(true);
    const placeholders = Math.max(-1, ...order) + 1;
    const isInOrder = order.every((index, place) => index === place);
    const returnsRows = statement.columns().length > 0;
    const entry = { statement, returnsRows, placeholders, order, isInOrder, ...severalOf(text, placeholders) };
    if (prepared.size >= STATEMENTS_MAX) prepared.clear();
    prepared.set(sql, entry);
    return entry;
  }

  /** The same INSERT with several rows; null where that would not help. */
  function severalOf(text, placeholders) {
    const [, row] = VALUES.exec(text) ?? [];
    if (row === undefined || placeholders > COLUMNS_MAX) return { several: null };
    const rows = Array(ROWS_AT_ONCE).fill(row).join(", ");
    return { several: undefined, prepareSeveral: () => db.prepare(text.replace(VALUES, () => `VALUES ${rows}`)) };
  }

  return (batch) =>
    batch.map((statement, statementIndex) => {
      let result;
      try {
        const entry = prepare(statement.sql);
        result = statement.rows === undefined ? run(entry, statement) : runEach(entry, statement);
      } catch (error) {
        throw Object.assign(error, { statementIndex });
      }
      const expectedRows = statement.expectRows ?? 0;
      if (result.affectedRows < expectedRows) {
        const rejection = { statementIndex, expectedRows, affectedRows: result.affectedRows };
        throw Object.assign(new Error("rejected"), { statementIndex, rejection });
      }
      return result.rows;
    });
}

/** Rows of one INSERT: most of what a short row costs is the call itself. Measured: wide ones cost more together. */
const ROWS_AT_ONCE = 16;
const COLUMNS_MAX = 4;
/** The values of an INSERT of one row, at its end. */
const VALUES = /VALUES (\(.*\))\s*$/s;

/** Whole numbers need no conversion here: each goes into a column as it is, and the column makes it whole again. */
function runEach(entry, { sql, rows }) {
  const { statement, placeholders, order, isInOrder } = entry;
  for (const row of rows) checkCount(row, placeholders, sql);
  const bound = isInOrder ? rows : rows.map((row) => order.map((index) => row[index]));
  let affectedRows = 0;
  let next = 0;
  if (rows.length >= ROWS_AT_ONCE && entry.several !== null) {
    entry.several ??= entry.prepareSeveral();
    for (; next + ROWS_AT_ONCE <= rows.length; next += ROWS_AT_ONCE) {
      const values = bound.slice(next, next + ROWS_AT_ONCE).flat();
      affectedRows += Number(entry.several.run(...values).changes);
    }
  }
  for (; next < rows.length; next += 1) affectedRows += Number(statement.run(...bound[next]).changes);
  return { rows: [], affectedRows };
}

function run({ statement, returnsRows, placeholders, order }, { sql, params = [] }) {
  checkCount(params, placeholders, sql);
  const bound = order.map((index) => toSql(params[index]));
  if (!returnsRows) return { rows: [], affectedRows: Number(statement.run(...bound).changes) };
  const rows = statement.all(...bound);
  for (const row of rows) {
    for (const name in row) row[name] = fromSql(row[name]);
  }
  return { rows, affectedRows: rows.length };
}

function checkCount(params, placeholders, sql) {
  if (params.length === placeholders) return;
  throw new Error(`The statement has ${placeholders} placeholders and got ${params.length} values: ${sql}`);
}

/** A plain number would be bound as floating point, and `balance + $1` would lose digits beyond 2^53. */
function toSql(value) {
  return Number.isInteger(value) ? BigInt(value) : value;
}

function fromSql(value) {
  return typeof value === "bigint" && value <= SAFE_MAX && value >= -SAFE_MAX ? Number(value) : value;
}
